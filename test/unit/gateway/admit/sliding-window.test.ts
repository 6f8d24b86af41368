import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { slidingWindow } from '../../../../gateway/admit/sliding-window.ts';
import { ANONYMOUS } from '../../../../runtime/protocol/principal.ts';
import { edgeRequest } from '../../../fixtures/edge-request.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const request = edgeRequest();

describe('The rate limit of a principal (X-22, X-23)', () => {
  it('lets in exactly as many as any window holds, and says exactly when the next one is', async () => {
    const arbSteps = fc.array(fc.record({ waitMs: fc.nat(40), who: fc.constantFrom('a', 'b') }), {
      maxLength: 120,
      size: 'max',
    });
    await fc.assert(
      fc.property(arbSteps, fc.integer({ min: 1, max: 5 }), (steps, requests) => {
        const clock = new FakeClock();
        const windowMs = 100;
        const rule = slidingWindow({ requests, windowMs }, { clock });
        const admitted = new Map<string, number[]>();
        for (const { waitMs, who } of steps) {
          clock.advance(waitMs);
          const nowMs = clock.monotonicMs();
          const times = (admitted.get(who) ?? []).filter((time) => time > nowMs - windowMs);
          const verdict = rule.admit({ ...ANONYMOUS, id: who }, request);
          if (times.length < requests) {
            expect(verdict).toBeUndefined();
            times.push(nowMs);
          } else
            expect(verdict).toMatchObject({
              code: 'RATE_LIMITED',
              retryAfterMs: (times[0] ?? 0) + windowMs - nowMs,
            });
          admitted.set(who, times);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is 20 in a minute, of all who are anonymous together', () => {
    const clock = new FakeClock();
    const rule = slidingWindow({}, { clock });
    for (let n = 0; n < 20; n++) expect(rule.admit(ANONYMOUS, request)).toBeUndefined();
    expect(rule.admit(ANONYMOUS, request)).toMatchObject({ retryAfterMs: 60_000 });
    expect(rule.admit({ ...ANONYMOUS, id: 'xpr:alice' }, request)).toBeUndefined();
    clock.advance(60_000);
    expect(rule.admit(ANONYMOUS, request)).toBeUndefined();
  });

  it.each([[{ requests: 0 }], [{ requests: 1.5 }], [{ windowMs: -1 }]])('is not %j', (options) => {
    expect(() => slidingWindow(options, { clock: new FakeClock() })).toThrow('slidingWindow.');
  });

  it('needs a clock', () => {
    expect(() => slidingWindow({}, undefined as never)).toThrow(
      'slidingWindow.clock is undefined, expected a clock',
    );
  });
});
