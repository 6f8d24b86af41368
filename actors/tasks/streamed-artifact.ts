import type { Clock } from '../../runtime/protocol/seams.ts';
import type { Part } from '../../runtime/protocol/task.ts';
import type { Turn } from './turn.ts';
import { partsOf } from './turn-output.ts';

/** How long a chunk is held back, so that the last one can be said to be the last. */
const HELD_MS = 10;
/** What is said when only the end itself is left to be said. */
const NOTHING_MORE: Part[] = [{ text: '' }];

/**
 * Shows what a stream gives as one artifact, chunk by chunk, each as it comes; slow writes slow the stream. A stream that
 * gives nothing makes no artifact.
 */
export async function showStream(
  turn: Turn,
  chunks: AsyncIterable<unknown>,
  { artifactId, name, clock }: { readonly artifactId: string; readonly name: string; readonly clock: Clock },
): Promise<void> {
  let held: Part[] | undefined;
  let shown = 0;
  const show = (parts: Part[], lastChunk: boolean): void => {
    turn.artifact({ artifactId, name, parts }, { append: shown > 0, lastChunk });
    shown += 1;
    held = undefined;
  };
  const reading = chunks[Symbol.asyncIterator]();
  try {
    for (;;) {
      const next = reading.next();
      if (held !== undefined && !(await isSoon(clock, next))) show(held, false);
      const { done, value } = await next;
      if (done === true) break;
      if (held !== undefined) show(held, false);
      held = partsOf(value);
      await turn.whenKept();
    }
  } catch (error) {
    // What it gave before is shown.
    if (held !== undefined) show(held, false);
    throw error;
  } finally {
    await reading.return?.();
  }
  if (held !== undefined || shown > 0) show(held ?? NOTHING_MORE, true);
}

function isSoon(clock: Clock, next: Promise<unknown>): Promise<boolean> {
  return new Promise((resolve) => {
    const stop = clock.setTimer(HELD_MS, () => resolve(false));
    const done = (): void => {
      stop();
      resolve(true);
    };
    next.then(done, done);
  });
}
