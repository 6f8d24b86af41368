import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { checkTypes } from '../../audit/types-check.ts';
import { spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => checkTypes(root, new ProgressCounter());

const OPTIONS = {
  strict: true,
  target: 'ES2022',
  lib: ['ES2022'],
  module: 'NodeNext',
  allowImportingTsExtensions: true,
  noEmit: true,
  types: [],
};
const WRONG = "export const wrong: number = 'text';\n";

/** A repository of the given files; objects become JSON. */
function repository(files: Readonly<Record<string, string | object>>): TemporaryFolder {
  const folder = new TemporaryFolder();
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(folder.path, path)), { recursive: true });
    writeFileSync(join(folder.path, path), typeof content === 'string' ? content : JSON.stringify(content));
  }
  return folder;
}

describe('the projects that MARS checks', () => {
  it('are the root, those it refers to, and those of the workspaces, npm and pnpm', async () => {
    using repo = repository({
      'package.json': { workspaces: ['apps/*', '!apps/left-out'] },
      'pnpm-workspace.yaml': "packages:\n  # tools\n  - 'tools/*'\n",
      'tsconfig.json': { files: [], references: [{ path: './core' }] },
      'core/tsconfig.json': { compilerOptions: { ...OPTIONS, composite: true } },
      'core/a.ts': WRONG,
      'apps/one/tsconfig.json': { compilerOptions: OPTIONS },
      'apps/one/a.ts': WRONG,
      'apps/left-out/tsconfig.json': { compilerOptions: OPTIONS },
      'apps/left-out/a.ts': WRONG,
      'tools/two/tsconfig.json': { compilerOptions: OPTIONS },
      'tools/two/a.ts': WRONG,
    });
    const { findings, notes } = await check(repo.path);
    expect(notes).toContainEqual({
      kind: 'project-aside',
      file: 'apps/left-out/tsconfig.json',
      reason: 'its project was not checked: the workspaces leave it out',
    });
    expect(spotsOf(findings).map((spot) => spot.split(' ')[1])).toEqual([
      'apps/one/a.ts:1',
      'core/a.ts:1',
      'tools/two/a.ts:1',
    ]);
  });

  it('are those of nearby folders when neither root nor workspaces have one', async () => {
    using repo = repository({
      'server/tsconfig.json': { compilerOptions: OPTIONS },
      'server/a.ts': WRONG,
      'test/tsconfig.json': { compilerOptions: OPTIONS },
      'test/a.ts': WRONG,
    });
    expect(spotsOf((await check(repo.path)).findings)).toEqual(['types.TS2322 server/a.ts:1']);
  });

  it('are also those that neither root nor workspaces name, with the files that no other project has', async () => {
    using repo = repository({
      'tsconfig.json': { compilerOptions: OPTIONS, include: ['a/*.ts'] },
      'a/x.ts': WRONG,
      'a/tsconfig.json': { compilerOptions: { ...OPTIONS, noUnusedLocals: true } },
      'b/tsconfig.json': { compilerOptions: OPTIONS },
      'b/x.ts': WRONG,
      'c/tsconfig.json': '{ "compilerOptions": ',
      'fixtures/d/tsconfig.json': { compilerOptions: OPTIONS },
    });
    const { findings, notes } = await check(repo.path);
    expect(spotsOf(findings)).toEqual([
      'types.TS2322 a/x.ts:1',
      'types.TS2322 b/x.ts:1',
      'types.TS5024 c/tsconfig.json:1',
    ]);
    expect(notes.map(({ kind, file }) => [kind, file])).toEqual([
      ['project-aside', 'fixtures/d/tsconfig.json'],
      ['no-inputs', 'c/tsconfig.json'],
    ]);
  });

  it('have the files that are only imported, too', async () => {
    using repo = repository({
      'tsconfig.json': { compilerOptions: OPTIONS, files: ['main.ts'] },
      'main.ts': "import { wrong } from './deep/wrong.ts';\nexport const main = wrong;\n",
      'deep/wrong.ts': WRONG,
    });
    const { findings, notes, filesSeen } = await check(repo.path);
    expect(spotsOf(findings)).toEqual(['types.TS2322 deep/wrong.ts:1']);
    expect(filesSeen).toBe(2);
    expect(notes).toEqual([]);
  });

  it('leave files that none of them has to a note', async () => {
    using repo = repository({
      'pk/tsconfig.json': { compilerOptions: OPTIONS },
      'pk/a.ts': 'export const a = 1;\n',
      'b.ts': WRONG,
      'c.ts': WRONG,
      'd.d.ts': 'export {};\n',
      'e.mts': WRONG,
      'f.tsx': WRONG,
    });
    const { findings, notes } = await check(repo.path);
    expect(findings).toEqual([]);
    expect(notes).toEqual([
      {
        kind: 'no-project',
        file: 'b.ts',
        reason:
          'is the first of 4 TypeScript files in no project that was checked; then c.ts, e.mts and 1 more',
      },
    ]);
  });

  it('are strict by default only for a repository that does not ask for a compiler before 6', async () => {
    const loose = 'export const untyped = (value) => value;\n';
    const tsconfig = { compilerOptions: { ...OPTIONS, strict: undefined } };
    using older = repository({
      'package.json': { devDependencies: { typescript: '^5.4.0' } },
      'tsconfig.json': tsconfig,
      'a.ts': loose,
    });
    using newer = repository({ 'tsconfig.json': tsconfig, 'a.ts': loose });
    expect((await check(older.path)).findings).toEqual([]);
    expect(spotsOf((await check(newer.path)).findings)).toEqual(['types.TS7006 a.ts:1']);
  });
});

describe('a program that MARS makes', () => {
  it('leaves out a file that is nested too deeply, and checks the others', async () => {
    const depth = 20_000;
    using repo = repository({
      'tsconfig.json': { compilerOptions: OPTIONS },
      'deep.ts': `export const deep: unknown = ${'['.repeat(depth)}${']'.repeat(depth)};\n`,
      'user.ts': `import { deep } from './deep.ts';\nexport const used = deep;\n${WRONG}`,
    });
    const { findings, notes } = await check(repo.path);
    expect(spotsOf(findings)).toEqual(['types.TS2322 user.ts:3']);
    expect(notes.map(({ kind, file }) => [kind, file])).toEqual([
      ['not-checked', 'deep.ts'],
      ['not-loaded', 'tsconfig.json'],
    ]);
  });

  it('does not blame the repository for what did not fit into one program', async () => {
    const filler = `// ${'x'.repeat(900_000)}\n`;
    using repo = repository({
      'package.json': { name: 'whole', type: 'module', exports: { './*': './*' } },
      'tsconfig.json': { compilerOptions: OPTIONS },
      'a-user.ts': [
        "import type { First } from './z-first.ts';",
        "import type { Base } from './z-second.ts';",
        "import { last } from 'whole/z-third.ts';",
        'export interface Use extends Base, First { readonly own: string }',
        'export const nameOf = ({ name }: Use): string => name;',
        'export const use: Use = { own: last, name: "x", first: 1 };',
        WRONG,
      ].join('\n'),
      'z-first.ts': `${filler}export interface First { readonly first: number }\n`,
      'z-second.ts': `${filler}export interface Base { readonly name: string }\n`,
      'z-third.ts': `${filler}export const last = 'x';\n`,
    });
    const { findings, notes } = await check(repo.path);
    expect(spotsOf(findings)).toEqual(['types.TS2322 a-user.ts:7']);
    expect(notes.map(({ kind }) => kind)).toEqual(['not-loaded', 'may-follow']);
  });

  it('does not trust what may follow from packages that are not installed', async () => {
    using repo = repository({
      'tsconfig.json': { compilerOptions: OPTIONS },
      'lean.ts': [
        "import { EventEmitter } from 'node:events';",
        "import { z } from 'zod';",
        'export const Shape = z.object({ id: z.string() });',
        'export class Bell extends EventEmitter { ring() { this.emit("ring"); } }',
        'export const run = z.pipe((value) => value.id);',
        'export const home = process.env.HOME;',
      ].join('\n'),
      'leaning.ts':
        "import { Bell } from './lean.ts';\nexport const rung = new Bell().once('ring', (x) => x);\n",
      'apart.ts': 'export const untyped = (value) => value;\n',
    });
    const { findings, notes } = await check(repo.path);
    expect(spotsOf(findings)).toEqual(['types.TS7006 apart.ts:1']);
    expect(notes.map(({ kind }) => kind)).toEqual(['packages-missing', 'may-follow']);
  });
});
