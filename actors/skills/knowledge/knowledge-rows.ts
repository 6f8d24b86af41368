import type { Selectable } from 'kysely';
import { OrreryError } from '../../../runtime/protocol/errors.ts';
import type { KnowledgeTable } from '../store/knowledge-tables.ts';
import type { TenantQueries } from '../store/skill-store.ts';
import { itemOf, type KnowledgeItem, rowOf } from './knowledge-item.ts';

/** How many items a tenant may have. */
const MOST_ITEMS = 100_000;

/**
 * Changes the knowledge of a tenant within a transaction that writes. Begun, it keeps all other changes waiting: what it reads is
 * what it changes. Each item that it changes has a revision of its own, so that readers can take what is new a page at a time.
 */
export class KnowledgeRows {
  readonly #queries: TenantQueries;
  #revision: number;

  private constructor(queries: TenantQueries, revision: number) {
    this.#queries = queries;
    this.#revision = revision;
  }

  /** `most` is how many items are changed at most. */
  static async change(queries: TenantQueries, most: number): Promise<KnowledgeRows> {
    const { revision } = await queries
      .insertInto('knowledge_revisions')
      .values({ revision: most, items: 0 })
      .onConflict((conflict) =>
        conflict
          .columns(['tenant' as never])
          .doUpdateSet((eb) => ({ revision: eb('knowledge_revisions.revision', '+', most) })),
      )
      .returning('revision')
      .executeTakeFirstOrThrow();
    return new KnowledgeRows(queries, revision - most);
  }

  find(id: string): Promise<KnowledgeItem | undefined> {
    return findItem(this.#queries, id);
  }

  async findAll(ids: readonly string[]): Promise<ReadonlyMap<string, KnowledgeItem>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#queries.selectFrom('knowledge').selectAll().where('id', 'in', ids).execute();
    return new Map(rows.map((row) => [row.id, itemOf(row)]));
  }

  /** Throws QUOTA_EXCEEDED. */
  async insert(items: readonly KnowledgeItem[]): Promise<void> {
    if (items.length === 0) return;
    await this.#count(items.length);
    const ids = items.map(({ id }) => id);
    await this.#queries.deleteFrom('removed_knowledge').where('id', 'in', ids).execute();
    await this.#queries
      .insertInto('knowledge')
      .values(items.map((item) => rowOf(item, this.#next())))
      .execute();
  }

  /** Puts `item` in the place of what was there, which is kept as a former version. */
  async replace(was: KnowledgeItem, item: KnowledgeItem): Promise<void> {
    const { id, ...row } = rowOf({ ...item, version: was.version + 1 }, this.#next());
    await this.#queries
      .insertInto('knowledge_versions')
      .values({
        id,
        version: was.version,
        status: was.status,
        title: was.title,
        content: was.content,
        author: was.author ?? null,
        taint: was.taint === undefined ? null : JSON.stringify(was.taint),
        commit_hash: was.origin?.commit ?? null,
        updated_at: was.updatedAtMs,
      })
      .execute();
    await this.#queries.updateTable('knowledge').set(row).where('id', '=', id).execute();
  }

  /** Removes items with all that is known of them. */
  async remove(ids: readonly string[]): Promise<void> {
    if (ids.length === 0) return;
    await this.#queries.deleteFrom('knowledge').where('id', 'in', ids).execute();
    await this.#queries.deleteFrom('knowledge_versions').where('id', 'in', ids).execute();
    await this.#queries
      .insertInto('removed_knowledge')
      .values(ids.map((id) => ({ id, revision: this.#next() })))
      .execute();
    await this.#count(-ids.length);
  }

  #next(): number {
    this.#revision += 1;
    return this.#revision;
  }

  async #count(more: number): Promise<void> {
    const { items } = await this.#queries
      .updateTable('knowledge_revisions')
      .set((eb) => ({ items: eb('items', '+', more) }))
      .returning('items')
      .executeTakeFirstOrThrow();
    if (more > 0 && items > MOST_ITEMS)
      throw new OrreryError('QUOTA_EXCEEDED', `No more than ${MOST_ITEMS} items of knowledge of a tenant`, {
        details: { what: 'items of knowledge', limit: MOST_ITEMS },
      });
  }
}

/** The item of this id. */
export async function findItem(queries: TenantQueries, id: string): Promise<KnowledgeItem | undefined> {
  const row: Selectable<KnowledgeTable> | undefined = await queries
    .selectFrom('knowledge')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirst();
  return row === undefined ? undefined : itemOf(row);
}
