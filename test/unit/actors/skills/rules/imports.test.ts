import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { importReaderOf } from '../../../../../actors/skills/rules/imported.ts';
import { pythonImports } from '../../../../../actors/skills/rules/python-imports.ts';
import { scriptImports } from '../../../../../actors/skills/rules/script-imports.ts';

/** What opens an expression in a template. */
const OPEN = '$'.concat('{');

const scripts = (source: string) => scriptImports(source).map(({ name, line }) => `${name}:${line}`);
const pythons = (source: string) => pythonImports(source).map(({ name, line }) => `${name}:${line}`);

describe('Imports of JavaScript and TypeScript (A-17)', () => {
  it.each([
    ["import 'a'", ['a:1']],
    ["import x, { y as z } from 'a'", ['a:1']],
    ['import * as ns from "a/b";\nimport type { T } from \'@s/c\'', ['a/b:1', '@s/c:2']],
    ["import {\n  x,\n} from 'a'", ['a:3']],
    ["export * from 'a'; export { x } from './b.ts'", ['a:1', './b.ts:1']],
    ["const x = require('a'), y = await import('b', { with: {} })", ['a:1', 'b:1']],
    ["import z = require('a');", ['a:1']],
    ['import(/* webpack */ `a`)', ['a:1']],
    [
      `const t = \`${OPEN}require('a')} and require('no') ${OPEN}\`${OPEN}import('b')}\`}\`;\nrequire('c')`,
      ['a:1', 'b:1', 'c:2'],
    ],
    ["const quote = /['\"`]/; require('a')", ['a:1']],
    ["const half = total / 2; require('a') / 3", ['a:1']],
    ["<p>Don't</p>;\nrequire('a')", ['a:2']],
    ["// require('no')\n/* import 'no'\n*/ require('a')", ['a:3']],
  ])('are found: %s', (source, found) => {
    expect(scripts(source)).toEqual(found);
  });

  it.each([
    'const from = "a"; Array.from("b")',
    "x.require('a'); x.import('a')",
    `require('a' + name); import(\`a${OPEN}name}\`); require(name)`,
    '"import \'a\'"; `import "a"`',
    'import.meta.resolve("a")',
    'important("a"); requires("a")',
  ])('are not what only looks like them: %s', (source) => {
    expect(scripts(source)).toEqual([]);
  });
});

describe('Imports of Python (A-17)', () => {
  it.each([
    ['import os', ['os:1']],
    ['import os.path as p, sys', ['os:1', 'os.path:1', 'sys:1']],
    ['from a.b import c as d, e', ['a:1', 'a.b:1', 'a.b.c:1', 'a.b.e:1']],
    ['from a import (\n  b,  # why\n  c,\n)\nimport d', ['a:1', 'a.b:1', 'a.c:1', 'd:5']],
    ['from . import x\nfrom ..y import *', ['.:1', '.x:1', '..y:2']],
    ['try: import a\nexcept ImportError: import b; import c', ['a:1', 'b:2', 'c:2']],
    ['if x:\n    import a, \\\n        b', ['a:2', 'b:2']],
    ['"""\nimport no\n"""\nimport a', ['a:4']],
    ["x = 'import no' # import no\nimport a", ['a:2']],
    ['raise X from e\nyield from y', []],
    ['important = 1\nx.import_module("a")', []],
  ])('are found: %s', (source, found) => {
    expect(pythons(source)).toEqual(found);
  });
});

describe('Reading imports', () => {
  it('is for JavaScript, TypeScript and Python', () => {
    for (const path of ['a.ts', 'a.mjs', 'b/a.tsx', 'A.CTS', 'a.js'])
      expect(importReaderOf(path)).toBe(scriptImports);
    for (const path of ['a.py', 'a.pyi']) expect(importReaderOf(path)).toBe(pythonImports);
    for (const path of ['', 'a.go', 'ts', 'a.ts.md']) expect(importReaderOf(path)).toBeUndefined();
  });

  const piece = fc.constantFrom(
    ...[
      'import ',
      'from ',
      'require(',
      "'",
      '"',
      '`',
      '${',
      '}',
      '{',
      '/',
      '[',
      ']',
      '(',
      ')',
      '\\',
      '\n',
      '#',
      '/*',
      '*/',
    ],
    ...['a', ' ', ',', '.', '"""', ':', ';', 'as '],
  );

  it('ends, whatever it reads, with lines that there are', () => {
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 60 }), (pieces) => {
        const source = pieces.join('');
        const lines = source.split('\n').length;
        for (const { line } of [...scriptImports(source), ...pythonImports(source)]) {
          expect(line).toBeGreaterThan(0);
          expect(line).toBeLessThanOrEqual(lines);
        }
      }),
      { numRuns: 1_000 },
    );
  });

  it.each(["'", '`${', '(/[', '/*', '"""', 'import a.', 'from a import (b,', "require('a')", '\\', '{'])(
    'takes time in proportion to the text: %s',
    (part) => {
      const source = part.repeat(Math.ceil(1_000_000 / part.length));
      const begun = process.threadCpuUsage();
      scriptImports(source);
      pythonImports(source);
      // Of the processor, not of the clock: a busy machine takes longer.
      const { user, system } = process.threadCpuUsage(begun);
      expect((user + system) / 1_000).toBeLessThan(5_000);
    },
  );
});
