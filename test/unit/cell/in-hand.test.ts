import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Handling } from '../../../runtime/cell/handling.ts';
import { allInHand, takeInHand, takeOutOfHand, watchInHand } from '../../../runtime/cell/in-hand.ts';

class OneInHand {
  before: Handling | undefined;
  after: Handling | undefined;
  isWatched = false;

  watch(): void {
    this.isWatched = true;
  }
}

const newHandling = (): Handling => new OneInHand() as Partial<Handling> as Handling;

const steps = fc.array(
  fc.oneof(
    fc.constant({ does: 'take' as const }),
    fc.record({ does: fc.constant('let go' as const), at: fc.nat() }),
    fc.constant({ does: 'watch' as const }),
  ),
  { maxLength: 200 },
);

describe('What an agent has in hand', () => {
  it('is in the order in which it was begun, whatever ends first, and all of it is watched when it is to be', () => {
    fc.assert(
      fc.property(steps, (all) => {
        const model: Handling[] = [];
        let newest: Handling | undefined;
        for (const step of all) {
          if (step.does === 'take') {
            const handling = newHandling();
            model.push(handling);
            newest = takeInHand(newest, handling);
          } else if (step.does === 'watch') {
            watchInHand(newest);
            expect(model.every(({ isWatched }) => isWatched)).toBe(true);
          } else if (model.length > 0) {
            const [gone] = model.splice(step.at % model.length, 1) as [Handling];
            newest = takeOutOfHand(newest, gone);
            expect([gone.before, gone.after]).toEqual([undefined, undefined]);
          }
          const listed = allInHand(newest);
          expect(listed).toHaveLength(model.length);
          expect(listed.every((one, at) => one === model[at])).toBe(true);
        }
      }),
    );
  });
});
