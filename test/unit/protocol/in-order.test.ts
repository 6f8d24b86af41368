import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { InOrder } from '../../../runtime/protocol/promises.ts';

describe('Steps in order', () => {
  it('are taken in the order in which they were given, whatever each takes; none after one that fails', async () => {
    const arbStep = fc.record({ waits: fc.nat(5), fails: fc.boolean(), isNow: fc.boolean() });
    await fc.assert(
      fc.asyncProperty(fc.array(arbStep, { maxLength: 12 }), async (steps) => {
        const order = new InOrder();
        const taken: number[] = [];
        const asked = steps.map(({ fails, isNow }) => fails && !isNow);
        steps.forEach(({ waits, isNow }, at) => {
          if (isNow) order.addNow(() => void taken.push(at));
          else
            order.add(async () => {
              for (let turn = 0; turn < waits; turn++) await undefined;
              taken.push(at);
              if (asked[at] === true) throw new Error(`${at}`);
            });
        });
        const failsAt = asked.indexOf(true);
        const done = order.whenDone();
        if (failsAt === -1) await done;
        else await expect(done).rejects.toThrow(`${failsAt}`);
        const expected = steps.map((_, at) => at);
        expect(taken).toEqual(failsAt === -1 ? expected : expected.slice(0, failsAt + 1));
      }),
    );
  });

  it('that cannot wait are taken at once where none is before them', () => {
    const order = new InOrder();
    let isTaken = false;
    order.addNow(() => {
      isTaken = true;
    });
    expect(isTaken).toBe(true);
  });
});
