import { describe, expect, it } from 'vitest';
import { isWarm } from '../../../bench/run/warm-up.ts';

describe('isWarm', () => {
  it('is so when the time is over, and half of it was spent on the processor', () => {
    expect(isWarm({ wallMs: 2_499, cpuMs: 5_000 }, 2_500)).toBe(false);
    expect(isWarm({ wallMs: 2_500, cpuMs: 1_249 }, 2_500)).toBe(false);
    expect(isWarm({ wallMs: 2_500, cpuMs: 1_250 }, 2_500)).toBe(true);
  });

  it('is so after four times as long, whatever it got of the processor', () => {
    expect(isWarm({ wallMs: 9_999, cpuMs: 10 }, 2_500)).toBe(false);
    expect(isWarm({ wallMs: 10_000, cpuMs: 10 }, 2_500)).toBe(true);
  });
});
