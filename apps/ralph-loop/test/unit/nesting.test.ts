import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { SourceText } from '../../findings/source-text.ts';
import { isTooDeep } from '../../audit/syntax/nesting.ts';
import { parseScript } from '../../audit/syntax/parse-script.ts';

const DEPTH = 20_000;

describe('a script that would overflow the native parser', () => {
  it.each([
    ['brackets', `x = ${'['.repeat(DEPTH)}${']'.repeat(DEPTH)}`],
    ['calls', `${'f('.repeat(DEPTH)}${')'.repeat(DEPTH)}`],
    ['open brackets only', '('.repeat(DEPTH)],
    ['templates', `x = ${'`${'.repeat(DEPTH)}1${'}`'.repeat(DEPTH)}`],
    ['arrows', `x = ${'a=>'.repeat(DEPTH)}1`],
    ['type arguments', `x = ${'a<'.repeat(DEPTH)}`],
    ['sums', `x = ${Array(DEPTH).fill('"a"').join('+')}`],
    ['else if', `if (a) {} ${'else if (b) {} '.repeat(DEPTH)}`],
  ])('is not parsed: %s', (_name, text) => {
    expect(parseScript(new SourceText('deep.ts', text))).toEqual({
      unparsable: 'is nested too deeply to be parsed',
    });
  });

  it('is not confused with a long one', () => {
    const data = 'aGVsbG8+d29ybGQ/'.repeat(20_000);
    expect(isTooDeep(`const icon = "data:image/png;base64,${data}";\n`)).toBe(false);
    expect(isTooDeep('call(a, b);\n'.repeat(50_000))).toBe(false);
    expect(isTooDeep('x = a + b * c - d\n'.repeat(400))).toBe(false);
    const compiler = fileURLToPath(import.meta.resolve('typescript'));
    expect(isTooDeep(readFileSync(compiler, 'utf8').slice(0, 2_000_000))).toBe(false);
  });
});
