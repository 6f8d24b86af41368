import type { Cost } from '../protocol/budget.ts';
import type { AskOptions } from '../agent/context.ts';

/** What still matters of the options of an ask that was made elsewhere. */
export interface LaterOptions
  extends Pick<AskOptions, 'signal' | 'onSent' | 'onProgress' | 'onTaint' | 'budget'> {
  /** Is told what was spent of its budget by when it is over. */
  readonly onSpent?: (spent: Required<Cost>) => void;
}

/** How it is sent, as soon as there is room: the rest stands in the mail by now. */
export const laterOptions = ({
  signal,
  onSent,
  onProgress,
  onTaint,
  budget,
  onSpent,
}: LaterOptions): AskOptions & LaterOptions => ({
  whenFull: 'park',
  ...(signal && { signal }),
  ...(onSent && { onSent }),
  ...(onProgress && { onProgress }),
  ...(onTaint && { onTaint }),
  ...(budget && { budget }),
  ...(onSpent && { onSpent }),
});

/** Runs it once when the signal aborts, until the returned function is called. */
export function onAbort(signal: AbortSignal, run: () => void): () => void {
  signal.addEventListener('abort', run, { once: true });
  return () => signal.removeEventListener('abort', run);
}
