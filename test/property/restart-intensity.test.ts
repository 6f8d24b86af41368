import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { BackOff } from '../../runtime/protocol/back-off.ts';
import { backOffMs } from '../../runtime/protocol/back-off-ms.ts';
import { recordRestart } from '../../runtime/supervision/decide-restart.ts';

const intensity = fc.record({
  maxRestarts: fc.nat(6),
  withinMs: fc.integer({ min: 1, max: 10_000 }),
});

describe('restart intensity', () => {
  it('is exceeded exactly when more restarts than allowed lie within one window', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(4_000)), intensity, (gaps, options) => {
        let restarts: readonly number[] = [];
        const all: number[] = [];
        let nowMs = 0;
        for (const gap of gaps) {
          nowMs += gap;
          all.push(nowMs);
          const before = [...restarts];
          const next = recordRestart(restarts, nowMs, options);
          expect(restarts).toEqual(before);
          const inWindow = all.filter((at) => at >= nowMs - options.withinMs);
          expect(next.exceeded).toBe(inWindow.length > options.maxRestarts);
          expect([...next.restarts].reverse()).toEqual(inWindow);
          restarts = next.restarts;
        }
      }),
    );
  });
});

describe('back-off', () => {
  it('lies between the jittered and the full wait, grows with the row, and never exceeds its limit', () => {
    const options = fc.record({
      firstMs: fc.integer({ min: 1, max: 1_000 }),
      maxMs: fc.integer({ min: 1, max: 100_000 }),
      factor: fc.double({ min: 1, max: 5, noNaN: true }),
      jitter: fc.double({ min: 0, max: 1, noNaN: true }),
    });
    const chance = fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true });
    fc.assert(
      fc.property(options, fc.nat(2_000), chance, (given, consecutive, random) => {
        const backOff = BackOff.parse(given);
        const full = backOffMs(backOff, consecutive, () => 0);
        const wait = backOffMs(backOff, consecutive, () => random);
        expect(full).toBeLessThanOrEqual(backOff.maxMs);
        expect(wait).toBeLessThanOrEqual(full);
        expect(wait).toBeGreaterThanOrEqual(full * (1 - backOff.jitter) - 1e-9);
        expect(backOffMs(backOff, consecutive + 1, () => 0)).toBeGreaterThanOrEqual(full);
      }),
    );
  });
});
