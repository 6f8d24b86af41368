import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { scanFiles } from '../../audit/file-scan.ts';
import { ProgressCounter } from '../../audit/progress-counter.ts';
import { RELEASE_CHECK } from '../../audit/release/release-check.ts';
import { fixturePath, plantedIn, spotsOf, TemporaryFolder } from './fixture.ts';

const check = (root: string) => scanFiles(root, RELEASE_CHECK, new ProgressCounter());

describe('TRITON', () => {
  it('finds everything that is planted, and no decoy', async () => {
    const root = fixturePath('triton');
    const { findings, notes } = await check(root);
    expect(plantedIn(root).length).toBeGreaterThan(17);
    expect(spotsOf(findings)).toEqual(plantedIn(root));
    expect(notes).toEqual([]);
  });

  it('names what it cannot parse', async () => {
    using repo = new TemporaryFolder();
    mkdirSync(join(repo.path, '.github/workflows'), { recursive: true });
    writeFileSync(join(repo.path, '.github/workflows/broken.yml'), 'jobs: [');
    writeFileSync(join(repo.path, '.github/workflows/deep.yml'), '['.repeat(200_000));
    writeFileSync(join(repo.path, 'package.json'), '{ "name": ');
    const { findings, notes } = await check(repo.path);
    expect(findings).toEqual([]);
    expect(notes.map(({ kind, file }) => [kind, file])).toEqual([
      ['unparsable', 'package.json'],
      ['unparsable', '.github/workflows/broken.yml'],
      ['unparsable', '.github/workflows/deep.yml'],
    ]);
  });

  it('is not delayed by aliases of aliases, nor by a loop of them', async () => {
    using repo = new TemporaryFolder();
    mkdirSync(join(repo.path, '.github/workflows'), { recursive: true });
    const lines = ['a0: &a0 { run: make }'];
    for (let level = 1; level < 40; level++)
      lines.push(`a${level}: &a${level} [*a${level - 1}, *a${level - 1}]`);
    lines.push('jobs: { test: { steps: *a39 } }', 'loop: &loop { jobs: *loop }', 'runs: *loop');
    writeFileSync(join(repo.path, '.github/workflows/aliases.yml'), lines.join('\n'));
    expect((await check(repo.path)).findings).toEqual([]);
  });
});
