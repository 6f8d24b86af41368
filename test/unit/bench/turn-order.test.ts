import { describe, expect, it } from 'vitest';
import { turnOrder } from '../../../bench/run/turn-order.ts';

describe('turnOrder', () => {
  it('has everybody once a round', () => {
    for (let round = 0; round < 12; round++) {
      expect([...turnOrder(5, round)].sort()).toEqual([0, 1, 2, 3, 4]);
    }
  });

  it('lets everybody be first, last, and after everybody else', () => {
    const orders = Array.from({ length: 12 }, (_, round) => turnOrder(3, round));
    expect(new Set(orders.map(([first]) => first))).toEqual(new Set([0, 1, 2]));
    expect(new Set(orders.map((order) => order.at(-1)))).toEqual(new Set([0, 1, 2]));
    const pairs = new Set(
      orders.flatMap((order) => order.slice(1).map((turn, at) => `${order[at]} ${turn}`)),
    );
    expect(pairs.size).toBe(6);
  });

  it('is empty where nobody runs', () => {
    expect(turnOrder(0, 3)).toEqual([]);
  });
});
