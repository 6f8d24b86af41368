import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { EventRing } from '../../runtime/observe/event-ring.ts';

describe('the event ring', () => {
  it('keeps exactly the last items, and counts every other as dropped', () => {
    fc.assert(
      fc.property(fc.array(fc.integer()), fc.integer({ min: 1, max: 12 }), (items, capacity) => {
        const ring = new EventRing<number>(capacity);
        for (const item of items) ring.push(item);
        expect(ring.toArray()).toEqual(items.slice(-capacity));
        expect(ring.dropped).toBe(Math.max(0, items.length - capacity));
      }),
    );
  });
});
