import { cpSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, describe, expect, it } from 'vitest';
import { headOf, patchNames, readMutant, readMutants } from '../../mutants/mutant.ts';

const ROOT = fileURLToPath(new URL('../../..', import.meta.url)).replace(/\/$/, '');
const ID = /\b[NLXAMCF]-(?:\d+\.\d+|[PDEVT]?\d{2}|\d+)\b/g;

describe('The planted bugs of test/mutants', () => {
  it.each(patchNames(ROOT))('%s names suites that exist, and applies to the product as it is now', (name) => {
    expect(readMutant(ROOT, name).suites.length).toBeGreaterThan(0);
  });

  it('are twenty at least, under numbers of their own', () => {
    expect(readMutants(ROOT).length).toBeGreaterThanOrEqual(20);
  });

  it('are found by suites over real threads and processes too', () => {
    const overThreads = readMutants(ROOT).filter(({ suites }) =>
      suites.some((suite) => suite.startsWith('test/integration/')),
    );
    expect(overThreads.length).toBeGreaterThanOrEqual(5);
  });

  it('break what docs/requirements.md lists', () => {
    const listed = readFileSync(join(ROOT, 'docs/requirements.md'), 'utf8');
    const cited = readMutants(ROOT).flatMap(({ promise }) => promise.match(ID) ?? []);
    expect(cited.filter((id) => !listed.includes(`| ${id} |`))).toEqual([]);
    expect(cited.length).toBeGreaterThan(0);
  });

  it('break what a section of docs/semantics promises', () => {
    const folder = join(ROOT, 'docs/semantics');
    const headings = readdirSync(folder).flatMap((page) =>
      [...readFileSync(join(folder, page), 'utf8').matchAll(/^#+ (.*)$/gm)].map(([, heading]) => heading),
    );
    const cited = readMutants(ROOT).flatMap(
      ({ promise }) => /^semantics, ([^:[]*[^:[ ])/.exec(promise)?.[1] ?? [],
    );
    expect(cited.filter((section) => !headings.includes(section))).toEqual([]);
    expect(cited.length).toBeGreaterThan(0);
  });
});

const PATCH = `diff --git a/runtime/add.ts b/runtime/add.ts
--- a/runtime/add.ts
+++ b/runtime/add.ts
@@ -1,2 +1,2 @@
 // Adds.
-export const add = (one: number, other: number): number => one + other;
+export const add = (one: number, other: number): number => one - other;
`;
const HEAD = `Breaks: Sums are differences.
Promise: a sum is a sum [N-1.1]
Suites: test/unit/add.test.ts
`;

/** A repository with one product file, one suite, and these mutants. */
function repository(mutants: Readonly<Record<string, string>>): string {
  const root = mkdtempSync(join(folder, 'repository-'));
  const files = {
    'runtime/add.ts': '// Adds.\nexport const add = (one: number, other: number): number => one + other;\n',
    'test/unit/add.test.ts': '',
    'test/fixtures/two.ts': 'export const two = 2;\n',
    ...Object.fromEntries(Object.entries(mutants).map(([name, text]) => [`test/mutants/${name}`, text])),
  };
  for (const [file, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, file)), { recursive: true });
    writeFileSync(join(root, file), text);
  }
  return root;
}

const folder = mkdtempSync(join(tmpdir(), 'orrery-mutants-'));
afterAll(() => rmSync(folder, { recursive: true }));

const NAME = '01-subtracts.patch';
const fault = (text: string, name = NAME): string => {
  try {
    readMutant(repository({ [name]: text }), name);
  } catch (error) {
    return (error as Error).message;
  }
  return 'none';
};

describe('A mutant', () => {
  it('says what it breaks, and which suites must fail', () => {
    const root = repository({ [NAME]: `${HEAD}\n${PATCH}` });
    expect(readMutant(root, NAME)).toEqual({
      name: '01-subtracts',
      patch: join(root, 'test/mutants', NAME),
      breaks: 'Sums are differences.',
      promise: 'a sum is a sum [N-1.1]',
      suites: ['test/unit/add.test.ts'],
      ends: 'failure',
    });
  });

  it('may go on over several lines, name several suites, and end in no time', () => {
    const head = 'Breaks: One\n  two\n\nSuites: a.test.ts,\n  b.test.ts\nEnds: timeout\n';
    expect(headOf(`${head}${PATCH}`)).toEqual({
      breaks: 'One two',
      suites: 'a.test.ts, b.test.ts',
      ends: 'timeout',
    });
  });

  it.each([
    ['no suite', HEAD.replace(/Suites.*\n/, ''), 'suites'],
    ['a suite that is no test file', HEAD.replace('add.test.ts', 'add.ts'), 'expected a test file'],
    [
      'a suite that is not there',
      HEAD.replace('add.test', 'sum.test'),
      'test/unit/sum.test.ts does not exist',
    ],
    ['nothing of what it breaks', HEAD.replace(/Breaks.*\n/, ''), 'breaks'],
    ['no promise', HEAD.replace(/Promise.*\n/, ''), 'promise'],
    ['a word that nobody knows', `${HEAD}Because: it may\n`, 'because'],
    ['an end that is none', `${HEAD}Ends: never\n`, 'ends'],
  ])('is refused by name with %s', (_, head, why) => {
    const message = fault(`${head}\n${PATCH}`);
    expect(message).toContain(`test/mutants/${NAME}: `);
    expect(message).toContain(why);
  });

  it('is refused when it does not apply any more, or changes what is not the product', () => {
    expect(fault(`${HEAD}\n${PATCH.replace('one + other', 'other + one')}`)).toMatch(
      /does not apply: .*add\.ts/,
    );
    const inTests = PATCH.replaceAll('runtime/add.ts', 'test/fixtures/two.ts');
    expect(fault(`${HEAD}\n${inTests}`)).toContain(
      'it changes test/fixtures/two.ts, which is not the product',
    );
    expect(fault(`${HEAD}\n`)).toContain('it changes nothing');
  });

  it('has a file name with a number of its own', () => {
    expect(fault(`${HEAD}\n${PATCH}`, 'Subtracts.patch')).toContain('expected a name like');
    const text = `${HEAD}\n${PATCH}`;
    const root = repository({ [NAME]: text, '01-too.patch': text });
    expect(() => readMutants(root)).toThrow('01-too.patch: its number is taken');
  });

  it('applies inside of another repository too', () => {
    const inner = join(ROOT, '.scratch/mutant-test');
    cpSync(repository({ [NAME]: `${HEAD}\n${PATCH}` }), inner, { recursive: true });
    try {
      expect(readMutant(inner, NAME).name).toBe('01-subtracts');
    } finally {
      rmSync(inner, { recursive: true });
    }
  });
});
