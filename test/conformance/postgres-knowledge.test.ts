import { afterEach, describe } from 'vitest';
import { openPostgres } from '../../actors/skills/store/postgres.ts';
import { isPostgresMissing, PostgresDatabase } from '../fixtures/skills/postgres-database.ts';
import { describeKnowledge } from './knowledge.suite.ts';

describe.skipIf(isPostgresMissing)('With a server that ORRERY_TEST_POSTGRES names', () => {
  let database: PostgresDatabase | undefined;
  afterEach(async () => {
    await database?.[Symbol.asyncDispose]();
    database = undefined;
  });

  describeKnowledge('PostgreSQL', async () => {
    database ??= await PostgresDatabase.create();
    return openPostgres(database.url);
  });
});
