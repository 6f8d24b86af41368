import {
  errorFromData,
  isOrreryError,
  moduleInvalid,
  type OrreryError,
  startFailed,
  threadDied,
} from '../protocol/errors.ts';
import type { NoProgress } from '../supervision/progress-watch.ts';
import type { TableChange } from '../routing/routing-table.ts';
import type { AgentEntry } from './agent-table.ts';
import type { NodeReport } from '../thread/control-protocol.ts';
import type { ThreadHandle, Threads } from './threads.ts';

/** Agents that are being hosted, and what waits for it. */
interface Pending {
  readonly thread: ThreadHandle;
  readonly agents: readonly AgentEntry[];
  /** Their code is being loaded: what goes wrong may be its fault. */
  isLoading: boolean;
  readonly isAgain: boolean;
  readonly endLoading: () => void;
  readonly settle: (error: Error | undefined) => void;
}

/** Has places host agents: load their modules, and make their mailboxes. */
export class Hosting {
  readonly #threads: Threads;
  readonly #pending = new Map<number, Pending>();
  #nextRef = 0;

  constructor(threads: Threads) {
    this.#threads = threads;
  }

  /**
   * Resolves when the place has these agents. `isAgain`: its former thread had them; then a module that does not load any
   * more makes no difference here, its agents fail when they are started. Rejects when the thread dies over it, or does not
   * get on; a thread that was to host agents again and does not get on is ended.
   */
  host(
    thread: ThreadHandle,
    agents: readonly AgentEntry[],
    { change, isAgain }: { change: TableChange; isAgain: boolean },
  ): Promise<void> {
    const ref = this.#nextRef++;
    return new Promise((resolve, reject) => {
      const settle = (error: Error | undefined): void => {
        endLoading();
        this.#pending.delete(ref);
        if (error === undefined) resolve();
        else reject(error);
      };
      const { module = '' } = agents[0] ?? {};
      const isElsewhere = agents.every(({ process }) => process !== undefined);
      const endLoading = this.#threads.watchLoading(thread, { isElsewhere }, (still) => {
        if (isAgain)
          this.#threads.end(thread.id, { reason: `loading ${module} did not end`, isCharged: true });
        else settle(notLoaded(thread.id, module, still));
      });
      this.#pending.set(ref, { thread, agents, isLoading: true, isAgain, endLoading, settle });
      const orders = agents.map(({ id, module, broken, process }) => ({ id, module, broken, process }));
      this.#threads.tell(thread, { t: 'host', ref, change, agents: orders, isAgain });
    });
  }

  /**
   * Resolves when these agents have the first of what former processes left for them. Where a thread dies over it, the next one
   * gives it to them.
   */
  async recover(entries: readonly AgentEntry[]): Promise<void> {
    const byPlace = Map.groupBy(entries, ({ place }) => place);
    const recovering = [...byPlace].map(([id, here]) =>
      unlessItDies(this.#threads.get(id).connection.api.recover(here.map(({ slot }) => slot))),
    );
    await Promise.all(recovering);
  }

  /** The place has their code, after which what they kept may take as long as the journal takes; or it is done. */
  hear(message: NodeReport & { readonly t: 'loaded' | 'hosted' }): void {
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
  cut(thread: ThreadHandle): readonly AgentEntry[] {
    const pending = [...this.#pending.values()].filter((one) => one.thread === thread);
    for (const { isLoading, isAgain, settle } of pending)
      settle(isLoading || isAgain ? threadDied(thread.id, thread.id) : undefined);
    return pending.flatMap(({ agents, isLoading }) => (isLoading ? agents : []));
  }
}

/** Why a place has not loaded a module: the thread never got ready, or the module does not end. */
export function notLoaded(place: string, module: string, { why, hasBegun, text }: NoProgress): OrreryError {
  if (!hasBegun) return startFailed(`the thread ${place}`, `load ${module}`, text);
  const guess = why === 'looping' ? 'it loops' : 'it waits for something';
  return moduleInvalid(module, `importing it did not end: ${text}: ${guess}`);
}

/** Resolves when a place has answered, or its thread has died over it. */
export async function unlessItDies(answer: Promise<void>): Promise<void> {
  try {
    await answer;
  } catch (error) {
    if (!isOrreryError(error) || error.code !== 'THREAD_DIED') throw error;
  }
}
