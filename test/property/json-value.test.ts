import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { FreshJson, FreshJsonFields, JsonFields, JsonValue } from '../../runtime/protocol/json-value.ts';

const arbNoJson = fc.constantFrom<unknown>(
  undefined,
  Number.NaN,
  Number.POSITIVE_INFINITY,
  1n,
  Symbol('s'),
  () => 1,
  new Date(0),
  new Map(),
);

describe('What JSON can say', () => {
  it('is what zod says it is, and a copy', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const read = JsonValue.parse(value);
        expect(read).toEqual(z.json().parse(value));
        if (typeof value === 'object' && value !== null) expect(read).not.toBe(value);
      }),
      { numRuns: 200 },
    );
  });

  it('is nothing else, wherever it stands', () => {
    fc.assert(
      fc.property(arbNoJson, fc.constantFrom('whole', 'item', 'field'), (value, where) => {
        const said = { whole: value, item: [1, [value]], field: { a: { b: value } } }[where];
        expect(JsonValue.safeParse(said).success).toBe(false);
        expect(z.json().safeParse(said).success).toBe(false);
      }),
      { numRuns: 100 },
    );
  });

  it('refuses circles, and makes nothing after what it names', () => {
    const circle: unknown[] = [];
    circle.push(circle);
    expect(JsonValue.safeParse(circle).success).toBe(false);
    const named = JsonValue.parse(JSON.parse('{"__proto__":{"isAdmin":true},"a":1}')) as object;
    expect(Object.getPrototypeOf(named)).toBe(Object.prototype);
    expect(named).toEqual({ a: 1 });
  });

  it("is looked through, not copied, where it is its reader's own; what is left out of a copy is left out", () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        const own = FreshJson.parse(value);
        expect(own).toEqual(JsonValue.parse(value));
        if (!JSON.stringify(value).includes('__proto__')) expect(own).toBe(value);
      }),
      { numRuns: 200 },
    );
    const named = FreshJson.parse(JSON.parse('[{"a":{"__proto__":{"isAdmin":true},"b":1}}]'));
    expect(named).toEqual([{ a: { b: 1 } }]);
    for (const value of [Number.POSITIVE_INFINITY, { a: [new Date(0)] }, () => 1])
      expect(FreshJson.safeParse(value).success).toBe(false);
  });

  it('is copied as it is, also where it has many fields', () => {
    const fields = fc.array(fc.tuple(fc.string(), fc.jsonValue()), { minLength: 20, maxLength: 60 });
    fc.assert(
      fc.property(fields, (entries) => {
        const value = Object.fromEntries(entries);
        const copy = JsonValue.parse(value) as object;
        expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
        expect(copy).toEqual(z.json().parse(value));
        expect(copy).not.toBe(value);
      }),
      { numRuns: 100 },
    );
  });

  it('by name is an object of such values, and what is wrong stands under its name', () => {
    for (const schema of [JsonFields, FreshJsonFields]) {
      expect(schema.parse({ a: [1], b: { c: null } })).toEqual({ a: [1], b: { c: null } });
      for (const value of [[1], 'a', null, new Map()]) expect(schema.safeParse(value).success).toBe(false);
      const { error } = schema.safeParse({ a: 1, b: { c: Number.NaN } });
      expect(error?.issues.map(({ path }) => path)).toEqual([['b']]);
    }
  });
});
