import { invalidPayload, refused } from '../../../runtime/protocol/errors.ts';
import type { Taint } from '../../../runtime/protocol/taint.ts';
import { requireRole } from '../role.ts';
import type { SkillCaller } from '../skill-caller.ts';
import type { SkillStore, TenantQueries } from '../store/skill-store.ts';
import { type GovernanceDeps, noPolicy, policiesOf } from './policies.ts';
import { GOVERNANCE, POLICY_LAYERS, type Policy, type PolicyLayer } from './policy.ts';
import { addTaint } from './tenant-taint.ts';
import { type NewSuppression, roleToSuppress, type Suppression } from './suppression.ts';

/** How many suppressions a tenant may have. */
const MOST = 500;

/** The suppressions of a tenant. Each method fails with NOT_PERMITTED for a role that may not do it, and STORE_FAILED. */
export class Suppressions {
  readonly #store: SkillStore;
  readonly #now: () => number;
  readonly #newId: () => string;
  readonly #taint: Taint | undefined;

  constructor({ store, now, newId, taint }: GovernanceDeps) {
    this.#taint = taint;
    this.#store = store;
    this.#now = now;
    this.#newId = newId;
  }

  /**
   * Has violations not count until it expires. A mandatory policy takes the role that could put it in its layer. Fails with
   * INVALID_PAYLOAD for one that has expired, and REFUSED where there is no such policy.
   */
  async suppress(caller: SkillCaller, given: NewSuppression): Promise<Suppression> {
    const now = this.#now();
    requireRole(caller, 'tech-lead', 'suppress violations');
    if (given.expiresAt <= now)
      throw invalidPayload('governance_suppress', `expiresAt is ${given.expiresAt}, expected a time to come`);
    const { principalId: author, role } = caller;
    const suppression = { ...given, id: this.#newId(), author, role, createdAt: now };
    return this.#store.write(caller.tenant, async (queries) => {
      const { policyId } = given;
      const policies = await policiesOf(queries, policyId);
      if (policies.length === 0 && policyId !== GOVERNANCE) throw noPolicy(policyId);
      requireRole(caller, roleToSuppress(mandatoryFrom(policies)), `suppress violations of "${policyId}"`);
      await makeRoom(queries, now);
      await addTaint(queries, this.#taint);
      return keep(queries, suppression);
    });
  }

  /** The newest first. */
  async list(
    { tenant }: SkillCaller,
    limit: number,
  ): Promise<readonly (Suppression & { isExpired: boolean })[]> {
    const now = this.#now();
    const all = await this.#store.read(tenant, (queries) => allSuppressions(queries));
    return all.slice(0, limit).map((each) => ({ ...each, isExpired: each.expiresAt <= now }));
  }

  /** Has the violations count again; says whether there was such a suppression. */
  async remove(caller: SkillCaller, id: string): Promise<boolean> {
    requireRole(caller, 'tech-lead', 'end a suppression');
    const { numDeletedRows } = await this.#store.write(caller.tenant, (queries) =>
      queries.deleteFrom('policy_suppressions').where('id', '=', id).executeTakeFirstOrThrow(),
    );
    return numDeletedRows > 0n;
  }
}

/** All suppressions of the tenant of `queries`, also those that have expired. */
export async function allSuppressions(queries: TenantQueries): Promise<readonly Suppression[]> {
  const rows = await queries
    .selectFrom('policy_suppressions')
    .selectAll()
    .orderBy('created_at', 'desc')
    .orderBy('id', 'desc')
    .execute();
  return rows.map(suppressionIn);
}

const mandatoryFrom = (policies: readonly Policy[]): PolicyLayer | undefined =>
  POLICY_LAYERS.find((layer) =>
    policies.some((policy) => policy.mode === 'mandatory' && policy.layer === layer),
  );

async function makeRoom(queries: TenantQueries, now: number): Promise<void> {
  if ((await count(queries)) < MOST) return;
  await queries.deleteFrom('policy_suppressions').where('expires_at', '<=', now).execute();
  if ((await count(queries)) >= MOST) throw refused(`There are ${MOST} suppressions, and no more can be`);
}

async function count(queries: TenantQueries): Promise<number> {
  const row = await queries
    .selectFrom('policy_suppressions')
    .select(({ fn }) => fn.countAll().as('count'))
    .executeTakeFirstOrThrow();
  return Number(row.count);
}

/** Keeps it, or gives what is there under its id: that of the same request, which is tried again. */
async function keep(queries: TenantQueries, suppression: Suppression): Promise<Suppression> {
  const {
    id,
    policyId,
    ruleId = null,
    messagePattern = null,
    reason,
    author,
    role,
    createdAt,
    expiresAt,
  } = suppression;
  await queries
    .insertInto('policy_suppressions')
    .values({
      id,
      policy_id: policyId,
      rule_id: ruleId,
      message_pattern: messagePattern,
      reason,
      author,
      role,
      created_at: createdAt,
      expires_at: expiresAt,
    })
    .onConflict((conflict) => conflict.columns(['tenant' as never, 'id']).doNothing())
    .execute();
  const row = await queries
    .selectFrom('policy_suppressions')
    .selectAll()
    .where('id', '=', id)
    .executeTakeFirstOrThrow();
  return suppressionIn(row);
}

type Row = Awaited<ReturnType<typeof rowsOf>>[number];

const rowsOf = (queries: TenantQueries) => queries.selectFrom('policy_suppressions').selectAll().execute();

function suppressionIn(row: Row): Suppression {
  return {
    id: row.id,
    policyId: row.policy_id,
    ...(row.rule_id === null ? {} : { ruleId: row.rule_id }),
    ...(row.message_pattern === null ? {} : { messagePattern: row.message_pattern }),
    reason: row.reason,
    author: row.author,
    role: row.role as Suppression['role'],
    createdAt: row.created_at,
    expiresAt: row.expires_at,
  };
}
