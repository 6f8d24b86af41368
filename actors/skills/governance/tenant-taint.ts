import { mergeTaint, Taint } from '../../../runtime/protocol/taint.ts';
import type { TenantQueries } from '../store/skill-store.ts';

/* Where the policies and suppressions of a tenant came from outside: all of it together, for they are merged and applied together. */

/** Adds to it, where something is kept that came from there. */
export async function addTaint(queries: TenantQueries, taint: Taint | undefined): Promise<void> {
  const known = await taintIn(queries);
  const merged = mergeTaint(known, taint);
  if (merged === undefined || merged === known) return;
  const row = { taint: JSON.stringify(merged) };
  await queries
    .insertInto('governance_taints')
    .values(row)
    .onConflict((conflict) => conflict.columns(['tenant' as never]).doUpdateSet(row))
    .execute();
}

export async function taintIn(queries: TenantQueries): Promise<Taint | undefined> {
  const row = await queries.selectFrom('governance_taints').select('taint').executeTakeFirst();
  return row === undefined ? undefined : Taint.parse(JSON.parse(row.taint));
}
