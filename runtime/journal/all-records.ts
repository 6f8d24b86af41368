import type { Store, StoredRecord } from '../protocol/store.ts';

const PAGE = 1_000;

/** Every record of one kind, in the order of the keys and page by page; after the key `after`, if that is given. */
export async function* allRecords(
  store: Pick<Store, 'records'>,
  kind: string,
  after?: string,
): AsyncGenerator<StoredRecord> {
  for (let last = after; ; ) {
    const page = await store.records(kind, { ...(last !== undefined && { after: last }), limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    last = page.at(-1)?.key;
  }
}
