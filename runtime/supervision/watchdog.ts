import type { Seams } from '../protocol/seams.ts';
import type { WatchdogLimits } from './supervisor-options.ts';

/** How long a thread gave no sign of life, and the processor time that it used meanwhile; undefined if it did not answer. */
export interface Stall {
  readonly stalledMs: number;
  readonly cpuMs: number | undefined;
}

/**
 * - `sample`    asks for a thread's beat and CPU time. It may reject, or never answer: a dead worker does not, and one in a long
 *               native call answers only afterwards.
 * - `onLoop`    called once for each stall of a thread that loops.
 * - `onStarved` called once for each stall of a thread that is starved, and again every `hangMs` of it.
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
  /** The sample that is asked for and has not arrived, if any; there is never more than one. */
  asked: { readonly atMs: number } | undefined;
  isLoopReported: boolean;
  starvedReportedAtMs: number | undefined;
  cancelTimer: () => void;
}

/** Finds threads that loop or hang, by their beat and the CPU time that they use. It reports them; it ends nothing. */
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

  /** The interval, or less if a stall becomes long enough to report before that. */
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
      // An answer that comes after we asked again, or stopped watching, is too old.
      if (watched.asked !== asked || this.#watched.get(watched.place) !== watched) return;
      watched.asked = undefined;
      if (sample !== undefined) this.#judge(watched, sample);
    };
    const sample = this.#sampleOf(watched.place);
    if (sample instanceof Promise) void sample.then(answer, () => answer(undefined));
    else answer(sample);
  }

  /** Asks for a sample; one that fails is asked for again. The thread's end is noticed by its starter. */
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
 * The state of a thread at one moment.
 *
 * - `atMs`  when both values were there, by the monotonic clock.
 * - `beat`  a number in shared memory. A timer of the thread changes it several times within `stallMs`, idle or not; it is 0 until
 *           the thread has got that far. Read it after `cpuMs`: an older beat beside a newer CPU time looks like a loop.
 * - `cpuMs` user and system time that this thread has used so far.
 */
export interface BeatSample {
  readonly atMs: number;
  readonly beat: number;
  readonly cpuMs: number;
}

/** `looping`: computes and never returns to its event loop. `starved`: waits in a system call, or gets no processor. */
type BeatVerdict = 'alive' | 'looping' | 'starved';

/**
 * Judges a thread by its last sign of life and a later sample.
 *
 * `previous` is the first sample with its beat, not the last one: else no loop would ever last long enough. A thread loops if its
 * beat stands still for more than `stallMs`, and it used the processor for half of that time. On a machine too busy to give it
 * half, it loops if it used `stallMs` of processor time altogether. A thread that has not begun to beat is not judged: on a busy
 * machine it may take that long to start.
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
