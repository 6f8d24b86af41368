import { describe, expect, it } from 'vitest';
import { Fifo } from '../../../runtime/mailbox/fifo.ts';

describe('the queue', () => {
  it('gives back what came first', () => {
    const fifo = new Fifo<string>();
    for (const item of ['a', 'b', 'c']) fifo.push(item);
    expect([fifo.peek(), fifo.shift(), fifo.shift(), fifo.shift(), fifo.shift()]).toEqual([
      'a',
      'a',
      'b',
      'c',
      undefined,
    ]);
  });

  it('takes an item out of the middle', () => {
    const fifo = new Fifo<number>();
    for (let item = 0; item < 5; item++) fifo.push(item);
    expect(fifo.removeAt(2)).toBe(2);
    expect(fifo.removeAt(4)).toBeUndefined();
    expect([fifo.length, fifo.at(0), fifo.at(2), fifo.at(3), fifo.at(4), fifo.at(-1)]).toEqual([
      4,
      0,
      3,
      4,
      undefined,
      undefined,
    ]);
  });

  it('does not keep what it gave back', () => {
    const fifo = new Fifo<object>();
    fifo.push({});
    fifo.shift();
    expect(fifo.peek()).toBeUndefined();
    fifo.push({});
    fifo.clear();
    expect([fifo.length, fifo.peek()]).toEqual([0, undefined]);
  });
});
