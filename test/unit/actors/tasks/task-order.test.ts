import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { TouchOrder } from '../../../../actors/tasks/task-index.ts';

const arbStep = fc.record({ item: fc.nat(12), isRemoved: fc.boolean() });

describe('Items by when they were last touched', () => {
  it('come newest first, each once, and pages go on where the last one ended', () => {
    fc.assert(
      fc.property(
        fc.array(arbStep, { maxLength: 120, size: 'max' }),
        fc.integer({ min: 1, max: 5 }),
        (steps, pageSize) => {
          const order = new TouchOrder<number>();
          const model = new Map<number, number>();
          steps.forEach(({ item, isRemoved }, at) => {
            model.delete(item);
            if (isRemoved) order.remove(item);
            else {
              order.touch(item, at + 1);
              model.set(item, at + 1);
            }
            expect(order.size).toBe(model.size);
            expect(order.oldest()).toBe([...model.keys()][0]);
          });
          const expected = [...model.keys()].reverse();
          const found: number[] = [];
          for (let turn: number | undefined; ; ) {
            const page = [...order.before(turn)].slice(0, pageSize);
            found.push(...page.map(({ item }) => item));
            if (page.length < pageSize) break;
            turn = page.at(-1)?.turn;
          }
          expect(found).toEqual(expected);
        },
      ),
      { numRuns: 300 },
    );
  });

  it('show nothing twice and leave nothing out that is not touched while they are read', () => {
    const order = new TouchOrder<number>();
    for (let item = 0; item < 100; item++) order.touch(item, item + 1);
    const found: number[] = [];
    let turn: number | undefined;
    let touches = 100;
    for (;;) {
      const page = [...order.before(turn)].slice(0, 7);
      if (page.length === 0) break;
      found.push(...page.map(({ item }) => item));
      turn = page.at(-1)?.turn;
      // One that was shown, and one that was not, move to the front.
      order.touch(found[0] as number, ++touches);
      order.touch(found.length % 2, ++touches);
    }
    expect(new Set(found).size).toBe(found.length);
    for (let item = 2; item < 100; item++) expect(found).toContain(item);
  });
});
