import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..');
const ID = /\b[NLXAMCF]-(?:\d+\.\d+|[PDEVT]?\d{2}|\d+)\b/g;
/** What follows the name of a block of tests, up to its title; a block that is left out cites nothing. */
const TITLE =
  /\b(?:describe|it|test)(?!\.(?:skip|todo)\b)[^'"`;]{0,2000}?\(\s*('(?:[^'\\\n]|\\.)*'|"(?:[^"\\\n]|\\.)*"|`(?:[^`\\]|\\.)*`)/g;

/** The ids of requirements in a text. */
export const idsIn = (text: string): string[] => [...text.matchAll(ID)].map(([id]) => id);

/** Every requirement that docs/requirements.md lists, with its state. */
export const listedRequirements = (): ReadonlyMap<string, 'done' | 'planned'> =>
  new Map(
    [
      ...readFileSync(join(ROOT, 'docs/requirements.md'), 'utf8').matchAll(
        /^\| (\S+) \|.*\| (done|planned) \|$/gm,
      ),
    ].map(([, id, state]) => [id as string, state as 'done' | 'planned']),
  );

function testFiles(folder: string): string[] {
  return readdirSync(folder, { withFileTypes: true }).flatMap((entry) => {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) return entry.name === 'node_modules' ? [] : testFiles(path);
    return entry.name.endsWith('.ts') ? [path] : [];
  });
}

/** The files of tests, their helpers among them. */
export const allTestFiles = (): string[] => [
  ...testFiles(join(ROOT, 'test')),
  ...testFiles(join(ROOT, 'apps')),
];

/** The files that cite each requirement in the title of a test, or of a block of tests. */
export function citedInTitles(): ReadonlyMap<string, ReadonlySet<string>> {
  const cited = new Map<string, Set<string>>();
  for (const file of allTestFiles()) {
    if (!/\.(?:test|suite)\.ts$/.test(file)) continue;
    for (const [, title = ''] of readFileSync(file, 'utf8').matchAll(TITLE))
      for (const id of idsIn(title)) cited.set(id, (cited.get(id) ?? new Set()).add(file));
  }
  return cited;
}
