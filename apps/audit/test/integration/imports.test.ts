import { describe, expect, it } from 'vitest';
import { dependencies } from '../../tools/dependencies.tool.ts';
import { layers } from '../../tools/layers.tool.ts';
import { placesIn, reportOn } from '../run-on.ts';

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
      'src/b.js': "try { require('brought'); } catch {}\n",
    });
    expect(placesIn(report)).toEqual(['dependencies/undeclared src/a.ts:3']);
  });

  it('reports a range that the lock was not made for', async () => {
    const report = await reportOn(dependencies, {
      'package.json': '{\n  "dependencies": {\n    "a": "^2.0.0",\n    "b": "1.0.0"\n  }\n}\n',
      'package-lock.json':
        '{ "lockfileVersion": 3, "packages": { "": { "dependencies": { "a": "^1.0.0", "b": "1.0.0" } } } }',
    });
    expect(placesIn(report)).toEqual(['dependencies/lock-drift package.json:3']);
  });
});
