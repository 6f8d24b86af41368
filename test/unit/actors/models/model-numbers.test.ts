import { describe, expect, it } from 'vitest';
import { amountIn, amountOf, costOf } from '../../../../actors/models/prices.ts';
import { retryAfterIn, waitMsAfter } from '../../../../actors/models/retry-after.ts';

describe('What tokens cost', () => {
  const prices = { inputPerMillion: 0.1, outputPerMillion: 0.4 };

  it('is counted in whole millionths of a dollar, rounded up', () => {
    expect(amountOf({ input: 10, output: 10 }, prices)).toEqual({ tokens: 20, micros: 5 });
    expect(amountOf({ input: 1, output: 0 }, prices)).toEqual({ tokens: 1, micros: 1 });
    // 0.1 * 3 is a little more than 0.3.
    expect(amountOf({ input: 30, output: 0 }, prices).micros).toBe(3);
    expect(costOf({ tokens: 7, micros: 5 })).toEqual({ tokens: 7, costUsd: 0.000005 });
  });

  it('is less for what is cached, where the price says so', () => {
    expect(amountOf({ input: 100, output: 0, cachedInput: 60 }, prices).micros).toBe(10);
    expect(
      amountOf({ input: 100, output: 0, cachedInput: 60 }, { ...prices, cachedInputPerMillion: 0 }).micros,
    ).toBe(4);
    expect(
      amountOf({ input: 10, output: 0, cachedInput: 60 }, { ...prices, cachedInputPerMillion: 0 }).micros,
    ).toBe(0);
  });

  it('is nothing in dollars without prices, and nothing limits what no budget names', () => {
    expect(amountOf({ input: 1, output: 1 }, undefined)).toEqual({ tokens: 2, micros: 0 });
    expect(amountIn({})).toEqual({ tokens: Infinity, micros: Infinity });
    expect(amountIn({ tokens: 5, costUsd: 0.29 })).toEqual({ tokens: 5, micros: 290_000 });
  });
});

describe('How long a provider wants to be left alone', () => {
  const nowMs = Date.UTC(2026, 0, 1, 12, 0, 0);

  it.each([
    [{ 'retry-after': '3' }, 3_000],
    [{ 'retry-after': '0.5' }, 500],
    [{ 'retry-after-ms': '25', 'retry-after': '3' }, 25],
    [{ 'retry-after': 'Thu, 01 Jan 2026 12:00:10 GMT' }, 10_000],
    [{ 'retry-after': 'Thu, 01 Jan 2026 11:00:00 GMT' }, 0],
    [{ 'retry-after': 'soon' }, undefined],
    [{}, undefined],
  ])('is read from %j as %s', (headers, expected) => {
    expect(retryAfterIn(headers as Record<string, string>, nowMs)).toBe(expected);
  });

  it('is never cut short, and a little longer by chance', () => {
    for (const chance of [0, 0.5, 0.999]) {
      const waitMs = waitMsAfter(1, 10_000, () => chance);
      expect(waitMs).toBeGreaterThanOrEqual(10_000);
      expect(waitMs).toBeLessThanOrEqual(11_000);
    }
  });

  it('doubles where nothing is said, half of it by chance, up to half a minute', () => {
    const wait = (attempt: number, chance: number) => waitMsAfter(attempt, undefined, () => chance);
    expect([wait(1, 0), wait(2, 0), wait(3, 0)]).toEqual([500, 1_000, 2_000]);
    expect(wait(1, 0.5)).toBe(375);
    expect(wait(50, 0.999)).toBeLessThanOrEqual(30_000);
  });
});
