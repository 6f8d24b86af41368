import type { WaitingSend } from '../mailbox/waiting-send.ts';
import type { Clock } from '../protocol/seams.ts';
import { HeldSends } from './held-sends.ts';
import { RecentMisses } from './recent-misses.ts';
import { isServed, queryKey, type RemoteQuery } from './remote-lookup.ts';
import type { RoutingTable } from './routing-table.ts';

/** The most lookups that one thread waits for. */
const CAPACITY = 100;

/**
 * - `missMs` how long this thread remembers that a lookup found nobody.
 * - `table`  the table of this thread.
 * - `want`   starts a lookup; its caller calls `ended` when that is over.
 */
export interface LookupsDeps {
  readonly clock: Pick<Clock, 'monotonicMs' | 'now'>;
  readonly missMs: number;
  readonly table: RoutingTable;
  readonly want: (query: RemoteQuery) => void;
}

interface UnderWay {
  readonly query: RemoteQuery;
  readonly held: HeldSends;
}

/** The lookups that one thread has started on other nodes, and the sends that wait for them. */
export class Lookups {
  readonly #deps: LookupsDeps;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #misses: RecentMisses;
  /** The query whose sends go again now: it is not looked up once more. */
  #ending: string | undefined;

  constructor(deps: LookupsDeps) {
    this.#deps = deps;
    this.#misses = new RecentMisses(deps.missMs);
  }

  /** Sends that wait. */
  get held(): number {
    let held = 0;
    for (const one of this.#underWay.values()) held += one.held.size;
    return held;
  }

  /** Starts a lookup unless one is under way. False if one found nobody lately, or too many are under way. */
  isWanted(query: RemoteQuery): boolean {
    const key = queryKey(query);
    if (this.#underWay.has(key)) return true;
    if (key === this.#ending || this.#misses.has(key, this.#deps.clock.monotonicMs())) return false;
    if (this.#underWay.size >= CAPACITY) return false;
    this.#underWay.set(key, { query, held: new HeldSends() });
    this.#deps.want(query);
    return true;
  }

  /** Has a send wait for a lookup under way; false if the most that may wait do. */
  hold(query: RemoteQuery, send: WaitingSend): boolean {
    return this.#underWay.get(queryKey(query))?.held.add(send) ?? false;
  }

  /** Lets the sends go that wait for a lookup: it is over, and whoever was found is in the table. */
  ended(query: RemoteQuery): void {
    const key = queryKey(query);
    const { held } = this.#underWay.get(key) ?? {};
    this.#underWay.delete(key);
    this.#misses.add(key, this.#deps.clock.monotonicMs());
    this.#ending = key;
    held?.letGo(this.#deps.clock.now());
    this.#ending = undefined;
  }

  /** Lets sends go whose recipient the changed table has: they go before all that are sent from now on. */
  tableChanged(): void {
    const { table } = this.#deps;
    for (const { query } of [...this.#underWay.values()]) if (isServed(table, query)) this.ended(query);
  }

  /** Fails the sends that wait no longer. */
  sweep(nowMs: number): void {
    for (const { held } of this.#underWay.values()) if (held.size > 0) held.sendAway(nowMs);
  }

  stop(error: Error): void {
    const all = [...this.#underWay.values()];
    this.#underWay.clear();
    for (const { held } of all) held.fail(error);
  }
}
