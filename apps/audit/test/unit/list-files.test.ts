import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { expect, it } from 'vitest';
import { listRepository } from '../../list-repository.ts';

it('lists no folder that a build has made, and notes one that git would keep', async () => {
  const root = mkdtempSync(join(tmpdir(), 'orrery-list-'));
  try {
    for (const file of ['a/dist/index.js', 'b/dist/index.js', 'a/index.js', 'node_modules/c/index.js']) {
      mkdirSync(dirname(join(root, file)), { recursive: true });
      writeFileSync(join(root, file), '');
    }
    writeFileSync(join(root, '.gitignore'), 'b/dist\n');
    const { files, notes } = await listRepository(root, new AbortController().signal);
    expect(files.map(({ path }) => path).sort()).toEqual(['.gitignore', 'a/index.js']);
    expect(notes).toEqual([{ kind: 'built', file: 'a/dist', reason: 'is what a build has made' }]);
  } finally {
    rmSync(root, { recursive: true, force: true });
  }
});
