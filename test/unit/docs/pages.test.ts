import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { allTestFiles } from '../../../.ci/cited-requirements.ts';
import { ROOMS } from '../../../.ci/rooms.ts';
import { mermaidFaults } from '../../fixtures/mermaid-faults.ts';

const ROOT = fileURLToPath(new URL('../../../', import.meta.url));
const MAX_PAGE_BYTES = 8_192;
const MAX_OVERVIEW_BYTES = 12_288;
const OVERVIEW = 'docs/architecture.md';
const GLOSSARY = 'docs/glossary.md';
/** Words of our own that the field's have replaced: no name in the code has them. */
const REPLACED = [
  'Seat',
  'Epitaph',
  'Burial',
  'Succession',
  'SecondLedger',
  'Courier',
  'Attendant',
  'Purse',
  'Wallet',
  'AgentDesk',
  'Thinking',
  'Tidings',
  'AgentBook',
  'GrantBook',
  'NameBook',
  'SeatBook',
  'Voice',
];
const KINDS = ['unit', 'property', 'conformance', 'integration'];

const textOf = (page: string): string => readFileSync(join(ROOT, page), 'utf8');
const markdownIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => join(folder, name));

const SHIPPED = ['runtime', 'actors', 'gateway', 'transports', 'policies'];
const isCode = (name: string): boolean => name.endsWith('.ts');
const codeIn = (folder: string): string[] =>
  readdirSync(join(ROOT, folder), { recursive: true, encoding: 'utf8' })
    .filter(isCode)
    .map((name) => join(folder, name));
const codeFilesOf = (folder: string): string[] => readdirSync(folder).filter(isCode);

const FOLDERS = readdirSync(ROOT, { withFileTypes: true })
  .filter((entry) => entry.isDirectory())
  .map(({ name }) => name);

const tests = allTestFiles()
  .filter((file) => file.endsWith('.test.ts'))
  .map((file) => relative(ROOT, file));
const semantics = markdownIn('docs/semantics');
const internals = markdownIn('docs/internals');
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

describe('docs/architecture.md', () => {
  const page = textOf(OVERVIEW);
  const drawings = drawingsIn(page);

  it('is at most 12 KB', () => {
    expect(Buffer.byteLength(page)).toBeLessThanOrEqual(MAX_OVERVIEW_BYTES);
  });

  it('says of every room what it holds, what it may not know, and its invariants', () => {
    const cellsOf = (row: string): string[] => row.split('|').map((cell) => cell.trim());
    const rows = new Map(page.split('\n').map((line) => [cellsOf(line)[1], cellsOf(line).slice(2, -1)]));
    for (const { room, holds, ignores, invariants } of ROOMS) {
      expect(rows.get(`\`${room}\``), room).toEqual([holds, ignores, invariants]);
      expect(invariants, room).toMatch(/^\S.*\.$/);
    }
  });

  it('names rooms that a room may not know, and no room imports one of these', () => {
    const known = ROOMS.map(({ room }) => room);
    for (const { room, ignores, imports } of ROOMS)
      for (const [, name = ''] of ignores.matchAll(/`([^`]+)`/g)) {
        const beside = `${room.split('/')[0]}/${name}`;
        const unknown = known.includes(beside) ? beside : name;
        expect(known, room).toContain(unknown);
        expect(
          imports.filter((path) => `${path}/`.startsWith(`${unknown}/`)),
          room,
        ).toEqual([]);
      }
  });

  it('links to all pages of docs/internals', () => {
    const linked = [...page.matchAll(/\]\((internals\/[^)#]+)\)/g)].map(([, path]) => `docs/${path}`);
    expect([...new Set(linked)].sort()).toEqual(internals.toSorted());
  });

  it('draws threads, the way of an envelope, and the life of an agent as docs/machines.md has it', () => {
    expect(drawings.map((drawing) => drawing.split('\n')[0])).toEqual([
      'flowchart LR',
      'sequenceDiagram',
      'stateDiagram-v2',
    ]);
    const [, sequence = '', life = ''] = drawings;
    expect(sequenceFaults(sequence)).toEqual([]);
    expect(mermaidFaults(life)).toEqual([]);
    const [, ofMachine = ''] = textOf('docs/machines.md').split('\n## agentLife\n');
    expect(life).toBe(drawingsIn(ofMachine)[0]);
  });
});

describe('docs/internals', () => {
  it.each(internals)('%s is at most 8 KB', (page) => {
    expect(Buffer.byteLength(textOf(page))).toBeLessThanOrEqual(MAX_PAGE_BYTES);
  });

  it.each([...internals, OVERVIEW, GLOSSARY])('%s names files that are there', (page) => {
    const named = pathsNamedIn(textOf(page));
    expect(named.length).toBeGreaterThan(0);
    expect(named.filter((path) => !existsSync(join(ROOT, path)))).toEqual([]);
  });
});

describe('docs/glossary.md', () => {
  it('explains each word once', () => {
    const words = [...textOf(GLOSSARY).matchAll(/^\| ([^|]+) \|/gm)].flatMap(([, cell = '']) =>
      cell.split(', '),
    );
    const explained = words.filter((word) => word !== 'word' && word !== '---');
    expect(explained.filter((word, at) => explained.indexOf(word) !== at)).toEqual([]);
  });

  it('has the words that the code uses: none of those that they have replaced', () => {
    const code = [...SHIPPED.flatMap(codeIn), ...codeFilesOf(ROOT)];
    const found = code.flatMap((file) =>
      REPLACED.filter((word) => new RegExp(`(?<![a-z])${word}(?![a-z])`).test(textOf(file))).map(
        (word) => `${file}: ${word}`,
      ),
    );
    expect(code.length).toBeGreaterThan(500);
    expect(found).toEqual([]);
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

/** Between backticks: whatever ends as a file of ours or as a folder does, or begins with a folder of the repository. */
const pathsNamedIn = (text: string): string[] =>
  [...text.replaceAll(/^```.*?^```/gms, '').matchAll(/`([\w.-]+(?:\/[\w.-]*)*)`/g)]
    .map(([, path = '']) => path)
    .filter(
      (path) =>
        /(\/|\.(ts|md|json|mjs|cjs))$/.test(path) || FOLDERS.some((folder) => path.startsWith(`${folder}/`)),
    );

function drawingsIn(text: string): string[] {
  return [...text.matchAll(/```mermaid\n(.*?)```/gs)].map(([, drawing = '']) => drawing);
}

/** Lines that are neither a participant nor a message between two of them. */
function sequenceFaults(text: string): string[] {
  const [, ...lines] = text.trimEnd().split('\n');
  const ids = new Set(lines.flatMap((line) => /^ {2}participant (\w+) as [\w ]+$/.exec(line)?.[1] ?? []));
  return lines.filter((line) => {
    const [, from = '', to = ''] = /^ {2}(\w+)--?>>(\w+): [^;#]+$/.exec(line) ?? [];
    return !line.startsWith('  participant ') && !(ids.has(from) && ids.has(to));
  });
}

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
