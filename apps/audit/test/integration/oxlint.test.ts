import { describe, expect, it } from 'vitest';
import type { Tool } from '../../tool.ts';
import { lintTool } from '../../tools/oxlint.ts';
import { codeFromText } from '../../tools/oxlint-code-from-text.tool.ts';
import { cycles } from '../../tools/oxlint-cycles.tool.ts';
import { jsxAccessibility } from '../../tools/oxlint-jsx-a11y.tool.ts';
import { mistakes } from '../../tools/oxlint-mistakes.tool.ts';
import { promises } from '../../tools/oxlint-promises.tool.ts';
import { react } from '../../tools/oxlint-react.tool.ts';
import { speed } from '../../tools/oxlint-speed.tool.ts';
import { tests } from '../../tools/oxlint-tests.tool.ts';
import { type Files, placesIn, reportHere, reportOn, withRepository } from '../run-on.ts';

const ASYNC = 'async function work() {}\n';
const STRICT = '{ "compilerOptions": { "strict": true } }';
const HOOK =
  "import { useEffect } from 'react';\nexport function Page({ is }) {\n  if (is) useEffect(() => {});\n  return <b />;\n}\n";

const CASES: readonly (readonly [Tool, Files, readonly string[]])[] = [
  [
    promises,
    { 'a.ts': `${ASYNC}try {\n  work();\n} catch {}\nexport {};\n` },
    ['oxlint/typescript/no-floating-promises a.ts:3'],
  ],
  [
    promises,
    { 'tsconfig.json': STRICT, 'a.ts': `${ASYNC}if (work()) throw new Error('busy');\n` },
    ['oxlint/typescript/no-misused-promises a.ts:2'],
  ],
  [
    mistakes,
    { 'a.js': 'export const a = { b: 1, b: 2 };\nexport const c = a.b === NaN;\n' },
    ['oxlint/no-dupe-keys a.js:1', 'oxlint/use-isnan a.js:2'],
  ],
  [
    tests,
    {
      'a.test.ts':
        "import { expect, it } from 'vitest';\nit.only('is', () => {\n  expect(1).toBeNull;\n});\n",
    },
    ['oxlint/vitest/no-focused-tests a.test.ts:2', 'oxlint/vitest/valid-expect a.test.ts:3'],
  ],
  [react, { 'a.jsx': HOOK }, ['oxlint/react/rules-of-hooks a.jsx:3']],
  [
    speed,
    {
      'a.ts': 'let all: number[] = [];\nfor (const x of [1, 2]) all = [...all, x];\nexport { all };\n',
    },
    ['oxlint/oxc/no-accumulating-spread a.ts:1'],
  ],
  [
    jsxAccessibility,
    { 'a.tsx': 'export const A = () => <img src="a.png" />;\n' },
    ['oxlint/jsx-a11y/alt-text a.tsx:1'],
  ],
  [codeFromText, { 'a.js': 'export const run = (text) => eval(text);\n' }, ['oxlint/no-eval a.js:1']],
  [
    cycles,
    {
      'a.ts': "import { b } from './b.ts';\nexport const a = () => b;\n",
      'b.ts': "import { a } from './a.ts';\nexport const b = [a];\n",
    },
    ['oxlint/import/no-cycle a.ts:1'],
  ],
];

const EXPECTATIONS = [
  "  expect(assertSame('a', 'a'));",
  "  expect(page.verifyText('a'));",
  '  expect(same);',
  "  expect(\n    same('a'),\n  ).to.be.true;",
];

/** Where a rule says nothing, each beside a place that it still tells of. */
const NARROWED: readonly (readonly [string, Tool, Files, readonly string[]])[] = [
  [
    'says nothing of an executor that tries before it awaits',
    promises,
    {
      'a.ts':
        'export const a = () =>\n  new Promise(async (done, fail) => {\n    try {\n      done(await b());\n    } catch (error) {\n      fail(error);\n    }\n  });\n',
      'b.ts':
        'export const b = () => new Promise(async (done) => {\n  done(await c());\n  try {} catch {}\n});\n',
    },
    ['oxlint/no-async-promise-executor b.ts:1'],
  ],
  [
    'says nothing of a test whether a promise is there yet',
    promises,
    {
      'tsconfig.json': STRICT,
      'a.ts': `${ASYNC}let last: Promise<void>;\nexport const run = () => {\n  if (last) return;\n  last = work();\n};\n`,
      'b.ts': `${ASYNC}export const a = (b: { run?: () => unknown }) => (b.run?.() as Promise<void>) || work();\n`,
      'c.ts': `${ASYNC}export const a = work() || 1;\n`,
      'd.ts': `${ASYNC}const begun: Record<string, Promise<void>> = { a: work() };\nexport const b = (key: string) => {\n  const one = begun[key];\n  return one ? 1 : 2;\n};\n`,
    },
    ['oxlint/typescript/no-misused-promises c.ts:2'],
  ],
  [
    'says nothing of a setter that calls what it returns',
    mistakes,
    {
      'a.js': 'export const a = { set b(c) { return this.d?.e(c); } };\n',
      'b.js': 'export const a = { set b(c) { return c; } };\n',
    },
    ['oxlint/no-setter-return b.js:1'],
  ],
  [
    'says nothing of digits behind the point',
    mistakes,
    {
      'a.js':
        'export const a = -0.0640568928626056260850430826247450385909;\nexport const b = 9007199254740993;\n',
    },
    ['oxlint/no-loss-of-precision a.js:2'],
  ],
  [
    'says nothing of a ! behind which nothing is looked for',
    mistakes,
    {
      'a.ts':
        'export const a = (b?: { c: { d: 1 } }) => b?.c!;\nexport const e = (b?: { c: 1 }) => (b?.c)!.toFixed();\n',
    },
    ['oxlint/typescript/no-non-null-asserted-optional-chain a.ts:2'],
  ],
  [
    'tells of a typeof that is compared with undefined once, and of other constants in the file',
    mistakes,
    { 'a.js': 'export const a = typeof window === undefined;\nexport const b = [] ?? a;\n' },
    ['oxlint/no-constant-binary-expression a.js:2', 'oxlint/valid-typeof a.js:1'],
  ],
  [
    'says nothing of an expectation of what asserts by itself',
    tests,
    {
      'a.test.ts': `import { expect, it } from 'vitest';\nit('is', () => {\n${EXPECTATIONS.join('\n')}\n});\n`,
    },
    ['oxlint/vitest/valid-expect a.test.ts:5'],
  ],
  [
    'says nothing of a hook that a try begins with',
    react,
    {
      'a.jsx':
        "import { useContext } from 'react';\nexport function useMaybe(c) {\n  try {\n    return useContext(c);\n  } catch {\n    return null;\n  }\n}\n",
      'b.jsx': HOOK,
    },
    ['oxlint/react/rules-of-hooks b.jsx:3'],
  ],
  [
    'says nothing of a text that may be among what is spread',
    jsxAccessibility,
    {
      'a.tsx':
        'export const A = (props) => <img src="a.png" {...props} />;\nexport const B = () => <img src="b.png" />;\n',
    },
    ['oxlint/jsx-a11y/alt-text a.tsx:2'],
  ],
  [
    'says nothing of a heading whose content may be among what is spread',
    jsxAccessibility,
    { 'a.tsx': 'export const A = (props) => <h1 {...props} />;\nexport const B = () => <h1 />;\n' },
    ['oxlint/jsx-a11y/heading-has-content a.tsx:2'],
  ],
  [
    'says nothing of two numbers that are written out',
    mistakes,
    { 'a.js': 'export const a = 0 * 0.7;\nexport const b = (c) => c * 0;\n' },
    ['oxlint/oxc/erasing-op a.js:2'],
  ],
  [
    'says nothing of what follows the first statement of a block, and tells once of what follows another',
    mistakes,
    {
      'off.js':
        'export function off(a) {\n  // Not this year.\n  throw new Error("closed", { cause: a });\n  const b = a + 1;\n  return b;\n}\n',
      'ruled.js': `export function ruled(a) {\n  ${'/'.repeat(200)}\n  a();\n  return a;\n  a();\n}\n`,
      'slip.js': 'export function slip(a) {\n  const b = a + 1;\n  return b;\n  b += 1;\n  return b;\n}\n',
    },
    [
      'oxlint/no-const-assign slip.js:4',
      'oxlint/no-unreachable ruled.js:5',
      'oxlint/no-unreachable slip.js:4',
    ],
  ],
  [
    "says nothing of what is somebody else's, and of tests of Cypress",
    mistakes,
    {
      'copied.js':
        '/*!\n * Font Awesome Free 6.4.2 by @fontawesome\n * License - https://fontawesome.com/license/free\n */\nexport const a = { b: 1, b: 2 };\n',
      'b.cy.js': 'export const a = { b: 1, b: 2 };\n',
      'vendor/a.js': 'export const a = { b: 1, b: 2 };\n',
      'a.js': 'export const a = { b: 1, b: 2 };\n',
    },
    ['oxlint/no-dupe-keys a.js:1'],
  ],
];

describe('oxlint', () => {
  it.each(CASES.map(([tool, files, expected]) => [tool.name, tool, files, expected] as const))(
    'finds what %s is for',
    async (_name, tool, files, expected) => {
      expect(placesIn(await reportOn(tool, files))).toEqual(expected);
    },
  );

  it.each(NARROWED)('%s', async (_title, tool, files, expected) => {
    expect(placesIn(await reportHere(tool, files))).toEqual(expected);
  });

  it('counts columns in UTF-16 units', async () => {
    const { findings } = await reportHere(codeFromText, {
      'a.js': "export const run = (text) => ['é😀', eval(text)];\n",
    });
    expect(findings.map(({ column }) => column)).toEqual([38]);
  });

  it('says nothing of work that is started where nobody means to catch its faults', async () => {
    const started = `${ASYNC}work();\ntry {\n  setTimeout(() => { work(); });\n} catch {}\nexport {};\n`;
    const report = await reportHere(promises, {
      'a.ts': started,
      'samples/a.ts': `${ASYNC}try {\n  work();\n} catch {}\nexport {};\n`,
      'b.ts':
        'async function main() {\n  try {\n    await 1;\n  } catch {}\n}\ntry {\n  main();\n} catch {}\nexport {};\n',
      'c.ts':
        'class C {\n  async all() {\n    try {\n      this.one();\n    } catch {}\n  }\n  private async one(): Promise<void> {\n    console.log(1);\n    try {\n      await 1;\n    } catch {}\n  }\n}\nexport { C };\n',
    });
    expect(report.findings).toEqual([]);
  });

  it('says nothing of the tests of other runners, and of tests of types', async () => {
    const report = await reportHere(tests, {
      'test/a.test.ts': "it('is', () => {\n  cy.get('a').then((a) => expect(a).to.have.length(1));\n});\n",
      'test/b.test.ts': "it('is', () => {\n  expect(1, 'to be', 1);\n});\n",
      'test/types.ts': "import type { A } from '../a.ts';\nexpect<A>(1);\n",
    });
    expect(report.findings).toEqual([]);
  });

  it('says nothing of chains of chai, and of expectations that are kept', async () => {
    const kept = 'const is = expect(Promise.resolve(1)).resolves.toBe(1);\n  await is;';
    const report = await reportHere(tests, {
      'package.json': '{ "devDependencies": { "vitest": "5.0.0" } }',
      'a.test.ts': `it('is', async () => {\n  expect(true).to.be.true;\n  expect(1).deep.eq(1);\n  ${kept}\n});\n`,
      'b.test.ts': "it('is', () => {\n  expect(1 === 1);\n});\n",
    });
    expect(placesIn(report)).toEqual(['oxlint/vitest/valid-expect b.test.ts:2']);
  });

  it('does not take an import of types alone for one that runs, however many there are', async () => {
    const types = Array.from({ length: 6 }, (_, n) => `import { T${n} } from './t${n}.ts';\n`);
    const files = Array.from({ length: 6 }, (_, n) => [
      `t${n}.ts`,
      `import { all } from './a.ts';\nexport interface T${n} {\n  n: ${n};\n}\nexport const n${n} = () => all;\n`,
    ]);
    const used = `export const all: (T0 | T1 | T2 | T3 | T4 | T5)[] = [];\n`;
    const report = await reportHere(cycles, { 'a.ts': types.join('') + used, ...Object.fromEntries(files) });
    expect(report.findings).toEqual([]);
  });

  it('says nothing of a switch that somebody turns by hand', async () => {
    const report = await reportHere(mistakes, {
      'a.js': 'export const on = (is) => false || true && !is;\n',
    });
    expect(report.findings).toEqual([]);
  });

  it('says nothing of code that is written out', async () => {
    const report = await reportHere(codeFromText, { 'a.js': "export const all = (1, eval)('this');\n" });
    expect(report.findings).toEqual([]);
  });

  it('honours the comments that silence it', async () => {
    const report = await reportHere(codeFromText, {
      'a.js': '// eslint-disable-next-line no-eval\nexport const run = (text) => eval(text);\n',
      'b.js': 'export const run = (text) => eval(text); // oxlint-disable-line no-eval\n',
    });
    expect(report.findings).toEqual([]);
  });

  it('says nothing about what a compiler wrote', async () => {
    const text = 'export const run = (text) => eval(text);\n';
    const report = await reportHere(codeFromText, {
      'a.js': `${text}//# sourceMappingURL=a.js.map\n`,
      'b.js': text,
      'b.d.ts': 'export {};\n',
    });
    expect(report.findings).toEqual([]);
  });

  it('does not take types for a circle', async () => {
    const report = await reportHere(cycles, {
      'a.ts': "import type { B } from './b.ts';\nexport type A = B;\n",
      'b.ts': "import type { A } from './a.ts';\nexport type B = A[];\n",
    });
    expect(report.findings).toEqual([]);
  });

  it('does not take an import of types alone for one that runs, however it is written', async () => {
    const report = await reportHere(cycles, {
      'a.ts': "import {\n  B,\n} from './b.ts';\nexport type A = B;\nexport const a = 1;\n",
      'b.ts': "import { a } from './a.ts';\nexport type B = typeof a;\nexport const b = a;\n",
    });
    expect(report.findings).toEqual([]);
  });

  it.each([
    ['functions and methods', 'export class B { a = A; all() { return [A]; } }'],
    ['functions of decorators', 'export class B { @Many(() => A) all; }'],
    ['types', 'export const b: A[] = [] as A[];'],
    ['names that are handed on', "export { A }; export * from './a.ts';"],
  ])('says nothing of a circle whose files need each other only in %s', async (_what, b) => {
    const report = await reportHere(cycles, {
      'a.ts': "import { b } from './b.ts';\nexport class A {\n  b = () => b;\n}\n",
      'b.ts': `import { A } from './a.ts';\n${b}\n`,
    });
    expect(report.findings).toEqual([]);
  });

  it.each([
    'export class B extends A {}',
    'export class B { static all = [A]; }',
    'export class B { @Of(A) all; }',
    'export const B = { A };',
    'export const B = <A />;',
    'export enum B { A = A.length }',
  ])('tells of a circle one of whose files cannot load without the other: %s', async (b) => {
    const report = await reportHere(cycles, {
      'a.ts': "import { B } from './b';\nexport class A {\n  b = () => B;\n}\n",
      'b.tsx': `import { A } from './a.ts';\n${b}\n`,
    });
    expect(placesIn(report)).toEqual(['oxlint/import/no-cycle a.ts:1']);
  });

  it.each([
    ['export function a() { return b; }', 'import { a }'],
    ['function a() { return b; }\nexport { a }', 'import { a }'],
    ['export default function a() { return b; }', 'import a'],
  ])('says nothing of a circle in which what is used is a declared function: %s', async (a, imported) => {
    const report = await reportHere(cycles, {
      'a.ts': `import { b } from './b.ts';\n${a}\n`,
      'b.ts': `${imported} from './a.ts';\nexport const b = [a()];\n`,
    });
    expect(report.findings).toEqual([]);
  });

  it('names the files of a circle', async () => {
    const { findings } = await reportHere(cycles, {
      'src/a.ts': "import { b } from './b.ts';\nexport const a = () => b;\n",
      'src/b.ts': "import { c } from './c.ts';\nexport const b = () => c;\n",
      'src/c.ts': "import { a } from './a.ts';\nexport class C extends a {}\nexport const c = 1;\n",
    });
    expect(findings.map(({ trail }) => trail)).toEqual([['src/a.ts', 'src/b.ts', 'src/c.ts', 'src/a.ts']]);
  });

  it('notes a file that it cannot parse', async () => {
    const { notes } = await reportHere(mistakes, { 'a.js': 'const = 1;\n' });
    expect(notes).toEqual([expect.objectContaining({ kind: 'unparsed', file: 'a.js' })]);
  });

  it('says nothing of a condition on a promise that there may not be', async () => {
    const loose = `${ASYNC}let once: Promise<void> | null = null;\nexport const start = () => {\n  if (!once) once = work();\n  if (once) return once;\n};\n`;
    const report = await reportHere(promises, {
      'tsconfig.json': '{ "compilerOptions": { "strict": true, "strictNullChecks": false } }',
      'a.ts': loose,
      'b.ts': `${ASYNC}if (work()) throw new Error('busy');\n`,
      'strict/tsconfig.json': STRICT,
      'strict/a.ts': `${ASYNC}let once: Promise<void> | null = null;\nonce = work();\nif (once) throw once;\n`,
    });
    expect(report.findings).toEqual([]);
  });

  it('tells of the first few in a file', async () => {
    const evil = 'eval(a);\neval(a);\neval(a), eval(a);\neval(a);\n';
    const [, , last] = (await reportHere(codeFromText, { 'a.js': evil })).findings;
    expect(last?.message).toContain('There is 1 more like it');
  });

  it('tells of a component that is made anew once, not where it is used too', async () => {
    const file =
      "import React from 'react';\nexport function Page() {\n  function Row() {\n    return <b />;\n  }\n  return <p><Row /><Row /></p>;\n}\n";
    expect(placesIn(await reportHere(react, { 'a.jsx': file }))).toEqual([
      'oxlint/react/no-unstable-nested-components a.jsx:3',
    ]);
  });

  it('says nothing of objects of one shape, and of what a build fills in', async () => {
    const report = await reportHere(speed, {
      'shape.js': 'let last = {};\nfor (const end of [1, 2]) last = { ...last, end };\nexport { last };\n',
      'pages.js':
        'let all = [];\nfor (const page of [1, 2]) {\n  const more = await fetch(page);\n  all = [...all, ...more];\n}\nexport { all };\n',
      'keys.js': 'let all = {};\nfor (const key of [1, 2]) all = { ...all, [key]: 1 };\nexport { all };\n',
    });
    expect(placesIn(report)).toEqual(['oxlint/oxc/no-accumulating-spread keys.js:1']);
    const built = await reportHere(mistakes, {
      'a.js': "export const host = '__API_HOST__' || 'localhost';\n",
    });
    expect(built.findings).toEqual([]);
  });

  it('ends a compiler that takes more memory than it may, and says what was not checked', async () => {
    const greedy = lintTool({
      name: 'oxlint-greedy',
      module: import.meta.url,
      replaces: '',
      plugins: ['typescript'],
      isTypeAware: true,
      rules: { medium: { 'typescript/no-floating-promises': 'Nobody waits for this promise' } },
      compilerLimit: { maxMb: 1, lookEveryMs: 1 },
    });
    const parts = Array.from({ length: 400 }, (_, at) => `'part-${at}'`).join(' | ');
    const heavy = `type Part = ${parts};\nexport type All = \`\${Part}\${Part}\`;\n${ASYNC}work();\n`;
    await withRepository({ 'tsconfig.json': STRICT, 'a.ts': heavy }, async (root) => {
      const job = { root, files: ['a.ts'], input: {} };
      const { hits, notes, filesSeen } = await greedy.run(job, () => undefined);
      expect(notes).toEqual([
        {
          kind: 'memory',
          reason: 'the compiler needs more than 1 MB of memory: 1 of 1 files were not checked',
        },
      ]);
      expect([hits, filesSeen]).toEqual([[], 0]);
    });
  });
});
