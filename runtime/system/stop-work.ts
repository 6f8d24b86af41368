import { systemStopped } from '../protocol/errors.ts';
import { DEFAULT_DRAIN_MS } from './create-system.ts';
import { parseDrainMs } from './given-sends.ts';
import type { System } from './system.ts';

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
 * Changes a system so that it stops when what is given to `beforeStop` is done. Work that fails keeps nothing from stopping;
 * `stop` rejects with the first failure afterwards.
 */
export function withWorkBeforeStop(system: System): SystemWithStopWork {
  const works = new Set<StopWork>();
  const stopNow = system.stop.bind(system);
  let stopping: Promise<void> | undefined;
  const stopAll = async (drainMs: number): Promise<void> => {
    const ends = await Promise.allSettled([...works].map((work) => work({ drainMs })));
    await stopNow({ drainMs });
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  };
  return Object.assign(system, {
    stop: (options: { drainMs?: number } = {}): Promise<void> => {
      try {
        const drainMs = parseDrainMs(options, DEFAULT_DRAIN_MS);
        // Without work it stops at once: from then on nothing new is taken.
        stopping ??= works.size === 0 ? stopNow({ drainMs }) : stopAll(drainMs);
        return stopping;
      } catch (error) {
        return Promise.reject(error);
      }
    },
    beforeStop: (work: StopWork): (() => void) => {
      if (stopping !== undefined) throw systemStopped('it was stopped');
      works.add(work);
      return () => void works.delete(work);
    },
  });
}
