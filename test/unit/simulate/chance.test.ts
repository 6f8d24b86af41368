import { describe, expect, it } from 'vitest';
import { Chance } from '../../../runtime/simulate/chance.ts';

const draws = (chance: Chance, count = 1_000): number[] => Array.from({ length: count }, () => chance.next());

describe('Chance (F-03)', () => {
  it('is the same for the same seed and purpose, and another for another', () => {
    expect(draws(new Chance(7, 'a'))).toEqual(draws(new Chance(7, 'a')));
    expect(draws(new Chance(7, 'a'), 3)).not.toEqual(draws(new Chance(8, 'a'), 3));
    expect(draws(new Chance(7, 'a'), 3)).not.toEqual(draws(new Chance(7, 'b'), 3));
  });

  it('is spread over [0, 1)', () => {
    const drawn = draws(new Chance(1, 'spread'), 10_000);
    expect(Math.min(...drawn)).toBeGreaterThanOrEqual(0);
    expect(Math.max(...drawn)).toBeLessThan(1);
    for (let tenth = 0; tenth < 10; tenth++) {
      const share = drawn.filter((value) => Math.floor(value * 10) === tenth).length;
      expect(share).toBeGreaterThan(850);
      expect(share).toBeLessThan(1_150);
    }
  });

  it('draws nothing for what cannot happen, so that what is turned off changes nothing else', () => {
    const [one, other] = [new Chance(3, 'off'), new Chance(3, 'off')];
    expect(one.isTrue(0)).toBe(false);
    expect(one.next()).toBe(other.next());
  });
});
