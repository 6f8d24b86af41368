import fc from 'fast-check';
import { mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { checkDependencies } from '../../audit/dependencies/dependencies-check.ts';
import { isCopyleft } from '../../audit/dependencies/licences.ts';
import { packageNamed, typesOf } from '../../audit/dependencies/package-name.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => checkDependencies(root, new ProgressCounter());

function write(repo: TemporaryFolder, file: string, content: unknown): void {
  mkdirSync(dirname(join(repo.path, file)), { recursive: true });
  writeFileSync(join(repo.path, file), typeof content === 'string' ? content : JSON.stringify(content));
}

describe('URANUS', () => {
  it('finds everything that is wrong with the dependencies planted, and no decoy', async () => {
    const root = fixturePath('uranus');
    const { findings, notes } = await check(root);
    expect(plantedIn(root).length).toBeGreaterThan(15);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toMatchObject([
      { kind: 'not-installed', reason: expect.stringMatching(/^whether missing-in-lock is used/) },
    ]);
  });

  it('says what it found out', async () => {
    const { findings } = await check(fixturePath('uranus'));
    const told = findings.map(({ message }) => message);
    expect(told).toContain(
      'undeclared is imported here (and in 1 other file), and packages/cart/package.json does not declare it',
    );
    expect(told).toContain('drifted is ^2.0.0 here; package-lock.json was made for ^1.0.0');
    expect(told).toContain('too-old is ^3.0.0 here; package-lock.json has 2.9.0');
    expect(told).toContain('package-lock.json still has left-behind, which is gone here');
    expect(told).toContain(
      'deep, which free-inside brings is under (AGPL-3.0-or-later AND MIT), which binds whatever is published with it',
    );
    expect(told).toContain('alpha is ^0.9.0 here and ^1.0.0 in package.json, so two are installed');
  });

  it('says that there is nothing to look at', async () => {
    using repo = new TemporaryFolder();
    write(repo, 'index.js', "import 'anything';");
    expect(await check(repo.path)).toMatchObject({ findings: [], notes: [{ kind: 'empty' }] });
  });

  it('does not guess what packages bring that no lock file tells of', async () => {
    using repo = new TemporaryFolder();
    write(repo, 'package.json', { name: 'shop', dependencies: { one: '1.0.0', two: '1.0.0' } });
    const { findings, notes } = await check(repo.path);
    expect(findings).toEqual([]);
    expect(notes).toEqual([
      {
        kind: 'not-installed',
        reason:
          'whether one and 1 more are used is not known: neither a lock file of npm nor node_modules says what they bring',
      },
    ]);
  });

  it('asks node_modules where there is no lock file', async () => {
    using repo = new TemporaryFolder();
    write(repo, '.gitignore', 'node_modules\n');
    write(repo, 'package.json', {
      name: 'shop',
      scripts: { build: 'make-it' },
      dependencies: { maker: '1.0.0', idle: '1.0.0' },
    });
    write(repo, 'node_modules/maker/package.json', { name: 'maker', bin: { 'make-it': 'bin.js' } });
    write(repo, 'node_modules/idle/package.json', { name: 'idle', bin: 'bin.js' });
    const { findings, notes } = await check(repo.path);
    expect(findings.map(({ message }) => message)).toEqual(['idle is declared, and nothing mentions it']);
    expect(notes).toEqual([]);
  });

  it('names what it cannot read', async () => {
    using repo = new TemporaryFolder();
    write(repo, 'package.json', { name: 'shop' });
    write(repo, 'package-lock.json', { lockfileVersion: 1, dependencies: {} });
    write(repo, 'sub/package.json', '{');
    write(repo, 'sub/package-lock.json', '[]');
    const { findings, notes } = await check(repo.path);
    expect(findings).toEqual([]);
    expect(notes.map(({ kind, file }) => [kind, file])).toEqual([
      ['unparsable', 'sub/package.json'],
      ['unparsable', 'sub/package-lock.json'],
      ['old-lock', 'package-lock.json'],
    ]);
  });

  it('leaves imports to Deno that Deno maps', async () => {
    using repo = new TemporaryFolder();
    write(repo, 'package.json', { name: 'shop' });
    write(repo, 'deno.json', { imports: { oak: 'jsr:@oak/oak' } });
    write(repo, 'main.ts', "import 'oak';\nimport 'other';\n");
    expect((await check(repo.path)).findings).toEqual([]);
  });

  it('leaves a package its copyleft that is under copyleft itself', async () => {
    const lock = (license: string) => ({
      lockfileVersion: 3,
      packages: {
        '': { name: 'shop', license, dependencies: { free: '1.0.0' } },
        'node_modules/free': { version: '1.0.0', license: 'GPL-3.0-only' },
      },
    });
    using repo = new TemporaryFolder();
    write(repo, 'index.js', "import 'free';");
    const rulesUnder = async (license: string) => {
      write(repo, 'package.json', { name: 'shop', license, dependencies: { free: '1.0.0' } });
      write(repo, 'package-lock.json', lock(license));
      return (await check(repo.path)).findings.map(({ rule }) => rule);
    };
    expect(await rulesUnder('MIT')).toEqual(['dependencies.copyleft']);
    expect(await rulesUnder('GPL-3.0-or-later')).toEqual([]);
  });

  it('takes the workspaces of pnpm', async () => {
    using repo = new TemporaryFolder();
    write(repo, 'package.json', { name: 'shop', devDependencies: { tool: '^1.0.0' } });
    write(repo, 'pnpm-workspace.yaml', 'packages:\n  - packages/*\n  - "!packages/out"\n');
    write(repo, 'packages/in/package.json', { name: 'in', devDependencies: { tool: '^1.1.0' } });
    write(repo, 'packages/out/package.json', { name: 'out', devDependencies: { tool: '^3.0.0' } });
    expect((await check(repo.path)).findings.map(({ file, message }) => [file, message])).toEqual([
      [
        'packages/in/package.json',
        'tool is ^1.1.0 here and ^1.0.0 in package.json, which need not be the same version',
      ],
    ]);
  });
});

describe('isCopyleft', () => {
  it.each([
    ['MIT', false],
    ['GPL-3.0-only', true],
    ['agpl-3.0', true],
    ['LGPL-3.0-only', false],
    ['(MIT OR GPL-3.0)', false],
    ['GPL-2.0 OR AGPL-3.0', true],
    ['(MIT AND GPL-3.0)', true],
    ['MIT AND (Apache-2.0 OR GPL-3.0)', false],
    ['GPL-2.0 WITH Classpath-exception-2.0', false],
    ['SEE LICENSE IN LICENSE.md', false],
    ['(GPL-3.0', false],
    ['', false],
  ])('%s: %s', (licence, expected) => {
    expect(isCopyleft(licence)).toBe(expected);
  });
});

/** A licence expression, and whether it binds: the same tree read by the parser and by the tree itself. */
interface Licence {
  readonly text: string;
  readonly binds: boolean;
}
const { tree } = fc.letrec<{ tree: Licence; leaf: Licence }>((tie) => ({
  leaf: fc.constantFrom(
    { text: 'MIT', binds: false },
    { text: 'LGPL-2.1-only', binds: false },
    { text: 'GPL-3.0-or-later', binds: true },
    { text: 'AGPL-3.0', binds: true },
    { text: 'GPL-2.0 WITH Classpath-exception-2.0', binds: false },
  ),
  tree: fc.oneof(
    { maxDepth: 5 },
    tie('leaf'),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => ({
      text: `(${a.text} OR ${b.text})`,
      binds: a.binds && b.binds,
    })),
    fc.tuple(tie('tree'), tie('tree')).map(([a, b]) => ({
      text: `(${a.text}) and (${b.text})`,
      binds: a.binds || b.binds,
    })),
  ),
}));

describe('isCopyleft of any expression', () => {
  it('binds when every choice does, and when one of several together does', () => {
    fc.assert(
      fc.property(tree, ({ text, binds }) => {
        expect(isCopyleft(`(${text})`)).toBe(binds);
      }),
      { numRuns: 300 },
    );
  });

  it('says nothing of what is no expression', () => {
    const words = fc.constantFrom('MIT', 'GPL-3.0', 'OR', 'AND', 'WITH', '(', ')');
    fc.assert(
      fc.property(fc.array(words), (all) => {
        expect(typeof isCopyleft(all.join(' '))).toBe('boolean');
      }),
      { numRuns: 300 },
    );
  });
});

describe('packageNamed', () => {
  it.each([
    ['zod', 'zod'],
    ['zod/v4', 'zod'],
    ['@scope/name/deep', '@scope/name'],
    ['fs', undefined],
    ['node:fs', undefined],
    ['fs/promises', undefined],
    ['./zod', undefined],
    ['@/zod', undefined],
    ['~/zod', undefined],
    ['#zod', undefined],
    ['https://esm.sh/zod', undefined],
    ['raw-loader!./text', undefined],
    ['Components/Button', undefined],
    ['zod?raw', 'zod'],
  ])('%s: %s', (specifier, name) => {
    expect(packageNamed(specifier)).toBe(name);
  });

  it('knows where the types of a scoped package are', () => {
    expect(typesOf('@scope/name')).toBe('@types/scope__name');
  });
});
