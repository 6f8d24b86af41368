/**
 * What is known of a thread at one moment.
 *
 * - `atMs`  when both answers were there, by the monotonic clock.
 * - `beat`  a number in shared memory that a timer of the thread changes, idle or not, several times a stall; 0 until
 *           the thread has got that far. Read it after `cpuMs` was answered: an older beat beside a newer CPU time
 *           looks like a loop.
 * - `cpuMs` user and system time that this thread has used so far.
 */
export interface BeatSample {
  readonly atMs: number;
  readonly beat: number;
  readonly cpuMs: number;
}

/** `alive`; `looping`: computes and does not come back; `starved`: waits in a system call, or gets no processor. */
export type BeatVerdict = 'alive' | 'looping' | 'starved';

/**
 * Judges a thread by its last sign of life and a later sample.
 *
 * `previous` is the first sample with the beat it has: not the last one taken, or a loop would never grow old. A thread
 * loops if its beat stands still for more than `stallMs` while it used the processor for half of that time; or, on a
 * machine too busy to give it half, for `stallMs` altogether. A thread that has not begun to beat is not judged: on a
 * busy machine it may take that long to start.
 */
export function judgeBeat(
  previous: BeatSample,
  sample: BeatSample,
  { stallMs }: { readonly stallMs: number },
): BeatVerdict {
  const elapsedMs = sample.atMs - previous.atMs;
  if (sample.beat === 0 || sample.beat !== previous.beat || elapsedMs <= stallMs) return 'alive';
  const usedMs = sample.cpuMs - previous.cpuMs;
  return usedMs >= Math.min(elapsedMs / 2, stallMs) ? 'looping' : 'starved';
}
