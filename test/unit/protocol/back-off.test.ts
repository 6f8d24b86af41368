import { describe, expect, it } from 'vitest';
import { BackOff } from '../../../runtime/protocol/back-off.ts';
import { backOffMs } from '../../../runtime/protocol/back-off-ms.ts';

const backOff = BackOff.parse({});
const none = (): number => 0;

describe('back-off', () => {
  it('restarts at once the first time', () => {
    expect(backOffMs(backOff, 0, none)).toBe(0);
  });

  it('doubles from a tenth of a second to ten seconds', () => {
    const waits = [1, 2, 3, 7, 8, 9].map((consecutive) => backOffMs(backOff, consecutive, none));
    expect(waits).toEqual([100, 200, 400, 6_400, 10_000, 10_000]);
  });

  it('takes up to half of the wait away by chance', () => {
    expect(backOffMs(backOff, 2, () => 0.999_999)).toBeCloseTo(100, 2);
  });

  it('stays finite after any number of restarts', () => {
    expect(backOffMs(backOff, 1e9, none)).toBe(10_000);
  });
});
