import { afterAll, describe } from 'vitest';
import { openPostgres } from '../../actors/skills/store/postgres.ts';
import { isPostgresMissing, PostgresDatabase } from '../fixtures/skills/postgres-database.ts';
import { describeMemories } from './memories.suite.ts';

describe.skipIf(isPostgresMissing)('With a server that ORRERY_TEST_POSTGRES names', () => {
  let database: PostgresDatabase | undefined;
  afterAll(() => database?.[Symbol.asyncDispose]());

  describeMemories('PostgreSQL', async () => {
    database ??= await PostgresDatabase.create();
    return openPostgres(database.url);
  });
});
