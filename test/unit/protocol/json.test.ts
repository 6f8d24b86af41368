import { describe, expect, it } from 'vitest';
import { findUnserialisable } from '../../../runtime/protocol/json.ts';

class Money {
  readonly amount = 1;
}

const circle: Record<string, unknown> = { name: 'circle' };
circle['self'] = circle;
const holed: number[] = [];
holed[1] = 2;
let deep: unknown = 'bottom';
for (let level = 0; level < 1_001; level++) deep = [deep];

describe('findUnserialisable', () => {
  it.each([
    ['a bigint', { at: 1n }, 'payload.at', 'a bigint'],
    ['a function', { list: [1, () => 1] }, 'payload.list[1]', 'a function'],
    ['a symbol', [Symbol('s')], 'payload[0]', 'a symbol'],
    ['a field named by a symbol', { a: { [Symbol('s')]: 1 } }, 'payload.a', 'a field named by a symbol'],
    ['NaN', { a: { b: Number.NaN } }, 'payload.a.b', 'NaN'],
    ['an infinity', Number.NEGATIVE_INFINITY, 'payload', '-Infinity'],
    ['undefined in an array', { a: [1, undefined] }, 'payload.a[1]', 'undefined'],
    ['a hole in an array', holed, 'payload[0]', 'undefined'],
    ['a Date', { when: new Date(0) }, 'payload.when', 'an instance of Date'],
    ['a Map', { map: new Map() }, 'payload.map', 'an instance of Map'],
    ['a Set', [[new Set()]], 'payload[0][0]', 'an instance of Set'],
    ['bytes', { bytes: new Uint8Array(1) }, 'payload.bytes', 'an instance of Uint8Array'],
    ['an instance of a class', { price: new Money() }, 'payload.price', 'an instance of Money'],
    ['a circle', { circle }, 'payload.circle.self', 'a circular reference'],
  ])('names field and value of %s', (_case, value, path, kind) => {
    expect(findUnserialisable(value, 'payload')).toEqual({ path, kind });
  });

  it('names nesting that no JSON writer gets to the end of', () => {
    expect(findUnserialisable(deep)?.kind).toBe('nesting deeper than 1000 levels');
  });

  it.each([
    ['undefined at the top', undefined],
    ['an undefined field, which JSON leaves out', { a: undefined, b: 1 }],
    ['one object in two places', { left: circle['name'], pair: [Object.freeze({}), Object.freeze({})] }],
    [
      'an object without a prototype',
      Object.assign(Object.create(null) as object, { a: [1, 'x', null, true] }),
    ],
  ])('accepts %s', (_case, value) => {
    expect(findUnserialisable(value)).toBeUndefined();
  });

  it('accepts one object that is referred to twice', () => {
    const shared = { a: 1 };
    expect(findUnserialisable([shared, { shared }])).toBeUndefined();
  });
});
