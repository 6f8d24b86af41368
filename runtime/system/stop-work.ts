import { systemStopped } from '../protocol/errors.ts';
import { parseDrainMs } from './given-sends.ts';
import type { System } from './system.ts';

/** How long what is under way has to be done when a system stops, milliseconds. */
const DEFAULT_DRAIN_MS = 1_000;

/** What is to be done before a system stops; `drainMs`: how long what is under way has to be done. */
export type StopWork = (options: { readonly drainMs: number }) => Promise<void>;

/** A system that does something before it stops. */
export interface SystemWithStopWork extends System {
  /**
   * Has `work` done before the system stops, with the time that `stop` gives; what is returned takes it back. Throws
   * SYSTEM_STOPPED when it stops already, or has stopped.
   */
  beforeStop(work: StopWork): () => void;
}

/**
 * The stop of a system, once: first the work that was given to `beforeStop`, then its own end. Work that fails keeps nothing
 * from stopping; `stop` rejects with the first failure afterwards.
 */
export class Stop {
  readonly #end: (drainMs: number) => Promise<void>;
  readonly #works = new Set<StopWork>();
  #stopping: Promise<void> | undefined;

  constructor(end: (drainMs: number) => Promise<void>) {
    this.#end = end;
  }

  before(work: StopWork): () => void {
    if (this.#stopping !== undefined) throw systemStopped('it was stopped');
    this.#works.add(work);
    return () => void this.#works.delete(work);
  }

  /** Rejects with INVALID_OPTIONS, and stops nothing then. */
  begin(options: { drainMs?: number } = {}): Promise<void> {
    try {
      const drainMs = parseDrainMs(options, DEFAULT_DRAIN_MS);
      // Without work it stops at once: from then on nothing new is taken.
      this.#stopping ??= this.#works.size === 0 ? this.#end(drainMs) : this.#workAndEnd(drainMs);
      return this.#stopping;
    } catch (error) {
      return Promise.reject(error);
    }
  }

  async #workAndEnd(drainMs: number): Promise<void> {
    const done = await Promise.allSettled([...this.#works].map((work) => work({ drainMs })));
    await this.#end(drainMs);
    for (const one of done) if (one.status === 'rejected') throw one.reason;
  }
}
