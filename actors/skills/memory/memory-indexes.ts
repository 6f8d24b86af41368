import type { SelectQueryBuilder } from 'kysely';
import { vectorFromBytes } from '../search/vector-bytes.ts';
import type { SkillStore, TenantQueries } from '../store/skill-store.ts';
import type { SkillTables } from '../store/skill-tables.ts';
import { MemoryIndex } from './memory-index.ts';
import { INDEXED, indexedOf } from './memory-rows.ts';

/** Rows that are read at a time, so that others get their turn while many are. */
const PAGE = 500;

export interface MemoryIndexesDeps {
  readonly store: SkillStore;
  /** By what vectors are made here; those of others are passed over. @default there are none */
  readonly model: string | undefined;
  /** How many memories are held at most, of all tenants together: the index that was asked for least lately goes first. */
  readonly most: number;
}

/**
 * The indexes of tenants. Each is made when it is first asked for, and brought up to what the store has each time that it is asked
 * for again: what other threads and processes have written is in it, and what they have removed is not.
 */
export class MemoryIndexes {
  readonly #deps: MemoryIndexesDeps;
  /** The one that was asked for last is the last. */
  readonly #byTenant = new Map<string, Followed>();

  constructor(deps: MemoryIndexesDeps) {
    this.#deps = deps;
  }

  /** The index with all that the store has by now. */
  async of(tenant: string): Promise<MemoryIndex> {
    let followed = this.#byTenant.get(tenant);
    if (followed === undefined || followed.index.isWorn) followed = new Followed(this.#deps, tenant);
    this.#byTenant.delete(tenant);
    this.#byTenant.set(tenant, followed);
    const index = await followed.upToDate();
    this.#makeRoom(tenant);
    return index;
  }

  #makeRoom(kept: string): void {
    let held = 0;
    for (const { index } of this.#byTenant.values()) held += index.size;
    for (const [tenant, { index }] of this.#byTenant) {
      if (held <= this.#deps.most || tenant === kept) return;
      this.#byTenant.delete(tenant);
      held -= index.size;
    }
  }
}

/** How far rows of a table have been read: they are read in this order, in which what is written later comes later. */
interface Cursor {
  readonly revision: number;
  readonly id: string;
}

const START: Cursor = { revision: -1, id: '' };

/** The index of one tenant, and how far it has read. */
class Followed {
  readonly index = new MemoryIndex();
  readonly #deps: MemoryIndexesDeps;
  readonly #tenant: string;
  #memories = START;
  #vectors = START;
  #removed = START;
  /** The revision that it has read all of. */
  #revision = -1;
  #reading: Promise<unknown> = Promise.resolve();

  constructor(deps: MemoryIndexesDeps, tenant: string) {
    this.#deps = deps;
    this.#tenant = tenant;
  }

  async upToDate(): Promise<MemoryIndex> {
    const reading = this.#reading.then(() => this.#read());
    // The next one reads again, whatever became of this.
    this.#reading = reading.catch(() => undefined);
    await reading;
    return this.index;
  }

  async #read(): Promise<void> {
    while (!(await this.#deps.store.read(this.#tenant, (queries) => this.#readSome(queries))));
  }

  /** Reads a page of what is new; whether that was all. */
  async #readSome(queries: TenantQueries): Promise<boolean> {
    const row = await queries.selectFrom('tenants').select('revision').executeTakeFirst();
    const revision = row?.revision ?? 0;
    if (revision === this.#revision) return true;
    // What is removed goes last: its row may have been read before.
    const isAll =
      (await this.#readMemories(queries)) &&
      (await this.#readVectors(queries)) &&
      (await this.#readRemoved(queries));
    if (isAll) this.#revision = revision;
    return isAll;
  }

  async #readMemories(queries: TenantQueries): Promise<boolean> {
    const rows = await after(queries.selectFrom('memories').select(INDEXED), this.#memories).execute();
    for (const row of rows) this.index.put(indexedOf(row), row.content);
    this.#memories = rows.at(-1) ?? this.#memories;
    return rows.length < PAGE;
  }

  async #readVectors(queries: TenantQueries): Promise<boolean> {
    const { model } = this.#deps;
    if (model === undefined) return true;
    const rows = await after(
      queries.selectFrom('memory_vectors').select(['id', 'model', 'vector', 'revision']),
      this.#vectors,
    ).execute();
    for (const row of rows)
      if (row.model === model) this.index.setVector(row.id, vectorFromBytes(row.vector));
    this.#vectors = rows.at(-1) ?? this.#vectors;
    return rows.length < PAGE;
  }

  async #readRemoved(queries: TenantQueries): Promise<boolean> {
    const rows = await after(
      queries.selectFrom('removed_memories').select(['id', 'revision']),
      this.#removed,
    ).execute();
    for (const { id } of rows) this.index.remove(id);
    this.#removed = rows.at(-1) ?? this.#removed;
    return rows.length < PAGE;
  }
}

type Numbered = 'memories' | 'memory_vectors' | 'removed_memories';

/**
 * The next page of a query's rows, in the order in which they were written. It names where they begin by itself: within an "or" no
 * database looks for that in an index, but passes all rows before.
 */
function after<Row>(
  query: SelectQueryBuilder<SkillTables, Numbered, Row>,
  { revision, id }: Cursor,
): SelectQueryBuilder<SkillTables, Numbered, Row> {
  return query
    .where('revision', '>=', revision)
    .where((eb) => eb.or([eb('revision', '>', revision), eb('id', '>', id)]))
    .orderBy('revision')
    .orderBy('id')
    .limit(PAGE);
}
