import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Fifo } from '../../runtime/mailbox/fifo.ts';

const operation = fc.oneof(
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('push' as const), times: fc.integer({ min: 1, max: 70 }) }),
  },
  {
    weight: 3,
    arbitrary: fc.record({ kind: fc.constant('shift' as const), times: fc.integer({ min: 1, max: 90 }) }),
  },
  {
    weight: 1,
    arbitrary: fc.record({ kind: fc.constant('unshift' as const), times: fc.integer({ min: 1, max: 9 }) }),
  },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('removeAt' as const), times: fc.nat(40) }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant('clear' as const), times: fc.constant(1) }) },
);

describe('the queue', () => {
  it('holds what an array would hold, through growing, wrapping and shrinking', () => {
    fc.assert(
      fc.property(fc.array(operation, { maxLength: 60, size: 'max' }), (operations) => {
        const fifo = new Fifo<number>();
        let model: number[] = [];
        let next = 0;
        for (const { kind, times } of operations) {
          if (kind === 'clear') {
            fifo.clear();
            model = [];
          } else if (kind === 'removeAt') {
            expect(fifo.removeAt(times)).toBe(model.splice(times, 1)[0]);
          } else {
            for (let time = 0; time < times; time++) {
              next += 1;
              if (kind === 'push') fifo.push(next);
              if (kind === 'unshift') fifo.unshift(next);
              if (kind === 'shift') expect(fifo.shift()).toBe(model[0]);
              model = { push: [...model, next], unshift: [next, ...model], shift: model.slice(1) }[kind];
            }
          }
          expect(fifo.length).toBe(model.length);
          expect(fifo.peek()).toBe(model[0]);
          expect(model.map((_, index) => fifo.at(index))).toEqual(model);
          expect(fifo.at(model.length)).toBeUndefined();
        }
      }),
    );
  });
});
