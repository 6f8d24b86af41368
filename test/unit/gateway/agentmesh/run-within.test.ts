import { describe, expect, it } from 'vitest';
import { runWithin } from '../../../../gateway/agentmesh/run-within.ts';

const endless = (): never => {
  for (;;);
};

describe('runWithin', () => {
  it('gives back what the code does, and throws what it throws', () => {
    expect(runWithin(1_000, () => 42)).toBe(42);
    const error = new TypeError('no');
    expect(() =>
      runWithin(1_000, () => {
        throw error;
      }),
    ).toThrow(error);
  });

  it('ends a loop, and a pattern that has no end', () => {
    expect(() => runWithin(20, endless)).toThrow(/timed out/);
    expect(() => runWithin(20, () => /^(a+)+$/.test(`${'a'.repeat(50)}b`))).toThrow(/timed out/);
    expect(runWithin(1_000, () => 'works again')).toBe('works again');
  });

  it('begins again where the machine did something else, and not without an end', () => {
    let attempts = 0;
    const idle = (): number => 0;
    const twiceSlow = (): string => {
      attempts++;
      return attempts < 3 ? endless() : 'done';
    };
    expect(runWithin(20, twiceSlow, idle)).toBe('done');
    // The third may have been cut, too, when the machine did something else.
    expect(attempts).toBeGreaterThanOrEqual(3);
    // The time may be over before the code has begun: what is counted is how often the machine was asked, before and after.
    let asked = 0;
    const counted = (): number => {
      asked++;
      return 0;
    };
    expect(() => runWithin(5, endless, counted)).toThrow(/timed out/);
    expect(asked).toBe(2 * 20);
  });

  it('does not begin again where the code itself took the time', () => {
    let attempts = 0;
    let spentMs = 0;
    const busy = (): number => spentMs;
    const slow = (): never => {
      attempts++;
      spentMs += 1_000;
      return endless();
    };
    expect(() => runWithin(20, slow, busy)).toThrow(/timed out/);
    expect(attempts).toBe(1);
  });
});
