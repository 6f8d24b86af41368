import { randomBytes } from 'node:crypto';
import pg from 'pg';
import { afterEach } from 'vitest';
import { openPostgres } from '../../actors/skills/store/postgres.ts';
import { describeSkillStore } from './skill-store.suite.ts';

const admin = 'postgres://postgres@127.0.0.1:54329/postgres';
let name: string | undefined;
async function sql(text: string) {
  const client = new pg.Client(admin);
  await client.connect();
  await client.query(text);
  await client.end();
}
afterEach(async () => {
  if (name !== undefined) await sql(`drop database ${name} with (force)`);
  name = undefined;
});

describeSkillStore('PostgreSQL', async () => {
  if (name === undefined) {
    name = `skills_${randomBytes(6).toString('hex')}`;
    await sql(`create database ${name} owner orrery`);
  }
  return openPostgres(`postgres://orrery@127.0.0.1:54329/${name}`);
});
