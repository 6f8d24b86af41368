import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { trustRating, trustScore } from '../../../../../gateway/xpr/chain/trust.ts';
import { type TrustGateOptions, trustGate } from '../../../../../gateway/xpr/admit/trust-gate.ts';
import type { XprAgent } from '../../../../../gateway/xpr/chain/xpr-accounts.ts';
import { ANONYMOUS, type Principal } from '../../../../../runtime/protocol/principal.ts';
import { edgeRequest } from '../../../../fixtures/edge-request.ts';
import { FakeClock } from '../../../../fixtures/fake-clock.ts';

const MONTH_MS = 30 * 24 * 3_600_000;
const NOW = 100 * MONTH_MS;
const agent = (changes: Partial<XprAgent> = {}): XprAgent => ({
  account: 'alice',
  owner: 'owner',
  name: '',
  description: '',
  endpoint: '',
  protocol: '',
  capabilities: [],
  isActive: true,
  stake: 0,
  rating: 0,
  kycLevel: 0,
  registeredAtMs: NOW,
  ...changes,
});
const alice: Principal = { ...ANONYMOUS, id: 'xpr:alice', kind: 'agent' };
const request = edgeRequest();

describe('The trust score of an agent (X-49)', () => {
  it.each<[Partial<XprAgent>, number, string]>([
    [{}, 0, 'untrusted'],
    [{ kycLevel: 2 }, 20, 'low'],
    [{ kycLevel: 3, stake: 4_999 }, 39, 'low'],
    [{ kycLevel: 3, stake: 5_000 }, 40, 'medium'],
    [{ kycLevel: 3, stake: 50_000, rating: 2_500 }, 60, 'high'],
    [{ kycLevel: 3, stake: 50_000, rating: 7_499 }, 79, 'high'],
    [{ kycLevel: 3, stake: 50_000, rating: 7_500 }, 80, 'verified'],
    [{ registeredAtMs: NOW - 9.9 * MONTH_MS }, 9, 'untrusted'],
    [{ kycLevel: 3, stake: 1e9, rating: 10_000, registeredAtMs: 0 }, 100, 'verified'],
    [{ registeredAtMs: NOW + MONTH_MS, stake: -5 }, 0, 'untrusted'],
  ])('of %j is %i, %s', (changes, score, rating) => {
    expect(trustScore(agent(changes), NOW)).toBe(score);
    expect(trustRating(score)).toBe(rating);
  });

  it('lies between 0 and 100, and grows with everything', () => {
    const arbAgent = fc.record({
      kycLevel: fc.integer({ min: 0, max: 3 }),
      stake: fc.nat(1e6),
      rating: fc.nat(10_000),
      registeredAtMs: fc.integer({ min: 0, max: NOW }),
    });
    fc.assert(
      fc.property(arbAgent, arbAgent, (one, other) => {
        const better = {
          kycLevel: Math.max(one.kycLevel, other.kycLevel),
          stake: Math.max(one.stake, other.stake),
          rating: Math.max(one.rating, other.rating),
          registeredAtMs: Math.min(one.registeredAtMs, other.registeredAtMs),
        };
        const [low, high] = [trustScore(agent(one), NOW), trustScore(agent(better), NOW)];
        expect(low).toBeGreaterThanOrEqual(0);
        expect(high).toBeGreaterThanOrEqual(low);
        expect(high).toBeLessThanOrEqual(100);
      }),
      { numRuns: 300 },
    );
  });
});

describe('The trust gate', () => {
  const gate = (options: TrustGateOptions, known: XprAgent | undefined) => {
    const clock = new FakeClock(NOW);
    let asked = 0;
    const accounts = {
      agent: async () => {
        asked += 1;
        return known;
      },
    };
    return { clock, rule: trustGate(options, { clock, accounts }), asked: () => asked };
  };

  it.each<[string, TrustGateOptions, XprAgent | undefined, string | undefined]>([
    ['a registered, active agent', {}, agent(), undefined],
    ['who is not registered', {}, undefined, 'registered'],
    ['one that is not active', {}, agent({ isActive: false }), 'active'],
    ['one of too low a level', { minKycLevel: 2 }, agent({ kycLevel: 1 }), 'level 1, expected at least 2'],
    ['one of the level', { minKycLevel: 2 }, agent({ kycLevel: 2 }), undefined],
    [
      'one of too low a score',
      { minTrustScore: 21 },
      agent({ kycLevel: 2 }),
      'score is 20, expected at least 21',
    ],
    ['one of the score', { minTrustScore: 20 }, agent({ kycLevel: 2 }), undefined],
  ])('decides on %s (X-18, X-19, X-20)', async (_, options, known, why) => {
    const verdict = await gate(options, known).rule.admit(alice, request);
    if (why === undefined) expect(verdict).toBeUndefined();
    else expect(verdict).toMatchObject({ code: 'NOT_PERMITTED', reason: expect.stringContaining(why) });
  });

  it('lets in who is anonymous where nothing is asked for, and others than XPR accounts always', async () => {
    expect(await gate({}, undefined).rule.admit(ANONYMOUS, request)).toBeUndefined();
    for (const options of [{ minKycLevel: 1 }, { minTrustScore: 1 }])
      expect(await gate(options, undefined).rule.admit(ANONYMOUS, request)).toMatchObject({
        code: 'NOT_PERMITTED',
      });
    expect(
      await gate({ minTrustScore: 100 }, undefined).rule.admit({ ...alice, id: 'key:1' }, request),
    ).toBeUndefined();
  });

  it('asks about an account once in five minutes, however many come at once (X-21)', async () => {
    const { clock, rule, asked } = gate({}, agent());
    await Promise.all([rule.admit(alice, request), rule.admit(alice, request)]);
    clock.advance(299_999);
    await rule.admit(alice, request);
    expect(asked()).toBe(1);
    clock.advance(1);
    await rule.admit(alice, request);
    expect(asked()).toBe(2);
  });

  it.each([[{ minKycLevel: 4 }], [{ minTrustScore: -1 }], [{ ttlMs: 0 }]])(
    'is not set up with %j',
    (options) => {
      expect(() => gate(options, undefined)).toThrow('trustGate.');
    },
  );
});
