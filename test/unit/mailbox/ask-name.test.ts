import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { askGeneration, askName, askSlot, LAST_GENERATION, NO_ASK } from '../../../runtime/mailbox/mail.ts';

const LAST_SLOT = 2 ** 20 - 1;
const slot = fc.oneof(fc.integer({ min: 0, max: LAST_SLOT }), fc.constantFrom(0, LAST_SLOT));
const generation = fc.oneof(
  fc.integer({ min: 0, max: LAST_GENERATION }),
  fc.constantFrom(0, 1, 2 ** 11, 2 ** 12, 2 ** 20, LAST_GENERATION, LAST_GENERATION + 1),
);

describe('the name of an ask', () => {
  it('gives back its slot and its generation, in JSON too', () => {
    fc.assert(
      fc.property(slot, generation, (one, of) => {
        const ask = JSON.parse(JSON.stringify(askName(one, of))) as number;
        expect(Number.isSafeInteger(ask)).toBe(true);
        expect([askSlot(ask), askGeneration(ask)]).toEqual([one, of]);
      }),
      { numRuns: 500 },
    );
  });

  it('is another for each slot and generation, and never that of no ask', () => {
    fc.assert(
      fc.property(fc.uniqueArray(fc.tuple(slot, generation), { selector: String }), (pairs) => {
        const asks = pairs.map(([one, of]) => askName(one, of));
        expect(new Set(asks).size).toBe(pairs.length);
        expect(asks).not.toContain(NO_ASK);
      }),
    );
  });

  it('says of no ask that it is none, whatever generation is written beside it', () => {
    expect(askName(askSlot(NO_ASK), askGeneration(NO_ASK))).toBe(NO_ASK);
    expect(askName(askSlot(NO_ASK), LAST_GENERATION)).toBe(NO_ASK);
  });
});
