import { backOffMs } from '../../../runtime/protocol/back-off-ms.ts';
import type { BackOff } from '../../../runtime/protocol/back-off.ts';
import type { Seams } from '../../../runtime/protocol/seams.ts';
import type { Embedder } from '../embedding/embedder.ts';
import { vectorToBytes } from '../search/vector-bytes.ts';
import { vectorOf } from '../search/vector.ts';
import type { SkillStore, TenantQueries } from '../store/skill-store.ts';
import type { Meaning } from './memories.ts';
import { changeCount, hashOf } from './memory-queries.ts';

/** How many texts are given to the model at a time. */
const BATCH = 32;
/** More than so many are not remembered here: they are looked for in the store, like what former processes have left. */
const MOST_WAITING = 5_000;
const BACK_OFF: BackOff = { firstMs: 1_000, maxMs: 60_000, factor: 2, jitter: 0.2 };

/** A text that needs a vector. */
interface Wanted {
  readonly tenant: string;
  readonly id: string;
  readonly content: string;
}

export interface MemoryVectorsDeps {
  readonly store: SkillStore;
  readonly embedder: Embedder;
  readonly seams: Pick<Seams, 'clock' | 'random'>;
  /** Is told why no vectors could be made; it is tried again. */
  readonly onFailure: (error: unknown) => void;
}

/**
 * The vectors of queries, and of memories: these get them after they are kept, so that nobody who adds one waits for the model. What
 * a process did not come to is done by whoever searches that tenant next.
 */
export class MemoryVectors {
  readonly #deps: MemoryVectorsDeps;
  readonly #waiting: Wanted[] = [];
  /** Tenants in whose memories those without vectors are still to be looked for; and those where that was done. */
  readonly #toFill = new Set<string>();
  readonly #filled = new Set<string>();
  readonly #closing = new AbortController();
  /** Queries that failed in a row; and until when none is tried. */
  #failed = 0;
  #pausedUntilMs = 0;
  #working: Promise<void> | undefined;

  constructor(deps: MemoryVectorsDeps) {
    this.#deps = deps;
  }

  /** Has a memory get the vector of its text. */
  want(tenant: string, memory: Omit<Wanted, 'tenant'>): void {
    if (this.#waiting.length < MOST_WAITING) this.#waiting.push({ tenant, ...memory });
    else this.#toFill.add(tenant);
    this.#start();
  }

  /** What a query means; undefined where the model fails, and for a while after that: it is found by its words then. */
  async meaningOf(tenant: string, query: string, signal: AbortSignal): Promise<Meaning | undefined> {
    this.#fill(tenant);
    const { embedder, seams, onFailure } = this.#deps;
    if (seams.clock.monotonicMs() < this.#pausedUntilMs) return undefined;
    try {
      const [embedding] = await embedder.embed([query], signal);
      this.#failed = 0;
      return { vector: vectorOf(embedding as Float32Array), model: embedder.model };
    } catch (error) {
      signal.throwIfAborted();
      this.#failed += 1;
      this.#pausedUntilMs = seams.clock.monotonicMs() + backOffMs(BACK_OFF, this.#failed, seams.random);
      onFailure(error);
      return undefined;
    }
  }

  /** Looks once for memories of a tenant that have no vector, or one of another model. */
  #fill(tenant: string): void {
    if (this.#filled.has(tenant)) return;
    this.#filled.add(tenant);
    this.#toFill.add(tenant);
    this.#start();
  }

  /** Ends it; what waits stays without vectors until the next time. */
  async close(): Promise<void> {
    this.#closing.abort();
    await this.#working;
  }

  #start(): void {
    if (this.#working !== undefined || this.#closing.signal.aborted) return;
    this.#working = this.#work().finally(() => {
      this.#working = undefined;
    });
  }

  async #work(): Promise<void> {
    const { onFailure, seams } = this.#deps;
    for (let failures = 0; !this.#closing.signal.aborted; ) {
      const taken = this.#waiting.splice(0, BATCH);
      const [tenant] = this.#toFill;
      if (taken.length === 0 && tenant === undefined) return;
      try {
        if (taken.length > 0) await this.#write(taken);
        else if (tenant !== undefined) await this.#fillSome(tenant);
        failures = 0;
      } catch (error) {
        if (this.#closing.signal.aborted) return;
        this.#waiting.unshift(...taken);
        failures += 1;
        if (failures === 1) onFailure(error);
        await this.#pause(backOffMs(BACK_OFF, failures, seams.random));
      }
    }
  }

  async #fillSome(tenant: string): Promise<void> {
    const { model } = this.#deps.embedder;
    const rows = await this.#deps.store.read(tenant, (queries) =>
      queries
        .selectFrom('memories')
        .leftJoin('memory_vectors', 'memory_vectors.id', 'memories.id')
        .select(['memories.id', 'memories.content'])
        .where((eb) =>
          eb.or([eb('memory_vectors.model', 'is', null), eb('memory_vectors.model', '!=', model)]),
        )
        .limit(BATCH)
        .execute(),
    );
    if (rows.length > 0) await this.#write(rows.map((row) => ({ tenant, ...row })));
    if (rows.length < BATCH) this.#toFill.delete(tenant);
  }

  async #write(wanted: readonly Wanted[]): Promise<void> {
    const { embedder, store } = this.#deps;
    const embeddings = await embedder.embed(
      wanted.map(({ content }) => content),
      this.#closing.signal,
    );
    const made = wanted.map((one, at) => ({
      ...one,
      vector: vectorToBytes(vectorOf(embeddings[at] as Float32Array)),
    }));
    for (const [tenant, ofTenant] of Map.groupBy(made, (one) => one.tenant))
      await store.write(tenant, (queries) => this.#keep(queries, ofTenant));
  }

  /** A text that was changed or removed meanwhile has no vector of what it was. */
  async #keep(
    queries: TenantQueries,
    made: readonly (Wanted & { readonly vector: Uint8Array })[],
  ): Promise<void> {
    const revision = await changeCount(queries, 0, Number.POSITIVE_INFINITY);
    const { model } = this.#deps.embedder;
    for (const { id, content, vector } of made) {
      const row = await queries.selectFrom('memories').select('hash').where('id', '=', id).executeTakeFirst();
      if (row?.hash !== hashOf(content)) continue;
      await queries
        .insertInto('memory_vectors')
        .values({ id, model, vector, revision })
        .onConflict((conflict) =>
          conflict.columns(['tenant' as never, 'id']).doUpdateSet({ model, vector, revision }),
        )
        .execute();
    }
  }

  #pause(ms: number): Promise<void> {
    const { signal } = this.#closing;
    return new Promise((resolve) => {
      const stop = this.#deps.seams.clock.setTimer(ms, resolve);
      signal.addEventListener(
        'abort',
        () => {
          stop();
          resolve();
        },
        { once: true },
      );
    });
  }
}
