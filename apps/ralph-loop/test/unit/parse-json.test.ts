import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { JsonPlaces, parseJson } from '../../audit/json/parse-json.ts';

describe('parseJson', () => {
  it('reads what JSON.stringify writes', () => {
    fc.assert(
      fc.property(fc.jsonValue(), (value) => {
        expect(parseJson(JSON.stringify(value))).toEqual({
          value: JSON.parse(JSON.stringify(value)) as unknown,
        });
      }),
    );
  });

  it.each(['', '{', '{ "a": 1, }', '// no comments\n{}', '[1 2]'])('says that %j is no JSON', (text) => {
    expect(parseJson(text)).toMatchObject({ fault: expect.stringMatching(/^is not JSON: /) });
  });

  it('does not read what is nested too deeply, brackets in texts aside', () => {
    const nested = (depth: number) => `${'['.repeat(depth)}${']'.repeat(depth)}`;
    expect(parseJson(nested(200))).toHaveProperty('value');
    expect(parseJson(nested(201))).toEqual({ fault: 'is nested too deeply to be read' });
    expect(parseJson(nested(400_000))).toEqual({ fault: 'is nested too deeply to be read' });
    expect(parseJson(JSON.stringify(`"\\${'['.repeat(500)}`))).toHaveProperty('value');
    expect(parseJson(JSON.stringify('\\"['.repeat(1_000_000)))).toHaveProperty('value');
    expect(parseJson(`"${'\\"'.repeat(1_000_000)}`)).toHaveProperty('fault');
  });
});

describe('JsonPlaces', () => {
  const text = '{\n  "scripts": { "a.b": "x" },\n  "list": [1, { "deep": true }]\n}\n';
  const at = (...path: (string | number)[]) => text.slice(new JsonPlaces(text).offsetOf(path)).slice(0, 6);

  it('finds a key, an element, and what is around something that is not there', () => {
    expect(at('scripts', 'a.b')).toBe('"a.b":');
    expect(at('list', 1, 'deep')).toBe('"deep"');
    expect(at('list', 0)).toBe('1, { "');
    expect(at('scripts', 'gone')).toBe('"scrip');
    expect(at('gone')).toBe('{\n  "s');
  });
});
