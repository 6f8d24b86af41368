import { createHash } from 'node:crypto';
import type { Selectable } from 'kysely';
import { OrreryError, refused } from '../../../runtime/protocol/errors.ts';
import type { SkillCaller } from '../skill-caller.ts';
import { StoredName } from '../skill-text.ts';
import type { TenantQueries } from '../store/skill-store.ts';
import type { MemoryTable } from '../store/memory-tables.ts';
import type { Memory } from './memory-capabilities.ts';
import { isShared, type MemoryLayer, MEMORY_LAYERS, rankOf } from './memory-layer.ts';
import { memoryOf, tagsOf } from './memory-rows.ts';
import { maySee, type Ownership } from './ownership.ts';

type Row = Selectable<MemoryTable>;

/** About how many characters a page has at most, beside its first entry. */
const PAGE_CHARS = 500_000;
/** How many rows are read at a time to fill a page. */
const ROWS = 500;
const SHARED = MEMORY_LAYERS.map(rankOf).filter(isShared);

export const hashOf = (content: string): string => createHash('sha256').update(content).digest('base64url');

/** The id of the memory with this text in this place; undefined if there is none. */
export async function sameText(
  queries: TenantQueries,
  { layer, owner, scope }: Ownership,
  content: string,
): Promise<string | undefined> {
  const row = await queries
    .selectFrom('memories')
    .select('id')
    .where('hash', '=', hashOf(content))
    .where('layer', '=', layer)
    .where('owner', '=', owner)
    .where('scope', '=', scope)
    .executeTakeFirst();
  return row?.id;
}

/** A memory that the caller may see. One of somebody else is told to be not there, as one that is not. */
export async function rowToldAlike(queries: TenantQueries, caller: SkillCaller, id: string): Promise<Row> {
  const row = isStorable(id)
    ? await queries.selectFrom('memories').selectAll().where('id', '=', id).executeTakeFirst()
    : undefined;
  if (row === undefined || !maySee(caller, row))
    throw refused(`There is no memory "${id}"`, { memory_id: id });
  return row;
}

export const removedRow = async (queries: TenantQueries, id: string): Promise<Ownership | undefined> =>
  isStorable(id)
    ? queries
        .selectFrom('removed_memories')
        .select(['layer', 'owner', 'scope'])
        .where('id', '=', id)
        .executeTakeFirst()
    : undefined;

/** Some databases fail when they are asked for what they could not keep. */
const isStorable = (id: string): boolean => StoredName.safeParse(id).success;

/**
 * Waits until no other change of what the tenant remembers is under way. What is read from here on is so until this change is done: a
 * database that is shared may let others write between what a change reads and what it writes.
 */
export async function takeTurn(queries: TenantQueries): Promise<void> {
  await queries
    .insertInto('tenants')
    .values({ revision: 0, memories: 0 })
    .onConflict((conflict) =>
      conflict.columns(['tenant' as never]).doUpdateSet((eb) => ({ revision: eb.ref('tenants.revision') })),
    )
    .execute();
}

/**
 * Counts a change of what the tenant remembers, by so many memories; returns the revision that it makes. Throws QUOTA_EXCEEDED for
 * more memories than it may have.
 */
export async function changeCount(queries: TenantQueries, added: -1 | 0 | 1, most: number): Promise<number> {
  const { revision, memories } = await queries
    .insertInto('tenants')
    .values({ revision: 1, memories: Math.max(0, added) })
    .onConflict((conflict) =>
      conflict.columns(['tenant' as never]).doUpdateSet((eb) => ({
        revision: eb('tenants.revision', '+', 1),
        memories: eb('tenants.memories', '+', added),
      })),
    )
    .returning(['revision', 'memories'])
    .executeTakeFirstOrThrow();
  if (added > 0 && memories > most)
    throw new OrreryError('QUOTA_EXCEEDED', `No more than ${most} memories of a tenant are kept`, {
      details: { what: 'memories', limit: most },
    });
  return revision;
}

/** Keeps what a memory says before that is changed; its vector is that of a text that is no more. */
export async function keepVersion(queries: TenantQueries, row: Row): Promise<void> {
  const { id, version, content, author, updated_at: written_at } = row;
  await queries.insertInto('memory_versions').values({ id, version, content, author, written_at }).execute();
  await queries.deleteFrom('memory_vectors').where('id', '=', id).execute();
}

/** Removes everything of a memory, and notes that for readers that still know it. */
export async function removeRow(
  queries: TenantQueries,
  { id, layer, owner, scope }: Ownership & Pick<Row, 'id'>,
  revision: number,
): Promise<void> {
  for (const table of ['memories', 'memory_versions', 'memory_vectors'] as const)
    await queries.deleteFrom(table).where('id', '=', id).execute();
  await queries.insertInto('removed_memories').values({ id, layer, owner, scope, revision }).execute();
}

export interface FormerText {
  readonly version: number;
  readonly content: string;
  readonly author: string;
  readonly writtenAt: number;
}

/** What memories said before, the oldest first, by their ids. */
export async function historiesOf(
  queries: TenantQueries,
  ids: readonly string[],
): Promise<ReadonlyMap<string, FormerText[]>> {
  if (ids.length === 0) return new Map();
  const rows = await queries
    .selectFrom('memory_versions')
    .selectAll()
    .where('id', 'in', ids)
    .orderBy('version')
    .execute();
  const byId = Map.groupBy(rows, ({ id }) => id);
  return new Map(
    [...byId].map(([id, versions]) => [
      id,
      versions.map(({ version, content, author, written_at }) => ({
        version,
        content,
        author,
        writtenAt: written_at,
      })),
    ]),
  );
}

export interface PageQuery {
  readonly layers?: readonly MemoryLayer[] | undefined;
  readonly scope?: string | undefined;
  readonly subject?: string | undefined;
  readonly tags?: readonly string[] | undefined;
  readonly after?: string | undefined;
  readonly limit: number;
}

/** A page of the memories that a caller may see, the oldest first. `next` is where the next page begins; absent at the end. */
export async function pageOf(
  queries: TenantQueries,
  caller: SkillCaller,
  { layers = MEMORY_LAYERS, scope, subject, tags = [], after, limit }: PageQuery,
): Promise<{ readonly memories: Memory[]; readonly next: string | undefined }> {
  const memories: Memory[] = [];
  let chars = 0;
  for (let cursor = after === undefined ? START : cursorIn(after); ; ) {
    let query = queries
      .selectFrom('memories')
      .selectAll()
      .where('layer', 'in', layers.map(rankOf))
      .where((eb) => eb.or([eb('layer', 'in', SHARED), eb('owner', '=', caller.principalId)]))
      // By itself, not within the "or": so the page begins in the index where the one before ended.
      .where('created_at', '>=', cursor.createdAt)
      .where((eb) => eb.or([eb('created_at', '>', cursor.createdAt), eb('id', '>', cursor.id)]))
      .orderBy('created_at')
      .orderBy('id')
      .limit(ROWS);
    if (scope !== undefined) query = query.where('scope', '=', scope);
    if (subject !== undefined) query = query.where('subject', '=', subject);
    const rows = await query.execute();
    for (const row of rows) {
      cursor = { createdAt: row.created_at, id: row.id };
      if (!maySee(caller, row) || !tags.every((tag) => tagsOf(row).includes(tag))) continue;
      const last = memories.at(-1);
      if (last !== undefined && (memories.length === limit || chars + row.content.length > PAGE_CHARS))
        return { memories, next: JSON.stringify([last.createdAt, last.memory_id]) };
      memories.push(memoryOf(row));
      chars += row.content.length;
    }
    if (rows.length < ROWS) return { memories, next: undefined };
  }
}

interface Cursor {
  readonly createdAt: number;
  readonly id: string;
}

const START: Cursor = { createdAt: -1, id: '' };

function cursorIn(after: string): Cursor {
  const [createdAt, id] = parsed(after);
  if (!Number.isSafeInteger(createdAt) || typeof id !== 'string' || !isStorable(id))
    throw refused(`"after" is what the page before gave as "next", found "${after.slice(0, 100)}"`);
  return { createdAt: createdAt as number, id };
}

function parsed(text: string): readonly unknown[] {
  try {
    const value: unknown = JSON.parse(text);
    return Array.isArray(value) ? value : [];
  } catch {
    return [];
  }
}
