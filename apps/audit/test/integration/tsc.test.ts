import { mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { TypesCheck } from '../../tools/tsc/type-check.ts';
import { tsc } from '../../tools/tsc.tool.ts';
import { type Files, placesIn, reportHere, reportOn, withRepository } from '../run-on.ts';

const STRICT = JSON.stringify({
  compilerOptions: { strict: true, module: 'nodenext', target: 'es2022', types: [] },
});
const WRONG = "export const n: number = 'x';\n";

const kindsOf = async (files: Files): Promise<string[]> => {
  const { findings, notes } = await reportHere(tsc, files);
  expect(findings).toEqual([]);
  return notes.map(({ kind }) => kind);
};

describe('the type check', () => {
  it('reports what the compiler refuses, and a broken file as more severe', async () => {
    const report = await reportOn(tsc, {
      'tsconfig.json': STRICT,
      'a.ts': `// é😀\n${WRONG}`,
      'b.ts': 'const = 1;\n',
    });
    expect(placesIn(report)).toEqual(['tsc/TS2322 a.ts:2', 'tsc/syntax-TS1134 b.ts:1']);
    expect(new Set(report.findings.map(({ severity }) => severity))).toEqual(new Set(['high', 'medium']));
    expect(report.filesSeen).toBe(2);
  });

  it('honours @ts-expect-error', async () => {
    const report = await reportHere(tsc, {
      'tsconfig.json': STRICT,
      'a.ts': `// @ts-expect-error as a test\n${WRONG}`,
    });
    expect(report.findings).toEqual([]);
  });

  it('checks each file by the nearest project, and references of projects', async () => {
    const report = await reportHere(tsc, {
      'tsconfig.json': JSON.stringify({ files: [], references: [{ path: './lib' }] }),
      'lib/tsconfig.json': STRICT,
      'lib/a.ts': WRONG,
    });
    expect(placesIn(report)).toEqual(['tsc/TS2322 lib/a.ts:1']);
  });

  it('takes an error in tests that their own project does not have for none', async () => {
    const report = await reportHere(tsc, {
      'tsconfig.json': STRICT,
      'tsconfig.test.json': JSON.stringify({
        extends: './tsconfig.json',
        files: ['globals.d.ts', 'a.test.ts'],
      }),
      'globals.d.ts': 'declare const suite: (title: string) => void;\n',
      'src/a.ts': 'export const a = 1;\n',
      'a.test.ts': "suite('a');\n",
    });
    expect(report.findings).toEqual([]);
  });

  it('rates nothing where packages are missing', async () => {
    const files = {
      'tsconfig.json': STRICT,
      'a.ts': `import { x } from 'not-installed';\nexport const y = x;\n${WRONG}`,
    };
    expect(await kindsOf(files)).toEqual(['not-installed']);
  });

  it('rates nothing where what is extended is missing', async () => {
    const config = JSON.stringify({ extends: './base.json', compilerOptions: { strict: true } });
    expect(await kindsOf({ 'tsconfig.json': config, 'a.ts': WRONG })).toEqual(['unresolved-config']);
  });

  it('is not led to print, to write or to load plug-ins', async () => {
    const compilerOptions = {
      ...{
        traceResolution: true,
        listFiles: true,
        explainFiles: true,
        extendedDiagnostics: true,
        incremental: true,
      },
      ...{
        tsBuildInfoFile: './info',
        generateTrace: './trace',
        plugins: [{ name: './evil.cjs' }],
        noEmit: false,
        outDir: './out',
      },
      ...{ strict: true, types: [], declaration: true, composite: true },
      ...{ isolatedDeclarations: true, declarationDir: './types' },
    };
    const report = await reportOn(tsc, {
      'tsconfig.json': JSON.stringify({ compilerOptions }),
      'a.ts': WRONG,
    });
    expect(placesIn(report)).toEqual(['tsc/TS2322 a.ts:1']);
  });

  it('understands options that TypeScript 7 has no more', async () => {
    const compilerOptions = {
      target: 'es5',
      moduleResolution: 'node',
      baseUrl: './src',
      downlevelIteration: true,
      esModuleInterop: false,
    };
    const report = await reportHere(tsc, {
      'tsconfig.json': JSON.stringify({ compilerOptions }),
      'package.json': '{ "devDependencies": { "typescript": "^5.4.0" } }',
      'src/lib/one.ts': 'export const one = 1;\n',
      'src/a.ts':
        "import { one } from 'lib/one';\nexport const two = (untyped) => one + 1;\nexport const n: string = one;\n",
    });
    expect(report.notes).toEqual([]);
    expect(placesIn(report)).toEqual(['tsc/TS2322 src/a.ts:3']);
  });

  it('sees nothing outside of the repository, also behind a link', async () => {
    const outside = { 'secret.ts': 'export const secret = 42;\n', 'repository/package.json': '{}' };
    await withRepository(outside, async (folder) => {
      const root = join(folder, 'repository');
      mkdirSync(join(root, 'src'));
      symlinkSync(join(folder, 'secret.ts'), join(root, 'src/linked.ts'));
      writeFileSync(join(root, 'tsconfig.json'), STRICT);
      writeFileSync(
        join(root, 'src/a.ts'),
        "import { secret } from './linked.js';\nexport const n: string = secret;\n",
      );
      const job = { root, files: ['tsconfig.json', 'src/a.ts'], input: {} };
      const { hits } = await new TypesCheck(job, () => undefined).run();
      expect(hits.map(({ rule, message }) => `${rule} ${message}`).join('\n')).not.toContain('42');
      expect(hits.map(({ rule }) => rule)).toEqual(['tsc/TS2307']);
    });
  });

  it('ends a compiler that takes more memory than it may, and says what was not checked', async () => {
    const many = Array.from(
      { length: 40 },
      (_, index) =>
        `type T${index} = ${Array.from({ length: 400 }, (_, at) => `'${index}-${at}'`).join(' | ')};`,
    );
    const heavy = `${many.join('\n')}\nexport type All = \`\${T0}\${T1}\`;\n`;
    await withRepository({ 'tsconfig.json': STRICT, 'a.ts': heavy }, async (root) => {
      const job = { root, files: ['tsconfig.json', 'a.ts'], input: {} };
      const { notes = [], filesSeen } = await new TypesCheck(job, () => undefined, {
        maxMemoryMb: 1,
        lookEveryMs: 1,
      }).run();
      expect(notes.map(({ kind }) => kind)).toEqual(['memory']);
      expect(filesSeen).toBe(0);
    });
  });
});
