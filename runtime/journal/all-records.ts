import type { RecordChange, Store, StoredRecord } from '../protocol/store.ts';

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

/**
 * The records of one kind whose keys begin with `prefix`, by key; in the order of the keys. `unwritten`: changes that the store
 * does not have yet, oldest first, which the answer has.
 */
export async function recordsUnder(
  store: Pick<Store, 'records'>,
  { kind, prefix }: { readonly kind: string; readonly prefix: string },
  unwritten: readonly RecordChange[] = [],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for await (const { key, value } of allRecords(store, kind, prefix)) {
    if (!key.startsWith(prefix)) break;
    found.set(key, value);
  }
  const ours = unwritten.filter((change) => change.kind === kind && change.key.startsWith(prefix));
  if (ours.length === 0) return found;
  for (const { key, value } of ours) {
    if (value === undefined) found.delete(key);
    else found.set(key, value);
  }
  return new Map([...found].sort(([one], [other]) => byCharacters(one, other)));
}

/** The order of keys, as SQLite has them: by code point; behind these those that UTF-8 cannot say. */
export function byCharacters(one: string, other: string): number {
  const [isWhole, isOtherWhole] = [one.isWellFormed(), other.isWellFormed()];
  if (isWhole !== isOtherWhole) return isWhole ? -1 : 1;
  const encoding = isWhole ? 'utf8' : 'utf16le';
  return Buffer.compare(Buffer.from(one, encoding), Buffer.from(other, encoding));
}
