import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { RecentReports } from '../../../runtime/cell/answered-ids.ts';

const MIB = 1024 * 1024;

describe('What is remembered of reports', () => {
  it('is the newest of them, a mebibyte at most, and how many came before', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 1, max: 600_000 }), { maxLength: 20 }), (sizes) => {
        const kept = new RecentReports();
        const all = sizes.map((size, at) => ({ at, text: 'ä'.repeat(size / 2) }));
        for (const one of all) kept.add(one);
        expect(kept.items).toEqual(all.slice(kept.dropped));
        const bytesFrom = (at: number) =>
          all.slice(at).reduce((sum, one) => sum + Buffer.byteLength(JSON.stringify(one)), 0);
        expect(bytesFrom(kept.dropped)).toBeLessThanOrEqual(MIB);
        if (kept.dropped > 0) expect(bytesFrom(kept.dropped - 1)).toBeGreaterThan(MIB);
      }),
      { numRuns: 100 },
    );
  });

  it('is nothing of one that is too much by itself, but that it was', () => {
    const kept = new RecentReports(3);
    kept.add('x'.repeat(MIB));
    expect([kept.items, kept.dropped]).toEqual([[], 4]);
  });
});
