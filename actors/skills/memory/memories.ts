import type { z } from 'zod';
import { invalidPayload, refused } from '../../../runtime/protocol/errors.ts';
import type { Taint } from '../../../runtime/protocol/taint.ts';
import type { SkillCaller } from '../skill-caller.ts';
import type { Vector } from '../search/vector.ts';
import type { SkillStore, TenantQueries } from '../store/skill-store.ts';
import type {
  Memory,
  memoryAdd,
  memoryExport,
  memoryGet,
  memoryList,
  memorySearch,
  memoryUpdate,
} from './memory-capabilities.ts';
import type { FoundMemory, IndexedMemory, MemoryIndex, MemoryQuery } from './memory-index.ts';
import type { MemoryIndexes } from './memory-indexes.ts';
import { MEMORY_LAYERS, type MemoryLayer, rankOf } from './memory-layer.ts';
import {
  changeCount,
  hashOf,
  historiesOf,
  keepVersion,
  pageOf,
  removedRow,
  removeRow,
  rowToldAlike,
  sameText,
  takeTurn,
} from './memory-queries.ts';
import { memoryOf, mergedTaint } from './memory-rows.ts';
import { isSamePlace, mayChange, maySee, type Ownership, ownershipFor, requireChanger } from './ownership.ts';
import { byRelevance, moreSpecificFirst, shadowsAmong } from './precedence.ts';

type Input<Declared extends { input: z.ZodType }> = z.output<Declared['input']>;
type Output<Declared extends { output: z.ZodType }> = z.input<Declared['output']>;

/** Texts that share so much of their words say nearly the same. */
const SIMILAR_SHARE = 0.8;
const MOST_NOTICED = 5;
/** How often a memory can say something else: what it said before is kept. */
const MOST_VERSIONS = 1_000;
/** How many are looked at beside those that are wanted, so that those of equal score are in their order; and up to how many. */
const TIES = 10;
const MOST_TIES = 1_000;
/** How many times as many are looked at where those that do not hold are left out. */
const LEFT_OUT = 4;

export interface MemoriesDeps {
  readonly store: SkillStore;
  readonly indexes: MemoryIndexes;
  readonly now: () => number;
  /** Makes ids that nobody can guess. */
  readonly newSecret: () => string;
  /** How many memories a tenant may have. */
  readonly most: number;
}

/** What is known of a query or a text beside its words. */
export interface Meaning {
  readonly vector: Vector;
  readonly model: string;
}

/** The memories of all tenants, for one caller at a time: what they may not see is not there. */
export class Memories {
  readonly #deps: MemoriesDeps;

  constructor(deps: MemoriesDeps) {
    this.#deps = deps;
  }

  /** Keeps a text once in its layer and scope. Throws NOT_PERMITTED, and QUOTA_EXCEEDED where the tenant has too many. */
  async add(
    caller: SkillCaller,
    input: Input<typeof memoryAdd> & { readonly scope: string },
    taint: Taint | undefined,
  ): Promise<Output<typeof memoryAdd>> {
    const its = ownershipFor(caller, input.layer, input.scope);
    const { id, isNew } = await this.#deps.store.write(caller.tenant, async (queries) => {
      await takeTurn(queries);
      const known = await sameText(queries, its, input.content);
      if (known !== undefined) return { id: known, isNew: false };
      return { id: await this.#insert(queries, { caller, its, input, taint }), isNew: true };
    });
    const index = await this.#deps.indexes.of(caller.tenant);
    return {
      success: true,
      memory_id: id,
      layer: input.layer,
      scope: its.scope,
      duplicate: !isNew,
      message: isNew ? 'Remembered' : 'It was remembered already',
      ...(await this.#noticed(caller, index, {
        id,
        its,
        content: input.content,
        subject: input.subject ?? null,
      })),
    };
  }

  /** The memories that a query finds, and the sources outside that they came from. */
  async search(
    caller: SkillCaller,
    input: Input<typeof memorySearch>,
    meaning: Meaning | undefined,
  ): Promise<Output<typeof memorySearch>> {
    const { limit, minScore = 0, at = this.#deps.now(), withShadowed = true } = input;
    const layers = layersMeant(input);
    const ranks = new Set(layers.map(rankOf));
    const index = await this.#deps.indexes.of(caller.tenant);
    const holds = (memory: IndexedMemory): boolean => maySee(caller, memory) && isValidAt(memory, at);
    const takes = (memory: IndexedMemory) => holds(memory) && ranks.has(memory.layer) && fits(memory, input);
    const wanted = withShadowed ? limit : limit * LEFT_OUT;
    const found = bestOf(index, { text: input.query, vector: meaning?.vector, takes, most: wanted });
    const ranked = found
      .filter(({ score }) => score >= minScore)
      .map(({ memory, ...rest }) => ({ ...rest, memory, id: memory.id, rank: memory.layer }))
      .toSorted(byRelevance)
      .slice(0, wanted);
    const subjects = new Set(ranked.flatMap(({ memory }) => memory.subject ?? []));
    const shadows = shadowsAmong([...subjects].flatMap((subject) => index.about(subject).filter(holds)));
    const best = ranked.filter(({ id }) => withShadowed || !shadows.has(id)).slice(0, limit);
    const rows = await this.#rowsOf(
      caller,
      best.map(({ id }) => id),
    );
    const results = best.flatMap(({ id, score, signals }) => {
      const known = rows.get(id);
      if (known === undefined) return [];
      const shadow = shadows.get(id);
      return {
        ...known,
        score,
        signals,
        shadowed: shadow !== undefined,
        ...(shadow === undefined ? {} : { shadowedBy: shadow.id }),
      };
    });
    return {
      success: true,
      results,
      totalCount: results.length,
      searchedLayers: [...layers],
      embedding: meaning?.model ?? null,
    };
  }

  async get(caller: SkillCaller, id: string, withHistory: boolean): Promise<Output<typeof memoryGet>> {
    return this.#deps.store.read(caller.tenant, async (queries) => {
      const memory = memoryOf(await rowToldAlike(queries, caller, id));
      if (!withHistory) return { success: true, memory };
      const history = (await historiesOf(queries, [id])).get(id) ?? [];
      return { success: true, memory, history };
    });
  }

  /** A page of what the caller may see. */
  list(caller: SkillCaller, input: Input<typeof memoryList>): Promise<Output<typeof memoryList>> {
    return this.#deps.store.read(caller.tenant, async (queries) => {
      const { memories, next } = await pageOf(queries, caller, input);
      return { success: true, memories, ...(next === undefined ? {} : { next }) };
    });
  }

  export(caller: SkillCaller, input: Input<typeof memoryExport>): Promise<Output<typeof memoryExport>> {
    return this.#deps.store.read(caller.tenant, async (queries) => {
      const { memories, next } = await pageOf(queries, caller, input);
      const histories = await historiesOf(
        queries,
        memories.map(({ memory_id }) => memory_id),
      );
      return {
        success: true,
        memories: memories.map((memory) => ({ ...memory, history: histories.get(memory.memory_id) ?? [] })),
        ...(next === undefined ? {} : { next }),
      };
    });
  }

  /** Those about a subject that the caller may change, each with what it says: so many at most, the most specific first. */
  async changeableAbout(caller: SkillCaller, subject: string, most: number): Promise<readonly Memory[]> {
    const index = await this.#deps.indexes.of(caller.tenant);
    const about = index
      .about(subject)
      .filter((memory) => mayChange(caller, memory))
      .toSorted(moreSpecificFirst)
      .slice(0, most);
    return [
      ...(
        await this.#rowsOf(
          caller,
          about.map(({ id }) => id),
        )
      ).values(),
    ];
  }

  /** Changes a memory; what it said before is kept beside it. */
  async update(
    caller: SkillCaller,
    id: string,
    changes: Pick<
      Input<typeof memoryUpdate>,
      'content' | 'tags' | 'importance' | 'metadata' | 'validFrom' | 'validUntil'
    >,
    taint: Taint | undefined,
  ): Promise<Output<typeof memoryUpdate>> {
    const { store, now, indexes } = this.#deps;
    const { content, tags, importance, metadata, validFrom, validUntil } = changes;
    const row = await store.write(caller.tenant, async (queries) => {
      await takeTurn(queries);
      const before = await rowToldAlike(queries, caller, id);
      requireChanger(caller, before, 'change');
      const says = content ?? before.content;
      const isOther = says !== before.content;
      const next = {
        content: says,
        hash: hashOf(says),
        tags: tags === undefined ? before.tags : JSON.stringify(tags),
        importance: importance ?? before.importance,
        metadata: metadata === undefined ? before.metadata : JSON.stringify(metadata),
        valid_from: validFrom === undefined ? before.valid_from : validFrom,
        valid_until: validUntil === undefined ? before.valid_until : validUntil,
        taint: mergedTaint(before.taint, taint),
        version: before.version + (isOther ? 1 : 0),
        // When it was last said: of two statements the later holds, which a new tag must not change.
        updated_at: isOther ? now() : before.updated_at,
        revision: await changeCount(queries, 0, this.#deps.most),
      };
      requireValidity(next.valid_from, next.valid_until);
      if (isOther) {
        const known = await sameText(queries, before, says);
        if (known !== undefined)
          throw refused(`It is remembered already, as "${known}"`, { memory_id: known });
        if (before.version >= MOST_VERSIONS)
          throw refused(
            `It was changed ${MOST_VERSIONS - 1} times, and what it said is kept each time: no more`,
          );
        await keepVersion(queries, before);
      }
      const author = isOther ? { author: caller.principalId } : {};
      await queries
        .updateTable('memories')
        .set({ ...next, ...author })
        .where('id', '=', id)
        .execute();
      return { ...before, ...next };
    });
    const index = await indexes.of(caller.tenant);
    const noticed = await this.#noticed(caller, index, { ...row, its: row });
    return { success: true, memory_id: id, version: row.version, message: 'Changed', ...noticed };
  }

  /** Removes a memory with everything that is kept of it. One that was removed before is removed. */
  async delete(caller: SkillCaller, id: string): Promise<{ readonly wasThere: boolean }> {
    return this.#deps.store.write(caller.tenant, async (queries) => {
      await takeTurn(queries);
      const removed = await removedRow(queries, id);
      const row =
        removed !== undefined && maySee(caller, removed) ? removed : await rowToldAlike(queries, caller, id);
      requireChanger(caller, row, 'remove');
      if (removed !== undefined) return { wasThere: false };
      await removeRow(queries, { ...row, id }, await changeCount(queries, -1, this.#deps.most));
      return { wasThere: true };
    });
  }

  async #insert(
    queries: TenantQueries,
    {
      caller,
      its,
      input,
      taint,
    }: {
      readonly caller: SkillCaller;
      readonly its: Ownership;
      readonly input: Input<typeof memoryAdd>;
      readonly taint: Taint | undefined;
    },
  ): Promise<string> {
    const { newSecret, now, most } = this.#deps;
    const { content, subject, tags, importance, metadata, validFrom = null, validUntil = null } = input;
    requireValidity(validFrom, validUntil);
    const id = newSecret();
    const at = now();
    await queries
      .insertInto('memories')
      .values({
        id,
        ...its,
        content,
        hash: hashOf(content),
        subject: subject ?? null,
        tags: JSON.stringify(tags),
        importance,
        metadata: metadata === undefined ? null : JSON.stringify(metadata),
        taint: taint === undefined ? null : JSON.stringify(taint),
        author: caller.principalId,
        valid_from: validFrom,
        valid_until: validUntil,
        created_at: at,
        updated_at: at,
        version: 1,
        revision: await changeCount(queries, 1, most),
      })
      .execute();
    return id;
  }

  /** What a caller may see beside an entry: other statements about its subject, and texts that are nearly the same. */
  async #noticed(
    caller: SkillCaller,
    index: MemoryIndex,
    {
      id,
      its,
      content,
      subject,
    }: {
      readonly id: string;
      readonly its: Ownership;
      readonly content: string;
      readonly subject: string | null;
    },
  ): Promise<Pick<Output<typeof memoryAdd>, 'contradicts' | 'similar'>> {
    const hash = hashOf(content);
    const at = this.#deps.now();
    const isOther = (memory: IndexedMemory): boolean =>
      memory.id !== id && maySee(caller, memory) && isValidAt(memory, at);
    const against =
      subject === null
        ? []
        : index
            .about(subject)
            .filter((memory) => isOther(memory) && memory.hash !== hash)
            .toSorted(moreSpecificFirst)
            .slice(0, MOST_NOTICED);
    const similar = index.similar(content, {
      takes: (memory) => isOther(memory) && isSamePlace(memory, its),
      share: SIMILAR_SHARE,
      most: MOST_NOTICED,
    });
    const rows = await this.#rowsOf(
      caller,
      against.map((memory) => memory.id),
    );
    return {
      contradicts: [...rows.values()].map(({ memory_id, layer, scope, content: said, taint }) => ({
        memory_id,
        layer,
        scope,
        content: said,
        ...(taint === undefined ? {} : { taint }),
      })),
      similar: similar.map(({ memory, similarity }) => ({ memory_id: memory.id, similarity })),
    };
  }

  /** What the store has of these, in their order: what was removed meanwhile is not there. */
  async #rowsOf(caller: SkillCaller, ids: readonly string[]): Promise<ReadonlyMap<string, Memory>> {
    if (ids.length === 0) return new Map();
    const rows = await this.#deps.store.read(caller.tenant, (queries) =>
      queries.selectFrom('memories').selectAll().where('id', 'in', ids).execute(),
    );
    const byId = new Map(rows.filter((row) => maySee(caller, row)).map((row) => [row.id, memoryOf(row)]));
    return new Map(ids.flatMap((id) => (byId.has(id) ? [[id, byId.get(id) as Memory] as const] : [])));
  }
}

/** The best, with whatever is as good as the last of those that are wanted. */
function bestOf(index: MemoryIndex, query: MemoryQuery): readonly FoundMemory[] {
  for (let most = query.most + TIES; ; most *= 8) {
    const found = index.search({ ...query, most });
    const lowest = found[query.most - 1]?.score ?? 0;
    if (found.length < most || most >= MOST_TIES || (found.at(-1)?.score ?? 0) < lowest) return found;
  }
}

/** Those that a query asks for; all where it asks for none. */
function layersMeant({ layers, layer }: Input<typeof memorySearch>): readonly MemoryLayer[] {
  const meant = new Set([...(layers ?? []), ...(layer === undefined ? [] : [layer])]);
  return meant.size === 0 ? MEMORY_LAYERS : MEMORY_LAYERS.filter((one) => meant.has(one));
}

const isValidAt = ({ validFromMs, validUntilMs }: IndexedMemory, at: number): boolean =>
  (validFromMs === null || validFromMs <= at) && (validUntilMs === null || at < validUntilMs);

const fits = (
  memory: IndexedMemory,
  { scope, tags = [] }: Pick<Input<typeof memorySearch>, 'scope' | 'tags'>,
): boolean =>
  (scope === undefined || memory.scope === scope) && tags.every((tag) => memory.tags.includes(tag));

function requireValidity(from: number | null, until: number | null): void {
  if (from !== null && until !== null && until <= from)
    throw invalidPayload('memory', `validUntil: expected a moment after validFrom (${from}), found ${until}`);
}
