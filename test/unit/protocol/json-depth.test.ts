import { expect, it } from 'vitest';
import { MAX_JSON_DEPTH, parseShallowJson } from '../../../runtime/protocol/json.ts';

const nested = (levels: number): string => `${'[{"a":'.repeat(levels / 2)}1${'}]'.repeat(levels / 2)}`;

it('reads JSON as it is, and none that is nested deeper than anybody means', () => {
  expect(parseShallowJson('{"a":[1,null]}')).toEqual({ a: [1, null] });
  expect(JSON.stringify(parseShallowJson(nested(MAX_JSON_DEPTH)))).toBe(nested(MAX_JSON_DEPTH));
  expect(() => parseShallowJson(nested(MAX_JSON_DEPTH + 2))).toThrow('nested deeper than 100 levels');
  expect(() => parseShallowJson(nested(200_000))).toThrow('nested deeper than 100 levels');
  expect(() => parseShallowJson('{')).toThrow(SyntaxError);
});
