import { describe, expect, it } from 'vitest';
import { recordRestart } from '../../../runtime/supervision/decide-restart.ts';
import { RestartIntensity } from '../../../runtime/supervision/supervisor-options.ts';

const intensity = RestartIntensity.parse({});

describe('restart intensity', () => {
  it('allows three restarts in a minute by default', () => {
    expect(intensity).toEqual({ maxRestarts: 3, withinMs: 60_000 });
  });

  it('is exceeded by the fourth restart inside the window', () => {
    expect(recordRestart([2_000, 1_000], 3_000, intensity).exceeded).toBe(false);
    expect(recordRestart([3_000, 2_000, 1_000], 4_000, intensity).exceeded).toBe(true);
  });

  it('forgets restarts that the window has left behind', () => {
    const { restarts, exceeded } = recordRestart([3_000, 2_000, 1_000], 62_500, intensity);
    expect(restarts).toEqual([62_500, 3_000]);
    expect(exceeded).toBe(false);
  });

  it('counts a restart exactly as old as the window', () => {
    expect(recordRestart([1_000], 61_000, intensity).restarts).toEqual([61_000, 1_000]);
  });

  it('makes the first death the last when no restart is allowed', () => {
    expect(recordRestart([], 0, { maxRestarts: 0, withinMs: 1 }).exceeded).toBe(true);
  });
});
