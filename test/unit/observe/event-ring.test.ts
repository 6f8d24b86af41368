import { describe, expect, it } from 'vitest';
import { EventRing } from '../../../runtime/observe/event-ring.ts';

describe('the event ring', () => {
  it('keeps the last items, oldest first, and counts the others', () => {
    const ring = new EventRing<number>(3);
    for (let item = 1; item <= 5; item++) ring.push(item);
    expect([ring.toArray(), ring.dropped]).toEqual([[3, 4, 5], 2]);
  });

  it('drops nothing until it is full', () => {
    const ring = new EventRing<number>(3);
    for (const item of [1, 2, 3]) ring.push(item);
    expect([ring.toArray(), ring.dropped]).toEqual([[1, 2, 3], 0]);
  });

  it.each([0, -1, 1.5])('refuses a capacity of %d', (capacity) => {
    expect(() => new EventRing(capacity)).toThrow(/eventRing.capacity/);
  });
});
