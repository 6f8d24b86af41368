import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach } from 'vitest';
import { openSqlite } from '../../actors/skills/store/sqlite.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { describeKnowledge } from './knowledge.suite.ts';

let folder: string | undefined;
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true });
  folder = undefined;
});

describeKnowledge('SQLite', () => {
  folder ??= mkdtempSync(join(tmpdir(), 'orrery-knowledge-'));
  return openSqlite(join(folder, 'skills.db'), systemClock);
});
