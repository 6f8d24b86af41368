import { describe, expect, it } from 'vitest';
import { busynessOf, requireQuiet, type Sight, timesIn } from '../../../bench/machine/busyness.ts';

const start: Sight = { atMs: 0, times: { busyMs: 5_000, idleMs: 9_000, stealMs: 100 }, ownCpuMs: 50 };

/** After a second and a half of two cores, in which so much was taken. */
const later = (busyMs: number, { stealMs = 0, ownMs = 0 } = {}): Sight => ({
  atMs: 1_500,
  times: { busyMs: 5_000 + busyMs, idleMs: 9_000 + 3_000 - busyMs - stealMs, stealMs: 100 + stealMs },
  ownCpuMs: 50 + ownMs,
});

describe('busynessOf', () => {
  it('is quiet where others take next to nothing', () => {
    expect(busynessOf(start, later(60), 0.4, 2)).toEqual({
      watchedMs: 1_500,
      othersShare: 0.02,
      stealShare: 0,
      load: 0.4,
      isQuiet: true,
      reasons: [],
    });
  });

  it('does not count what this process takes itself', () => {
    const { othersShare, isQuiet } = busynessOf(start, later(300, { ownMs: 300 }), 0, 2);
    expect({ othersShare, isQuiet }).toEqual({ othersShare: 0, isQuiet: true });
  });

  it('says what others take', () => {
    expect(busynessOf(start, later(1_500), 0, 2)).toMatchObject({
      isQuiet: false,
      reasons: ['other processes take 50 % of all cores'],
    });
  });

  it('says what the hypervisor takes', () => {
    expect(busynessOf(start, later(0, { stealMs: 60 }), 0, 2).reasons).toEqual([
      'the hypervisor takes 2.0 % of all cores',
    ]);
  });

  it('says that it was busy a moment ago, by the cores that there are', () => {
    expect(busynessOf(start, later(0), 1.4, 2).reasons).toEqual(['the load of the last minute was 1.4']);
    expect(busynessOf(start, later(0), 1.4, 8).isQuiet).toBe(true);
  });
});

describe('requireQuiet', () => {
  it('refuses a busy machine with its reasons, and no quiet one', () => {
    expect(() => requireQuiet(busynessOf(start, later(1_500), 3, 2))).toThrow(
      expect.objectContaining({
        code: 'MACHINE_BUSY',
        message:
          'The machine is not quiet: other processes take 50 % of all cores; the load of the last minute was 3.0',
      }),
    );
    expect(() => requireQuiet(busynessOf(start, later(0), 0, 2))).not.toThrow();
  });
});

describe('timesIn', () => {
  it('takes the first line of /proc/stat, without guests', () => {
    const stat = 'cpu  10 2 3 40 5 6 7 8 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n';
    expect(timesIn(stat)).toEqual({ busyMs: 280, idleMs: 450, stealMs: 80 });
  });
});
