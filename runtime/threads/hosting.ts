import { deadlineExceeded, errorFromData, isOrreryError, threadDied } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import type { TableChange } from '../routing/routing-table.ts';
import type { AgentRecord } from './agent-book.ts';
import type { PlaceMessage } from './lines.ts';
import type { PlaceRecord, Places } from './places.ts';

/** How long a module may take to load. */
export const LOAD_MS = 10_000;

/** Agents that are being hosted, and what waits for it. */
interface Pending {
  readonly place: PlaceRecord;
  readonly agents: readonly AgentRecord[];
  /** Their code is being loaded: what goes wrong may be its fault. */
  isLoading: boolean;
  readonly isAgain: boolean;
  readonly endLoading: () => void;
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
      this.#pending.set(ref, { place, agents, isLoading: true, isAgain, endLoading: cancel, settle });
      const orders = agents.map(({ id, module, broken, process }) => ({ id, module, broken, process }));
      this.#places.tell(place, { t: 'host', ref, change, agents: orders, isAgain });
    });
  }

  /**
   * Resolves when these agents have the first of what former processes left for them. Where a thread dies over it, the next one
   * gives it to them.
   */
  async recover(records: readonly AgentRecord[]): Promise<void> {
    const byPlace = Map.groupBy(records, ({ place }) => place);
    const recovering = [...byPlace].map(([id, here]) =>
      unlessItDies(this.#places.get(id).caller.api.recover(here.map(({ slot }) => slot))),
    );
    await Promise.all(recovering);
  }

  /** The place has their code, after which what they kept may take as long as the journal takes; or it is done. */
  hear(message: PlaceMessage & { readonly t: 'loaded' | 'hosted' }): void {
    const pending = this.#pending.get(message.ref);
    if (pending === undefined) return;
    pending.isLoading = false;
    pending.endLoading();
    if (message.t === 'loaded') return;
    pending.settle(message.error === undefined ? undefined : errorFromData(message.error));
  }

  /**
   * The place's thread is gone: nothing more is heard of it. Returns the agents whose code it was loading, which is not to be
   * had; the others are hosted by its successor like all that lived there.
   */
  cut(place: PlaceRecord): readonly AgentRecord[] {
    const pending = [...this.#pending.values()].filter((one) => one.place === place);
    for (const { isLoading, isAgain, settle } of pending)
      settle(isLoading || isAgain ? threadDied(place.id, place.id) : undefined);
    return pending.flatMap(({ agents, isLoading }) => (isLoading ? agents : []));
  }
}

/** Resolves when a place has answered, or its thread has died over it. */
export async function unlessItDies(answer: Promise<void>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (!isOrreryError(error) || error.code !== 'THREAD_DIED') throw error;
  }
}
