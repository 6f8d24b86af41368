import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { copyJson } from '../../runtime/protocol/json.ts';

/** All objects and lists of a value. */
function partsOf(value: unknown): object[] {
  if (typeof value !== 'object' || value === null) return [];
  return [value, ...Object.values(value).flatMap(partsOf)];
}

describe('A copy of what JSON can carry', () => {
  it('is the same, and shares no part with the original', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const copy = copyJson(value);
        expect(copy).toEqual(structuredClone(value));
        const parts = new Set(partsOf(value));
        expect(partsOf(copy).some((part) => parts.has(part))).toBe(false);
      }),
      { numRuns: 300 },
    );
  });

  it('has a field named __proto__ as a field, and inherits nothing from it', () => {
    const copy = copyJson(JSON.parse('{"__proto__":{"isAdmin":true},"a":[{"__proto__":1}]}')) as object;
    expect(JSON.stringify(copy)).toBe('{"__proto__":{"isAdmin":true},"a":[{"__proto__":1}]}');
    expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
    expect('isAdmin' in copy).toBe(false);
  });
});
