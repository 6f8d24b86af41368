import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LATENCY_BOUNDS_MS, LATENCY_BUCKETS, latencyBucket } from '../../../runtime/observe/latency.ts';

describe('The bucket of a latency', () => {
  it('is the first whose bound it does not pass', () => {
    fc.assert(
      fc.property(fc.double({ min: 0, max: 200_000, noNaN: true }), (ms) => {
        const at = LATENCY_BOUNDS_MS.findIndex((bound) => ms <= bound);
        expect(latencyBucket(ms)).toBe(at < 0 ? LATENCY_BUCKETS - 1 : at);
      }),
    );
  });

  it('has its own bound in it', () => {
    expect(LATENCY_BOUNDS_MS.map(latencyBucket)).toEqual([0, 1, 2, 3, 4, 5, 6, 7, 8]);
    expect(LATENCY_BOUNDS_MS.map((bound) => latencyBucket(bound + 1))).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  });
});
