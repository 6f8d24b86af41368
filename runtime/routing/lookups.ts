import type { WaitingSend } from '../mailbox/waiting-send.ts';
import type { Clock } from '../protocol/seams.ts';
import { HeldSends } from './held-sends.ts';
import { RecentMisses } from './recent-misses.ts';
import { isServed, queryKey, type RemoteQuery } from './remote-lookup.ts';
import type { RoutingTable } from './routing-table.ts';

/** Lookups that one thread waits for at most. */
const CAPACITY = 100;

/**
 * - `missMs` how long it is remembered here that a lookup found nobody.
 * - `table`  of this thread.
 * - `want`   has it looked up; `ended` is called when that is over.
 */
export interface LookupsDeps {
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly missMs: number;
  readonly table: RoutingTable;
  readonly want: (query: RemoteQuery) => void;
}

interface UnderWay {
  readonly query: RemoteQuery;
  readonly held: HeldSends;
}

/** What one thread has other nodes asked for, and the sends that wait until that is over. */
export class Lookups {
  readonly #deps: LookupsDeps;
  readonly #underWay = new Map<string, UnderWay>();
  readonly #misses: RecentMisses;
  /** Whoever waited for this is sending again: it is not looked up once more. */
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

  /** Whether it is being looked up, from now on if it was not; false when that was in vain lately, or too much is. */
  isWanted(query: RemoteQuery): boolean {
    const key = queryKey(query);
    if (this.#underWay.has(key)) return true;
    if (key === this.#ending || this.#misses.has(key, this.#deps.clock.monotonicMs())) return false;
    if (this.#underWay.size >= CAPACITY) return false;
    this.#underWay.set(key, { query, held: new HeldSends() });
    this.#deps.want(query);
    return true;
  }

  /** Has a send wait for what is being looked up; false when as many wait as may. */
  hold(query: RemoteQuery, send: WaitingSend): boolean {
    return this.#underWay.get(queryKey(query))?.held.add(send) ?? false;
  }

  /** Whoever was found is in the table by now. */
  ended(query: RemoteQuery): void {
    const key = queryKey(query);
    const { held } = this.#underWay.get(key) ?? {};
    this.#underWay.delete(key);
    this.#misses.add(key, this.#deps.clock.monotonicMs());
    this.#ending = key;
    held?.letGo();
    this.#ending = undefined;
  }

  /** The table is another one: who waits for somebody that it has now goes before all that are sent from here on. */
  tableChanged(): void {
    const { table } = this.#deps;
    for (const { query } of [...this.#underWay.values()]) if (isServed(table, query)) this.ended(query);
  }

  /** Lets those leave that wait no longer. */
  sweep(nowMs: number): void {
    for (const { held } of this.#underWay.values()) if (held.size > 0) held.sendAway(nowMs);
  }

  stop(error: Error): void {
    const all = [...this.#underWay.values()];
    this.#underWay.clear();
    for (const { held } of all) held.fail(error);
  }
}
