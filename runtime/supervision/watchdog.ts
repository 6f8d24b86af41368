import type { Seams } from '../protocol/seams.ts';
import type { WatchdogLimits } from './supervisor-options.ts';

/** How long a thread gave no sign of life, and the processor time it used meanwhile: undefined if it did not answer. */
export interface Stall {
  readonly stalledMs: number;
  readonly cpuMs: number | undefined;
}

/**
 * - `sample`    asks a thread's beat and CPU time. It may reject, and may never answer: a dead worker does not, and one
 *               in a long native call only afterwards.
 * - `onLoop`    once a stall.
 * - `onStarved` once a stall, and again every `hangMs` of it.
 */
export interface WatchdogDeps {
  readonly seams: Pick<Seams, 'clock'>;
  sample(place: string): BeatSample | Promise<BeatSample>;
  onLoop(place: string, stall: Stall): void;
  onStarved(place: string, stall: Stall): void;
}

interface Watched {
  readonly place: string;
  /** The first sample that had the thread's present beat. */
  lastSign: BeatSample | undefined;
  /** The sample that is asked for and not here yet, if any: never more than one. */
  asked: { readonly atMs: number } | undefined;
  isLoopReported: boolean;
  starvedReportedAtMs: number | undefined;
  cancelTimer: () => void;
}

/** Finds threads that loop or hang, by facts: their beat and the CPU time they use. It reports; it ends nothing. */
export class Watchdog {
  readonly #deps: WatchdogDeps;
  readonly #options: WatchdogLimits;
  readonly #watched = new Map<string, Watched>();

  constructor(deps: WatchdogDeps, options: WatchdogLimits) {
    this.#deps = deps;
    this.#options = options;
  }

  /** Watches the thread that lives at `place` from now on; a new thread at the same place begins anew. */
  watch(place: string): void {
    this.unwatch(place);
    const watched: Watched = {
      place,
      lastSign: undefined,
      asked: undefined,
      isLoopReported: false,
      starvedReportedAtMs: undefined,
      cancelTimer: () => undefined,
    };
    this.#watched.set(place, watched);
    this.#round(watched);
  }

  unwatch(place: string): void {
    this.#watched.get(place)?.cancelTimer();
    this.#watched.delete(place);
  }

  close(): void {
    for (const { cancelTimer } of this.#watched.values()) cancelTimer();
    this.#watched.clear();
  }

  #round(watched: Watched): void {
    watched.cancelTimer = this.#deps.seams.clock.setTimer(this.#untilNextMs(watched), () =>
      this.#round(watched),
    );
    if (watched.asked === undefined) this.#ask(watched);
    else this.#judgeSilence(watched, watched.asked.atMs);
  }

  /** The interval, or less if a stall will be long enough before that. */
  #untilNextMs({ lastSign }: Watched): number {
    const { intervalMs, stallMs } = this.#options;
    if (lastSign === undefined) return intervalMs;
    const dueMs = lastSign.atMs + stallMs + 1 - this.#now();
    return dueMs > 0 ? Math.min(intervalMs, dueMs) : intervalMs;
  }

  #ask(watched: Watched): void {
    const asked = { atMs: this.#now() };
    watched.asked = asked;
    const answer = (sample: BeatSample | undefined): void => {
      // An answer that comes after we asked again, or stopped watching, is about another time.
      if (watched.asked !== asked || this.#watched.get(watched.place) !== watched) return;
      watched.asked = undefined;
      if (sample !== undefined) this.#judge(watched, sample);
    };
    const sample = this.#sampleOf(watched.place);
    if (sample instanceof Promise) void sample.then(answer, () => answer(undefined));
    else answer(sample);
  }

  /** A sample that fails is asked for again. Whoever started the thread notices its end. */
  #sampleOf(place: string): BeatSample | Promise<BeatSample> | undefined {
    try {
      return this.#deps.sample(place);
    } catch {
      return undefined;
    }
  }

  #judge(watched: Watched, sample: BeatSample): void {
    const { lastSign } = watched;
    if (lastSign === undefined || lastSign.beat !== sample.beat) {
      watched.lastSign = sample;
      watched.isLoopReported = false;
      watched.starvedReportedAtMs = undefined;
      return;
    }
    const verdict = judgeBeat(lastSign, sample, this.#options);
    const stall = { stalledMs: sample.atMs - lastSign.atMs, cpuMs: sample.cpuMs - lastSign.cpuMs };
    if (verdict === 'starved') this.#reportStarved(watched, stall);
    if (verdict !== 'looping' || watched.isLoopReported) return;
    watched.isLoopReported = true;
    this.#deps.onLoop(watched.place, stall);
  }

  /** A looping thread answers, so one that does not is in a native call, gets no processor, or is dead. */
  #judgeSilence(watched: Watched, askedAtMs: number): void {
    const { stallMs, hangMs } = this.#options;
    const silentMs = this.#now() - askedAtMs;
    if (silentMs <= stallMs) return;
    const stalledMs = this.#now() - (watched.lastSign?.atMs ?? askedAtMs);
    this.#reportStarved(watched, { stalledMs, cpuMs: undefined });
    if (silentMs > hangMs && this.#watched.get(watched.place) === watched) this.#ask(watched);
  }

  #reportStarved(watched: Watched, stall: Stall): void {
    const { starvedReportedAtMs } = watched;
    const nowMs = this.#now();
    if (watched.isLoopReported) return;
    if (starvedReportedAtMs !== undefined && nowMs - starvedReportedAtMs < this.#options.hangMs) return;
    watched.starvedReportedAtMs = nowMs;
    this.#deps.onStarved(watched.place, stall);
  }

  #now(): number {
    return this.#deps.seams.clock.monotonicMs();
  }
}

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
type BeatVerdict = 'alive' | 'looping' | 'starved';

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
