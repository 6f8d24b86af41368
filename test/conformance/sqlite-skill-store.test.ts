import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { afterEach, describe, expect, it } from 'vitest';
import { openSqlite } from '../../actors/skills/store/sqlite.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { describeSkillStore } from './skill-store.suite.ts';

let folder: string | undefined;
afterEach(() => {
  if (folder !== undefined) rmSync(folder, { recursive: true });
  folder = undefined;
});

describeSkillStore('SQLite', () => {
  folder ??= mkdtempSync(join(tmpdir(), 'orrery-skills-'));
  return openSqlite(join(folder, 'skills.db'), systemClock);
});

describe('A file of the skills in SQLite', () => {
  it('is made once, by however many open it at once', async () => {
    folder ??= mkdtempSync(join(tmpdir(), 'orrery-skills-'));
    const file = join(folder, 'skills.db');
    const stores = await Promise.all(Array.from({ length: 8 }, () => openSqlite(file, systemClock)));
    for (const store of stores) await store.close();
  });

  it('has all of its tables, or none of those that it had not', async () => {
    folder ??= mkdtempSync(join(tmpdir(), 'orrery-skills-'));
    const file = join(folder, 'skills.db');
    const other = new DatabaseSync(file);
    other.exec('create table policies (x)');
    await expect(openSqlite(file, systemClock)).rejects.toThrow('already exists');
    const tables = other.prepare("select name from sqlite_master where type = 'table'").all();
    expect(tables.map(({ name }) => name)).toEqual(['policies']);
    other.exec('drop table policies');
    other.close();
    await (await openSqlite(file, systemClock)).close();
  });
});
