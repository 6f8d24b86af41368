import { symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { auditArchitecture } from '../../audit/architecture.ts';
import type { Layer } from '../../audit/layers.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const LAYERS: Layer[] = [
  { name: 'core', match: ['core/**'], mayImport: [] },
  { name: 'app', match: ['app/**'], mayImport: ['core'] },
];

const audit = (root: string, layers: Layer[] = []) =>
  auditArchitecture(root, { layers, progress: new ProgressCounter() });

describe('JUPITER', () => {
  it('finds every circle and breach of layers that is planted, and no decoy', async () => {
    const root = fixturePath('jupiter');
    const { findings, notes } = await audit(root, LAYERS);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });

  it('says that there is nothing to look at', async () => {
    using repo = new TemporaryFolder();
    expect((await audit(repo.path)).notes).toMatchObject([{ kind: 'empty' }]);
  });

  it('names imports that lead nowhere, and files it cannot read as scripts', async () => {
    using repo = new TemporaryFolder();
    const at = (name: string): string => join(repo.path, name);
    writeFileSync(at('a.ts'), "import './b.ts';\nimport './gone.ts';\n");
    writeFileSync(at('b.ts'), Buffer.from([1, 0, 2]));
    writeFileSync(at('c.ts'), 'import {');
    symlinkSync('.', at('loop'));
    const { findings, notes } = await audit(repo.path);
    expect(findings).toEqual([]);
    expect(notes.map(({ kind, file }) => [kind, file]).sort()).toEqual([
      ['binary', 'b.ts'],
      ['import-to-nowhere', 'a.ts'],
      ['symlink', 'loop'],
      ['unparsable', 'c.ts'],
    ]);
  });
});
