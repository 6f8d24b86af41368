import { deadlineExceeded, type ErrorData, errorFromData, threadDied } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import type { TableChange } from '../routing/routing-table.ts';
import type { AgentRecord } from './agent-book.ts';
import type { PlaceRecord, Places } from './places.ts';

/** How long a module may take to load. */
export const LOAD_MS = 10_000;

/** Agents that are being hosted, and what waits for it. */
interface Pending {
  readonly place: PlaceRecord;
  readonly agents: readonly AgentRecord[];
  readonly settle: (error: Error | undefined) => void;
}

/** Has places host agents: load their modules, and make their mailboxes. */
export class Hosting {
  readonly #clock: Clock;
  readonly #places: Places;
  readonly #pending = new Map<number, Pending>();
  #nextRef = 0;

  constructor(clock: Clock, places: Places) {
    this.#clock = clock;
    this.#places = places;
  }

  /**
   * Resolves when the place has these agents. `isAgain`: its former thread had them; then a module that does not load any
   * more makes no difference here, its agents fail when they are started. Rejects when the thread dies over it, or with
   * DEADLINE_EXCEEDED; a thread that was to host agents again and does not get done is ended.
   */
  host(
    place: PlaceRecord,
    agents: readonly AgentRecord[],
    { change, isAgain }: { change: TableChange; isAgain: boolean },
  ): Promise<void> {
    const ref = this.#nextRef++;
    return new Promise((resolve, reject) => {
      const settle = (error: Error | undefined): void => {
        cancel();
        this.#pending.delete(ref);
        if (error === undefined) resolve();
        else reject(error);
      };
      const cancel = this.#clock.setTimer(LOAD_MS, () => {
        const reason = `loading ${agents[0]?.module} did not end`;
        if (isAgain) this.#places.end(place.id, { reason, isCharged: true });
        else settle(deadlineExceeded(`Loading ${agents[0]?.module}`, LOAD_MS));
      });
      this.#pending.set(ref, { place, agents, settle });
      const orders = agents.map(({ id, module, broken, process }) => ({ id, module, broken, process }));
      this.#places.tell(place, { t: 'host', ref, change, agents: orders, isAgain });
    });
  }

  /** The place has answered. */
  answered(ref: number, error: ErrorData | undefined): void {
    this.#pending.get(ref)?.settle(error === undefined ? undefined : errorFromData(error));
  }

  /** The place's thread is gone: nothing more is heard of it. Returns the agents that it was loading. */
  cut(place: PlaceRecord): readonly AgentRecord[] {
    const pending = [...this.#pending.values()].filter((one) => one.place === place);
    for (const { settle } of pending) settle(threadDied(place.id, place.id));
    return pending.flatMap(({ agents }) => agents);
  }
}
