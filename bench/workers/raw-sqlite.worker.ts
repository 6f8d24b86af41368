import { DatabaseSync } from 'node:sqlite';
import { workerData } from 'node:worker_threads';
import { COMMITS_UNDER_WAY, type DurableSettings, UNIT } from '../contenders/durable.ts';
import { durableUnits } from '../durable-mails.ts';
import { serveRuns } from './pair-end.ts';

const { settings } = workerData as { settings: DurableSettings };
const database = new DatabaseSync(settings.path);
database.exec('PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL');
database.exec(
  'CREATE TABLE mails (number INTEGER PRIMARY KEY AUTOINCREMENT, recipient TEXT NOT NULL, body TEXT NOT NULL)',
);
const begin = database.prepare('BEGIN IMMEDIATE');
const commit = database.prepare('COMMIT');
const insert = database.prepare('INSERT INTO mails (recipient, body) VALUES (?, ?)');
const settle = database.prepare('DELETE FROM mails WHERE number BETWEEN ? AND ?');
const mailsOf = durableUnits();
const unitsKept = COMMITS_UNDER_WAY * settings.units;
let written = 0;

function write(units: number): void {
  begin.run();
  for (const end = written + units; written < end; written++) {
    for (const { recipient, body } of mailsOf(written)) insert.run(recipient, body);
    const first = (written - unitsKept) * UNIT + 1;
    if (first > 0) settle.run(first, first + UNIT - 1);
  }
  commit.run();
}

serveRuns(async (count) => {
  for (let left = Math.ceil(count / UNIT); left > 0; left -= settings.units)
    write(Math.min(left, settings.units));
});
