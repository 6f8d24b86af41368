import assert from 'node:assert/strict';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import { startSystem } from 'orrery';
import { reviewNotes } from '../agents/editor.agent.ts';

let folder: string;
before(async () => {
  folder = await mkdtemp(join(tmpdir(), 'notes-'));
  await writeFile(join(folder, 'plan.md'), '# Plan\n\nTODO: water the plants\n');
});
after(() => rm(folder, { recursive: true }));

test('the editor finds what is still to be done', async () => {
  const agents = ['librarian', 'editor'].map((name) => ({
    module: new URL(`../agents/${name}.agent.ts`, import.meta.url),
  }));
  await using system = await startSystem({ agents });
  const { findings } = await system.ask(reviewNotes, { root: folder });
  assert.deepEqual(
    findings.map(({ file, line, evidence }) => ({ file, line, evidence })),
    [{ file: 'plan.md', line: 3, evidence: 'TODO: water the plants' }],
  );
});
