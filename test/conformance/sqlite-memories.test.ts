import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { openSqlite } from '../../actors/skills/store/sqlite.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { describeMemories } from './memories.suite.ts';

let folder: string | undefined;
afterAll(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true });
});

describeMemories('SQLite', () => {
  folder ??= mkdtempSync(join(tmpdir(), 'orrery-memories-'));
  return openSqlite(join(folder, 'skills.db'), systemClock);
});
