import { describe, expect, it } from 'vitest';
import { conservationOf, isAllSettled } from '../../../runtime/observe/conservation.ts';
import { COUNT, COUNTER_WORDS } from '../../../runtime/observe/thread-counters.ts';

function counts(accepted: number, handled: number, expired = 0): Float64Array {
  const words = new Float64Array(COUNTER_WORDS);
  words[COUNT.accepted] = accepted;
  words[COUNT.handled] = handled;
  words[COUNT.expired] = expired;
  return words;
}

describe('conservationOf (F-01)', () => {
  it('holds exactly where nothing moves', () => {
    const still = counts(10, 6, 1);
    expect(conservationOf(still, still, { inFlight: 3, left: 0 })).toMatchObject({
      accepted: 10,
      handled: 6,
      expired: 1,
      inFlight: 3,
      holds: true,
      isExact: true,
    });
    expect(conservationOf(still, still, { inFlight: 2, left: 0 })).toMatchObject({
      holds: false,
      isExact: false,
    });
    expect(conservationOf(still, still, { inFlight: 4, left: 0 })).toMatchObject({
      holds: false,
      isExact: false,
    });
  });

  it('holds up to what moved while it was counted', () => {
    const [before, after] = [counts(10, 6), counts(15, 9)];
    for (const inFlight of [1, 4, 6, 9])
      expect(conservationOf(before, after, { inFlight, left: 0 }).holds).toBe(true);
    for (const inFlight of [0, 10])
      expect(conservationOf(before, after, { inFlight, left: 0 }).holds).toBe(false);
    expect(conservationOf(before, after, { inFlight: 6, left: 0 }).isExact).toBe(true);
    expect(conservationOf(before, after, { inFlight: 5, left: 0 }).isExact).toBe(false);
  });
});

describe('isAllSettled', () => {
  it('is so when nothing was in flight before and nothing was sent since', () => {
    expect(isAllSettled(counts(7, 6, 1), counts(7, 6, 1))).toBe(true);
    expect(isAllSettled(counts(7, 6), counts(7, 7))).toBe(false);
    expect(isAllSettled(counts(7, 7), counts(8, 8))).toBe(false);
  });
});
