import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { estimateSize } from '../../../runtime/observe/estimate-size.ts';
import { arbJson } from '../../property/arbitraries/json.ts';

describe('estimateSize', () => {
  it.each([
    ['a text', 'x'.repeat(1_000_000)],
    ['bytes', new Uint8Array(1_000_000)],
    ['a text deep inside', { a: [{ b: { c: 'x'.repeat(1_000_000) } }] }],
    ['many texts', Array.from({ length: 10_000 }, () => 'x'.repeat(100))],
    ['a map', new Map(Array.from({ length: 1_000 }, (_, n) => [n, 'x'.repeat(1_000)]))],
    ['a set', new Set(Array.from({ length: 1_000 }, (_, n) => `${n}${'x'.repeat(1_000)}`))],
    [
      'many fields',
      Object.fromEntries(Array.from({ length: 1_000 }, (_, n) => [`f${n}`, 'x'.repeat(1_000)])),
    ],
  ])('finds about a million bytes in %s', (_, value) => {
    expect(estimateSize(value)).toBeGreaterThan(900_000);
    expect(estimateSize(value)).toBeLessThan(1_200_000);
  });

  it('is a finite number above 0 for whatever there is, circles included', () => {
    const circle: { self?: unknown } = {};
    circle.self = circle;
    for (const value of [circle, undefined, null, 1n, Symbol('x'), () => 1, [], {}, new Date(0)]) {
      expect(estimateSize(value)).toBeGreaterThan(0);
      expect(estimateSize(value)).toBeLessThan(100);
    }
    fc.assert(
      fc.property(arbJson(), (value) => {
        expect(estimateSize(value)).toBeGreaterThan(0);
        expect(estimateSize(value)).toBeLessThan(100_000);
      }),
    );
  });
});
