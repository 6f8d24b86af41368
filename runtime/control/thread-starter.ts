import type { Clock } from '../protocol/seams.ts';
import type { ThreadBoot } from './control-calls.ts';
import type { NodeBoot } from '../thread/thread-node.ts';
import type { Spawned, Spawner } from '../link/spawner.ts';

export interface ThreadStarterDeps {
  readonly spawner: Spawner;
  readonly clock: Clock;
  /** What a thread needs to make its policies. */
  readonly workerOptions: unknown;
}

/**
 * Starts the threads of places, and keeps one ready.
 *
 * A thread needs most of its start-up time for what does not depend on the place that it will be, so one is started
 * ahead: a place whose thread died is back as soon as its agents' modules are loaded.
 */
export class ThreadStarter {
  readonly #deps: ThreadStarterDeps;
  #spare: Spawned | undefined;
  #cancelPlan: () => void = () => undefined;

  constructor(deps: ThreadStarterDeps) {
    this.#deps = deps;
  }

  /** Starts a thread as this place: the spare one, if there is one. */
  start(boot: NodeBoot): Spawned {
    const { spawner, workerOptions } = this.#deps;
    const message: ThreadBoot = { role: 'place', boot, workerOptions };
    const spare = this.#spare;
    if (spare === undefined) return spawner.spawn(boot.id, message, []);
    this.#spare = undefined;
    spare.port.post(message);
    return spare;
  }

  /** Sees to it that a spare thread is there some time from now; it would only be in the way of what happens now. */
  prepare(afterMs: number): void {
    this.#cancelPlan();
    this.#cancelPlan = this.#deps.clock.setTimer(afterMs, () => this.#fill());
  }

  async close(): Promise<void> {
    this.#cancelPlan();
    const spare = this.#spare;
    this.#spare = undefined;
    await spare?.terminate();
  }

  #fill(): void {
    if (this.#spare !== undefined) return;
    const { spawner, workerOptions } = this.#deps;
    const boot: ThreadBoot = { role: 'spare-place', workerOptions };
    const spare = spawner.spawn('orrery-spare', boot, []);
    this.#spare = spare;
    spare.onExit(() => {
      if (this.#spare === spare) this.#spare = undefined;
    });
  }
}
