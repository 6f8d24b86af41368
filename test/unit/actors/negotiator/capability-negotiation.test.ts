import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type CapabilityNegotiation,
  readNegotiation,
  readNegotiationResponse,
} from '../../../../actors/negotiator/capability-negotiation.ts';
import { matchCapabilities } from '../../../../actors/negotiator/capability-handlers.ts';
import { commonSchemas, parseSchemaId } from '../../../../actors/negotiator/capability-handlers.ts';

const request = (fields: Partial<CapabilityNegotiation>): CapabilityNegotiation => readNegotiation(fields);

describe('A capability negotiation (M-08, M-09, M-10)', () => {
  it('parts what is needed into what is there and what is not, and names others', () => {
    const answer = matchCapabilities(
      request({ i_need: ['a', 'b', 'c', 'a'] }),
      { capabilities: ['a', 'x'] },
      (id) => (id === 'b' ? { amid: 'mars', display_name: 'MARS', reason: 'it offers b' } : undefined),
    );
    expect(answer).toEqual({
      type: 'capability_negotiation_response',
      matched: ['a'],
      unavailable: ['b', 'c'],
      suggested_alternative: { b: { amid: 'mars', display_name: 'MARS', reason: 'it offers b' } },
      agreed_schemas: [],
    });
  });

  it('matches and leaves unavailable every need once, whatever is asked', () => {
    const ids = fc.array(fc.constantFrom<string[]>('a', 'b', 'c', '__proto__', 'constructor'));
    fc.assert(
      fc.property(ids, ids, (i_need, capabilities) => {
        const { matched, unavailable } = matchCapabilities(request({ i_need }), { capabilities });
        expect([...matched, ...unavailable].sort()).toEqual([...new Set(i_need)].sort());
        expect(matched.every((id) => capabilities.includes(id))).toBe(true);
        expect(unavailable.some((id) => capabilities.includes(id))).toBe(false);
      }),
      { numRuns: 200 },
    );
  });

  it('agrees on the first wanted language and payment that both have', () => {
    const offer = { capabilities: [], languages: ['de-AT', 'EN'], paymentMethods: ['escrow', 'card'] };
    const agreed = (languages: string[], payment_methods: string[] = []) => {
      const answer = matchCapabilities(request({ languages, payment_methods }), offer);
      return [answer.agreed_language, answer.agreed_payment_method];
    };
    expect(agreed(['fr', 'en', 'de-AT'], ['cash', 'Card', 'escrow'])).toEqual(['en', 'Card']);
    expect(agreed(['fr', 'de-CH'])).toEqual(['de-AT', undefined]);
    expect(agreed(['fr'], ['cash'])).toEqual([undefined, undefined]);
  });
});

describe('Schemas of both sides (C-12)', () => {
  it('are agreed upon in the highest version in common, in the order of whoever asks', () => {
    const ours = ['m/flight/v1', 'm/flight/v10', 'm/flight/v2', 'x-corp/bid/v3', 'plain', 'm/hotel/v1'];
    const theirs = ['x-corp/bid/v3', 'm/flight/v2', 'm/flight/v1', 'm/hotel/v2', 'plain', 'm/flight/v9'];
    expect(commonSchemas(ours, theirs)).toEqual(['m/flight/v2', 'x-corp/bid/v3', 'plain']);
    const answer = matchCapabilities(request({ preferred_schemas: ours }), {
      capabilities: [],
      schemas: theirs,
    });
    expect(answer).toMatchObject({
      agreed_schema: 'm/flight/v2',
      agreed_schemas: ['m/flight/v2', 'x-corp/bid/v3', 'plain'],
    });
  });

  it('compares versions as numbers, and none that only one side has', () => {
    const versions = fc.uniqueArray(fc.integer({ min: 1, max: 30 }), { maxLength: 10 });
    const idOf = (version: number): string => `agentmesh/travel/flight-search/v${version}`;
    fc.assert(
      fc.property(versions, versions, (ours, theirs) => {
        const common = ours.filter((one) => theirs.includes(one));
        const expected = common.length === 0 ? [] : [idOf(Math.max(...common))];
        expect(commonSchemas(ours.map(idOf), theirs.map(idOf))).toEqual(expected);
      }),
      { numRuns: 200 },
    );
  });

  it('are named with a version or without', () => {
    expect(parseSchemaId('x-corp/bid/v12')).toEqual({ name: 'x-corp/bid', version: 12 });
    for (const id of ['plain', 'a/b/v', 'a/b/vx', '/v1']) expect(parseSchemaId(id)).toBe(undefined);
  });
});

describe('The spelling of a capability negotiation (C-12, C-18)', () => {
  it('may be either one', () => {
    const snake = {
      i_need: ['a'],
      i_offer: ['b'],
      preferred_schemas: ['s/v1'],
      payment_methods: ['card'],
      languages: ['en'],
    };
    const camel = {
      iNeed: ['a'],
      iOffer: ['b'],
      preferredSchemas: ['s/v1'],
      paymentMethods: ['card'],
      languages: ['en'],
    };
    expect(readNegotiation(camel)).toEqual(readNegotiation(snake));
    expect(readNegotiation(snake)).toMatchObject(snake);
    const agent = { amid: 'mars', display_name: 'MARS', reason: 'it can' };
    const answer = { matched: [], unavailable: ['doThis.now'], agreed_schema: 's/v1' };
    for (const suggested of [
      { suggested_alternative: { 'doThis.now': agent } },
      { suggested_alternatives: { 'doThis.now': agent } },
      { suggestedAlternatives: { 'doThis.now': { amid: 'mars', displayName: 'MARS', reason: 'it can' } } },
    ]) {
      expect(readNegotiationResponse({ ...answer, ...suggested })).toMatchObject({
        suggested_alternative: { 'doThis.now': agent },
        agreed_schema: 's/v1',
      });
    }
  });

  it('is refused where it says something else, naming field and fault', () => {
    for (const [payload, field] of [
      [{ iNeed: 'a' }, 'i_need'],
      [{ languages: [1] }, 'languages[0]'],
      [null, 'it is null'],
      [{ type: 'request' }, 'type'],
    ] as const) {
      expect(() => readNegotiation(payload)).toThrow(field);
    }
    expect(() => readNegotiationResponse({ suggested_alternative: { a: { amid: 1 } } })).toThrow(
      'suggested_alternative.a.amid',
    );
  });
});
