import { describe, expect, it } from 'vitest';
import { type BeatSample, Watchdog } from '../../../runtime/supervision/watchdog.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import { WatchdogOptions } from '../../../runtime/supervision/supervisor-options.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

/** A thread in virtual time: beats every 50 ms until it does something else. */
class Thread {
  readonly #clock: FakeClock;
  #since: number;
  #doing: 'beats' | 'loops' | 'waits' = 'beats';
  #beat = 1;
  #cpuMs = 0;

  constructor(clock: FakeClock) {
    this.#clock = clock;
    this.#since = clock.monotonicMs();
  }

  now(doing: 'beats' | 'loops' | 'waits'): void {
    ({ beat: this.#beat, cpuMs: this.#cpuMs } = this.sample());
    this.#since = this.#clock.monotonicMs();
    this.#doing = doing;
  }

  sample(): BeatSample {
    const atMs = this.#clock.monotonicMs();
    const forMs = atMs - this.#since;
    const beat = this.#beat + (this.#doing === 'beats' ? Math.floor(forMs / 50) : 0);
    return { atMs, beat, cpuMs: this.#cpuMs + (this.#doing === 'loops' ? forMs : 0) };
  }
}

function watched(options: WatchdogOptions = {}) {
  const clock = new FakeClock();
  const thread = new Thread(clock);
  const reports: string[] = [];
  const team = {
    clock,
    thread,
    reports,
    asked: 0,
    answer: (): BeatSample | Promise<BeatSample> => Promise.resolve(thread.sample()),
    watchdog: undefined as unknown as Watchdog,
  };
  const at = () => Math.round(clock.monotonicMs());
  team.watchdog = new Watchdog(
    {
      seams: { clock },
      sample: () => {
        team.asked += 1;
        return team.answer();
      },
      onLoop: (place, { stalledMs }) =>
        reports.push(`${at()}: ${place} loops since ${Math.round(stalledMs)}`),
      onStarved: (place, { cpuMs }) =>
        reports.push(`${at()}: ${place} starves${cpuMs === undefined ? ', silent' : ''}`),
    },
    parseOptions(WatchdogOptions, options, 'watchdog'),
  );
  return team;
}

describe('the watchdog', () => {
  it('says nothing of a thread that beats', async () => {
    const { watchdog, clock, reports } = watched();
    watchdog.watch('worker-1');
    await clock.advanceAsync(60_000);
    expect(reports).toEqual([]);
  });

  it.each([0, 1, 30, 49, 50, 51, 77, 99])(
    'finds a loop that began %i ms after a sample within 600 ms, once',
    async (afterMs) => {
      const { watchdog, clock, thread, reports } = watched();
      watchdog.watch('worker-1');
      await clock.advanceAsync(1_000 + afterMs);
      thread.now('loops');
      await clock.advanceAsync(599 - 50);
      expect(reports).toHaveLength(1);
      expect(reports[0]).toMatch(/worker-1 loops since 40\d$/);
      await clock.advanceAsync(5_000);
      expect(reports).toHaveLength(1);
    },
  );

  it('reports a second loop of a thread that came back from the first', async () => {
    const { watchdog, clock, thread, reports } = watched();
    watchdog.watch('worker-1');
    for (const doing of ['loops', 'beats', 'loops'] as const) {
      thread.now(doing);
      await clock.advanceAsync(1_000);
    }
    expect(reports).toHaveLength(2);
  });

  it('reports a starved thread once a stall, and again when it hangs', async () => {
    const { watchdog, clock, thread, reports } = watched();
    watchdog.watch('worker-1');
    thread.now('waits');
    await clock.advanceAsync(9_000);
    expect(reports).toEqual(['401: worker-1 starves']);
    await clock.advanceAsync(3_000);
    expect(reports).toHaveLength(2);
  });

  it('calls a thread starved that does not answer, and asks one question at a time', async () => {
    const team = watched();
    team.watchdog.watch('worker-1');
    await team.clock.advanceAsync(1_000);
    const { asked } = team;
    team.answer = () => new Promise(() => undefined);
    await team.clock.advanceAsync(9_000);
    expect(team.reports).toEqual(['1501: worker-1 starves, silent']);
    expect(team.asked).toBe(asked + 1);
    await team.clock.advanceAsync(51_000);
    expect(team.asked).toBeLessThanOrEqual(asked + 7);
  });

  it('ignores an answer that comes after it has asked again', async () => {
    const team = watched();
    let answerLate: (sample: BeatSample) => void = () => undefined;
    team.watchdog.watch('worker-1');
    await team.clock.advanceAsync(1_000);
    team.answer = () => new Promise((resolve) => (answerLate = resolve));
    await team.clock.advanceAsync(150);
    const answerFirst = answerLate;
    team.answer = () => Promise.resolve(team.thread.sample());
    await team.clock.advanceAsync(12_000);
    answerFirst({ atMs: 99_000, beat: 1, cpuMs: 99_000 });
    await team.clock.advanceAsync(1_000);
    expect(team.reports.filter((report) => report.includes('loops'))).toEqual([]);
  });

  it('goes on asking when a question fails', async () => {
    const team = watched();
    team.answer = () => Promise.reject(new Error('not running'));
    team.watchdog.watch('worker-1');
    await team.clock.advanceAsync(500);
    team.answer = () => {
      throw new Error('gone');
    };
    await team.clock.advanceAsync(500);
    team.answer = () => team.thread.sample();
    team.thread.now('loops');
    await team.clock.advanceAsync(600);
    expect(team.reports).toEqual([expect.stringContaining('loops')]);
  });

  it('can end the watch from inside a report', async () => {
    const { watchdog, clock, thread, reports } = watched();
    const inner = new Watchdog(
      {
        seams: { clock },
        sample: () => thread.sample(),
        onLoop: (place) => {
          reports.push(place);
          inner.unwatch(place);
        },
        onStarved: () => undefined,
      },
      WatchdogOptions.parse({}),
    );
    inner.watch('worker-1');
    thread.now('loops');
    await clock.advanceAsync(5_000);
    expect(reports).toEqual(['worker-1']);
    expect(clock.pending).toBe(0);
    watchdog.close();
  });

  it('begins anew with a new thread at the same place', async () => {
    const { watchdog, clock, thread, reports } = watched();
    watchdog.watch('worker-1');
    thread.now('loops');
    await clock.advanceAsync(300);
    watchdog.watch('worker-1');
    await clock.advanceAsync(300);
    expect(reports).toEqual([]);
    expect(clock.pending).toBe(1);
  });

  it('has no timer left after it is closed', async () => {
    const { watchdog, clock } = watched();
    for (const place of ['worker-1', 'worker-2']) watchdog.watch(place);
    await clock.advanceAsync(1_000);
    expect(clock.pending).toBe(2);
    watchdog.close();
    expect(clock.pending).toBe(0);
  });

  it('refuses options that make no sense', () => {
    expect(() => watched({ stallMs: 0 })).toThrow(/watchdog.*stallMs/);
  });
});
