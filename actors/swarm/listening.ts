import { errorToData } from '../../runtime/protocol/errors.ts';
import type { HandedWork, WorkReports } from './swarm-reach.ts';

/** An ask that hands an assignment over, as long as somebody listens to what becomes of it. */
export interface Listening {
  readonly signal: AbortSignal;
  /** Nobody listens any more. */
  readonly isOver: boolean;
  /** Reports, if somebody listens. */
  readonly tell: (report: () => void) => void;
}

/**
 * Runs `ask` and reports its end. Cancelling it aborts the signal; released, it goes on and nobody hears of it. `isOrphaned`
 * says, when it fails, that the work is over to which it belongs.
 */
export function listenTo(
  ask: (listening: Listening) => Promise<unknown>,
  reports: Pick<WorkReports, 'completed' | 'failed' | 'orphaned'>,
  isOrphaned: () => boolean,
): HandedWork {
  const abort = new AbortController();
  let isListening = true;
  const tell = (report: () => void): void => {
    if (isListening) report();
  };
  const listening = {
    signal: abort.signal,
    get isOver() {
      return !isListening;
    },
    tell,
  };
  void ask(listening).then(
    (result) => tell(() => reports.completed(result)),
    (error: unknown) =>
      tell(() => {
        if (isOrphaned()) reports.orphaned();
        else reports.failed(errorToData(error));
      }),
  );
  return {
    cancel: () => {
      isListening = false;
      abort.abort();
    },
    release: () => {
      isListening = false;
    },
  };
}
