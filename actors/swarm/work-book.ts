import type { LoadBook } from './load-book.ts';
import type { WorkOrder } from './swarm-reach.ts';
import { Work, type WorkDeps } from './work.ts';

export interface WorkBookDeps extends Pick<WorkDeps, 'clock' | 'reach' | 'events'> {
  readonly loads: LoadBook;
}

/** What a swarm has handed out, and still listens to. */
export class WorkBook {
  readonly #deps: WorkBookDeps;
  readonly #works = new Map<string, Work>();
  readonly #putDown = new WeakSet<Work>();

  constructor(deps: WorkBookDeps) {
    this.#deps = deps;
  }

  /** The work on an assignment, not yet handed over; it counts as its agent's load until it is over. */
  open(order: WorkOrder, graceMs: number): Work {
    const { loads, ...deps } = this.#deps;
    const key = keyOf(order.subTaskId, order.epoch);
    const unload = loads.add(order.agentId, deps.reach.loadOf(order.agentId));
    const onOver = (): void => {
      this.#works.delete(key);
      unload();
    };
    const work = new Work(order, { ...deps, graceMs, onOver });
    this.#works.set(key, work);
    return work;
  }

  /** The work on an assignment, if it is still listened to. */
  on(subTaskId: string, epoch: number): Work | undefined {
    return this.#works.get(keyOf(subTaskId, epoch));
  }

  /** How many assignments keep an agent busy here, those that were taken away and not answered included. */
  readonly heldBy = (agentId: string): number => {
    let held = 0;
    for (const work of this.#works.values())
      if (work.order.agentId === agentId && !this.#putDown.has(work)) held += 1;
    return held;
  };

  /** The agent has said that it is free: what was taken away from it does not keep it busy. */
  putDown(agentId: string): void {
    for (const work of this.#works.values())
      if (work.order.agentId === agentId && work.isTaken) this.#putDown.add(work);
  }

  releaseAll(): void {
    for (const work of [...this.#works.values()]) work.release();
  }
}

const keyOf = (subTaskId: string, epoch: number): string => `${epoch} ${subTaskId}`;
