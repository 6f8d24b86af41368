import { describe, expect, it } from 'vitest';
import { dependencies } from '../../tools/dependencies.tool.ts';
import { layers } from '../../tools/layers.tool.ts';
import { placesIn, reportHere, reportOn } from '../run-on.ts';

const LAYERS = [
  { name: 'core', match: ['core/**'], mayImport: [] },
  { name: 'app', match: ['app/**'], mayImport: ['core'] },
];

describe('layers', () => {
  it('reports an import against them, with both files', async () => {
    const files = {
      'core/a.ts': "import { b } from '../app/b.js';\nexport const a = b;\n",
      'app/b.ts': "import '../core/a.js';\nexport const b = 1;\n",
    };
    const report = await reportOn(layers, files, { layers: LAYERS });
    expect(placesIn(report)).toEqual(['layers/breach core/a.ts:1']);
    expect(report.findings[0]?.trail).toEqual(['core/a.ts', 'app/b.ts']);
  });
});

describe('dependencies', () => {
  it('reports a package that only another one brings, once a folder', async () => {
    const report = await reportOn(dependencies, {
      'package.json': '{ "name": "own", "dependencies": { "declared": "1.0.0" } }',
      'node_modules/declared/package.json': '{ "name": "declared", "main": "index.js" }',
      'node_modules/brought/package.json': '{ "name": "brought", "main": "index.js" }',
      'node_modules/brought/index.js': '',
      'src/a.ts':
        "import 'node:fs';\nimport 'declared';\nimport 'brought';\nimport 'own/self';\nimport '@/alias';\nimport 'bundlers-word';\nimport type {} from 'brought';\n",
      'src/given/a.ts': "import 'brought-here';\n",
      'src/given/node_modules/brought-here/package.json': '{ "name": "brought-here", "main": "index.js" }',
      'src/b.js': "try { require('brought'); } catch {}\n",
    });
    expect(placesIn(report)).toEqual(['dependencies/undeclared src/a.ts:3']);
  });

  const drifted = {
    'package.json':
      '{\n  "dependencies": {\n    "a": "^2.0.0",\n    "b": "^1.1.0",\n    "c": "1.0.0",\n    "d": "1.0.0"\n  }\n}\n',
    'package-lock.json': JSON.stringify({
      lockfileVersion: 3,
      packages: {
        '': { dependencies: { a: '^1.0.0', b: '^1.0.0', d: '1.0.0' } },
        'node_modules/a': { version: '1.5.0' },
        'node_modules/b': { version: '1.2.0' },
      },
    }),
  };

  it('reports once what a manifest asks for and the lock does not have, not a range that it fits', async () => {
    const report = await reportHere(dependencies, drifted);
    expect(placesIn(report)).toEqual(['dependencies/lock-drift package.json:3']);
    expect(report.findings[0]?.message).toContain('a ^2.0.0 (locked: 1.5.0), c 1.0.0 (locked: none), which');
  });

  it('takes a lock that drifts beside that of another package manager for a stray one', async () => {
    const stray = ['dependencies/stray-lock package.json:1'];
    expect(placesIn(await reportHere(dependencies, { ...drifted, 'pnpm-lock.yaml': '' }))).toEqual(stray);
    const named = drifted['package.json'].replace('{', '{ "packageManager": "yarn@4.0.0",');
    expect(placesIn(await reportHere(dependencies, { ...drifted, 'package.json': named }))).toEqual(stray);
  });
});
