import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { allTestFiles } from '../../../.ci/cited-requirements.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAX_PAGE_BYTES = 8_192;
const KINDS = ['unit', 'property', 'conformance', 'integration'];

const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');
const markdownIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

const tests = allTestFiles()
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => relative(ROOT, file));
const semantics = markdownIn('docs/semantics');
const pages = [
  'README.md',
  'SECURITY.md',
  'CHANGELOG.md',
  'examples/README.md',
  'test/mutants/README.md',
  // docs/api is generated, and not of this repository.
  ...markdownIn('docs').filter((page) => !page.startsWith('docs/api/')),
];

describe('docs/semantics', () => {
  it('has an index of all its pages', () => {
    const listed = [...textOf('docs/semantics.md').matchAll(/\]\((semantics\/[^)#]+)\)/g)];
    expect(listed.map(([, path]) => `docs/${path}`).sort()).toEqual(semantics.toSorted());
  });

  it.each([...semantics, 'docs/semantics.md'])('%s is at most 8 KB', (page) => {
    expect(Buffer.byteLength(textOf(page))).toBeLessThanOrEqual(MAX_PAGE_BYTES);
  });

  it.each(semantics)('%s names tests, and each is one file or folder that is there', (page) => {
    const named = testsNamedIn(textOf(page));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((name) => !isOneTest(name))).toEqual([]);
  });

  it.each(semantics)('%s names a test in each section that promises something', (page) => {
    const [, ...sections] = textOf(page).split(/^## /m);
    const unshown = sections.filter((section) => testsNamedIn(section).length === 0);
    expect(unshown.map((section) => section.split('\n')[0])).toEqual([]);
  });
});

describe('The pages', () => {
  it.each(pages)('%s links to what is there', (page) => {
    const links = [...textOf(page).matchAll(/\]\((?!https?:)([^)#\s]*)(#[^)\s]+)?\)/g)];
    for (const [link, path = '', anchor] of links) {
      const target = path === '' ? page : join(page, '..', path);
      expect(existsSync(join(ROOT, target)), link).toBe(true);
      if (anchor !== undefined) expect(anchorsOf(textOf(target)), link).toContain(anchor.slice(1));
    }
  });
});

/** What stands between backticks after `Test:` or `Tests:`, without what is said of it in brackets. */
const testsNamedIn = (text: string): string[] =>
  [...text.matchAll(/\bTests?: (.*)$/gm)].flatMap(([, named = '']) =>
    [...named.replaceAll(/\([^)]*\)/g, '').matchAll(/`([^`]+)`/g)].map(([, name]) => name as string),
  );

/**
 * Whether a name as `docs/semantics.md` explains it is of one test: `kill`, `unit/links`, `unit/policies/budget`, or of a
 * folder that has some: `unit/swarm/`. Which further folders it lies in is left out, so that tests can move.
 */
function isOneTest(name: string): boolean {
  const parts = name.split('/');
  const kind = KINDS.includes(parts[0] as string) || parts[0] === 'apps' ? parts.shift() : 'integration';
  const last = parts.pop();
  const start = kind === 'apps' ? 'apps/[^/]+/test/' : `test/${kind}/`;
  const middle = parts.map((part) => `(.+/)?${part}/`).join('');
  if (last === '') return tests.some((file) => new RegExp(`^${start}${middle}`).test(file));
  const found = tests.filter((file) => new RegExp(`^${start}${middle}(.+/)?${last}\\.test\\.ts$`).test(file));
  return found.length === 1 || found.includes(`test/${kind}/${name}.test.ts`);
}

/** As GitHub makes them of headings. */
const anchorsOf = (page: string): readonly string[] =>
  [...page.matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) =>
    heading
      .toLowerCase()
      .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
      .replaceAll(' ', '-'),
  );
