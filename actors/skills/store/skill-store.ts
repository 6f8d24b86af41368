import type { Kysely, Transaction } from 'kysely';
import { TenantScope } from './tenant-scope.ts';
import type { SkillTables } from './skill-tables.ts';

/** Queries that see the rows of one tenant alone. */
export type TenantQueries = Transaction<SkillTables>;

/**
 * Where the skills keep what they know. There is no way to it but for one tenant: every query is confined to that.
 *
 * Fails with STORE_FAILED when the database cannot be reached, or does not do it: then nothing of a `write` is kept.
 */
export interface SkillStore {
  /** Reads in one view of what there is. */
  read<Result>(tenant: string, run: (queries: TenantQueries) => Promise<Result>): Promise<Result>;
  /** Writes all or nothing; when it resolves, that outlives the process. */
  write<Result>(tenant: string, run: (queries: TenantQueries) => Promise<Result>): Promise<Result>;
  close(): Promise<void>;
}

/** What differs between databases. */
export interface Database {
  readonly db: Kysely<SkillTables>;
  /** Runs in a transaction that may write, or only reads; `tenant` is for those that check it themselves as well. */
  transact<Result>(
    access: { readonly tenant: string; readonly writes: boolean },
    run: (queries: TenantQueries) => Promise<Result>,
  ): Promise<Result>;
}

/** The store in a database whose tables are there. */
export function storeIn({ db, transact }: Database): SkillStore {
  const confined =
    <Result>(tenant: string, run: (queries: TenantQueries) => Promise<Result>) =>
    (queries: TenantQueries): Promise<Result> =>
      run(queries.withPlugin(new TenantScope(tenant)));
  return {
    read: (tenant, run) => transact({ tenant, writes: false }, confined(tenant, run)),
    write: (tenant, run) => transact({ tenant, writes: true }, confined(tenant, run)),
    close: () => db.destroy(),
  };
}
