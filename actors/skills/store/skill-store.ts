import type { Kysely, Transaction } from 'kysely';
import { reasonOf, storeFailed } from '../../../runtime/protocol/errors.ts';
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
  /** What errors call it. */
  readonly name: string;
  /** Whether an error is one of the database, and not of who uses it. */
  readonly isFailure: (error: unknown) => boolean;
  /** Runs in a transaction that may write, or only reads; `tenant` is for those that check it themselves as well. */
  transact<Result>(
    access: { readonly tenant: string; readonly writes: boolean },
    run: (queries: TenantQueries) => Promise<Result>,
  ): Promise<Result>;
}

/** The store in a database whose tables are there. */
export function storeIn({ db, name, isFailure, transact }: Database): SkillStore {
  const told = (operation: string) => (error: unknown) => {
    throw isFailure(error) ? storeFailed(name, operation, reasonOf(error), error) : error;
  };
  const confined =
    <Result>(tenant: string, run: (queries: TenantQueries) => Promise<Result>) =>
    (queries: TenantQueries): Promise<Result> =>
      run(queries.withPlugin(new TenantScope(tenant)));
  return {
    read: (tenant, run) => transact({ tenant, writes: false }, confined(tenant, run)).catch(told('read')),
    write: (tenant, run) => transact({ tenant, writes: true }, confined(tenant, run)).catch(told('write')),
    close: () => db.destroy(),
  };
}
