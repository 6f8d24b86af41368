import { z } from 'zod';
import { refused } from '../../../runtime/protocol/errors.ts';
import type { Taint } from '../../../runtime/protocol/taint.ts';
import { inputRequired } from '../../tasks/turn-pause.ts';
import { requireRole, WRITER_OF_LAYER } from '../role.ts';
import type { SkillCaller } from '../skill-caller.ts';
import type { SkillStore, TenantQueries } from '../store/skill-store.ts';
import { type Policy, type PolicyLayer, policyVersion } from './policy.ts';
import { addTaint } from './tenant-taint.ts';
import { isAbove } from './resolve-policies.ts';

/** How many policies a tenant may have, and how long they may be together. */
const MOST_POLICIES = 500;
const MOST_CHARS = 500_000;

/**
 * A policy as it is kept.
 *
 * - `policyVersion` changes with what it says.
 * - `updatedAt`     Unix milliseconds.
 */
export interface StoredPolicy {
  readonly policy: Policy;
  readonly policyVersion: string;
  readonly author: string;
  readonly updatedAt: number;
}

/** Which policies are meant; what is absent is any. */
export interface WhichPolicy {
  readonly policyId: string;
  readonly layer?: PolicyLayer | undefined;
  readonly scope?: string | undefined;
}

export interface GovernanceDeps {
  readonly store: SkillStore;
  readonly now: () => number;
  readonly newId: () => string;
  /** Where what is asked came from outside. */
  readonly taint?: Taint | undefined;
}

/** The policies of a tenant. Each method fails with NOT_PERMITTED for a role that may not do it, and STORE_FAILED. */
export class Policies {
  readonly #store: SkillStore;
  readonly #now: () => number;
  readonly #taint: Taint | undefined;

  constructor({ store, now, taint }: Pick<GovernanceDeps, 'store' | 'now' | 'taint'>) {
    this.#store = store;
    this.#now = now;
    this.#taint = taint;
  }

  /**
   * Puts a policy in the place of what its layer and scope have under its id. To have a mandatory one say less takes an admin.
   * `changesNothing`: one above it is mandatory, and this one only stands by.
   */
  async put(
    caller: SkillCaller,
    policy: Policy,
  ): Promise<{ readonly stored: StoredPolicy; readonly changesNothing: boolean }> {
    const { id, layer, scope } = policy;
    requireRole(caller, WRITER_OF_LAYER[layer], `put a policy of the layer ${layer}`);
    return this.#store.write(caller.tenant, async (queries) => {
      const rows = await rowsOf(queries, id);
      const before = rows.find((row) => row.layer === layer && row.scope === scope);
      if (before !== undefined && saysLess(policyIn(before), policy))
        requireRole(caller, 'admin', `have the mandatory policy "${id}" say less`);
      const row = {
        layer,
        scope,
        id,
        body: JSON.stringify(policy),
        chars: JSON.stringify(policy).length,
        author: caller.principalId,
        updated_at: this.#now(),
        version: (before?.version ?? 0) + 1,
      };
      await requireRoom(queries, row.chars - (before?.chars ?? 0), before === undefined);
      await keep(queries, row, before?.version);
      await addTaint(queries, this.#taint);
      return { stored: storedIn(row), changesNothing: isOverruled(policy, rows.map(policyIn)) };
    });
  }

  async list(
    { tenant }: SkillCaller,
    { layer, scope, limit }: Omit<Partial<WhichPolicy>, 'policyId'> & { readonly limit: number },
  ): Promise<readonly StoredPolicy[]> {
    const rows = await this.#store.read(tenant, (queries) => {
      const all = queries.selectFrom('policies').selectAll().orderBy('id').orderBy('layer').orderBy('scope');
      const ofLayer = layer === undefined ? all : all.where('layer', '=', layer);
      return (scope === undefined ? ofLayer : ofLayer.where('scope', '=', scope)).limit(limit).execute();
    });
    return rows.map(storedIn);
  }

  /** The one that is meant. Fails with REFUSED when there is none, and asks which when there are several: `answer` says it. */
  async show({ tenant }: SkillCaller, which: WhichPolicy, answer?: unknown): Promise<StoredPolicy> {
    const row = await this.#store.read(tenant, (queries) => theOne(queries, which, answer));
    if (row === undefined) throw noPolicy(which.policyId);
    return storedIn(row);
  }

  /** Removes the one that is meant, and says whether there was one. A mandatory one takes an admin. Asks as `show` does. */
  async remove(caller: SkillCaller, which: WhichPolicy, answer?: unknown): Promise<boolean> {
    return this.#store.write(caller.tenant, async (queries) => {
      const row = await theOne(queries, which, answer);
      if (row === undefined) return false;
      const { id, layer, scope, mode } = policyIn(row);
      const needed = mode === 'mandatory' ? 'admin' : WRITER_OF_LAYER[layer];
      requireRole(caller, needed, `remove the ${mode} policy "${id}" of the layer ${layer}`);
      const [{ numDeletedRows } = { numDeletedRows: 0n }] = await queries
        .deleteFrom('policies')
        .where('layer', '=', layer)
        .where('scope', '=', scope)
        .where('id', '=', id)
        .where('version', '=', row.version)
        .execute();
      if (numDeletedRows === 0n) throw changedMeanwhile(id);
      return true;
    });
  }
}

/** All policies of the tenant of `queries`. */
export async function allPolicies(queries: TenantQueries): Promise<readonly Policy[]> {
  const rows = await queries.selectFrom('policies').select('body').orderBy('id').execute();
  return rows.map(policyIn);
}

/** The policies of one id, in whatever layer. */
export const policiesOf = async (queries: TenantQueries, id: string): Promise<readonly Policy[]> =>
  (await rowsOf(queries, id)).map(policyIn);

export const noPolicy = (policyId: string): Error =>
  refused(`There is no policy "${policyId}" that the caller could mean`, { policyId });

type Row = Awaited<ReturnType<typeof rowsOf>>[number];

const rowsOf = (queries: TenantQueries, id: string) =>
  queries.selectFrom('policies').selectAll().where('id', '=', id).orderBy('layer').orderBy('scope').execute();

// What was put has been parsed.
const policyIn = ({ body }: { readonly body: string }): Policy => JSON.parse(body) as Policy;

function storedIn(row: Row): StoredPolicy {
  const policy = policyIn(row);
  return { policy, policyVersion: policyVersion(policy), author: row.author, updatedAt: row.updated_at };
}

async function theOne(
  queries: TenantQueries,
  { policyId, layer, scope }: WhichPolicy,
  answer: unknown,
): Promise<Row | undefined> {
  const rows = (await rowsOf(queries, policyId)).filter(
    (row) => (layer ?? row.layer) === row.layer && (scope ?? row.scope) === row.scope,
  );
  if (rows.length <= 1) return rows[0];
  const meant = rows.find((row) => placeOf(row) === answer);
  if (meant !== undefined) return meant;
  throw inputRequired(
    `There are ${rows.length} policies "${policyId}". Which one is meant?`,
    z.enum(rows.slice(0, MOST_CHOICES).map(placeOf)),
  );
}

/** How many a caller is asked to choose from. */
const MOST_CHOICES = 40;

const placeOf = ({ layer, scope }: Pick<Row, 'layer' | 'scope'>): string =>
  scope === '' ? layer : `${layer} ${scope}`;

/** Whether something that a mandatory policy has said is not said any more. */
function saysLess(before: Policy, after: Policy): boolean {
  if (before.mode !== 'mandatory') return false;
  const said = new Set(after.rules.map((rule) => JSON.stringify(rule)));
  return after.mode !== 'mandatory' || before.rules.some((rule) => !said.has(JSON.stringify(rule)));
}

const isOverruled = (policy: Policy, others: readonly Policy[]): boolean =>
  policy.mergeStrategy !== 'merge' &&
  others.some((other) => other.mode === 'mandatory' && isAbove(other, policy));

async function requireRoom(queries: TenantQueries, moreChars: number, isNew: boolean): Promise<void> {
  const { count, chars } = await queries
    .selectFrom('policies')
    .select(({ fn }) => [fn.countAll().as('count'), fn.sum('chars').as('chars')])
    .executeTakeFirstOrThrow();
  if (isNew && Number(count) >= MOST_POLICIES)
    throw refused(`There are ${count} policies, and at most ${MOST_POLICIES} can be`);
  if (moreChars > 0 && Number(chars ?? 0) + moreChars > MOST_CHARS)
    throw refused(`The policies would have more than ${MOST_CHARS} characters together`);
}

/** Keeps a row if what is there is what was read: somebody else may have changed it meanwhile, and made it mandatory. */
async function keep(queries: TenantQueries, row: Row, before: number | undefined): Promise<void> {
  const { layer, scope, id, ...content } = row;
  if (before === undefined) {
    const inserted = await queries
      .insertInto('policies')
      .values(row)
      .onConflict((conflict) => conflict.columns(['tenant' as never, 'layer', 'scope', 'id']).doNothing())
      .executeTakeFirst();
    if (inserted.numInsertedOrUpdatedRows === 0n) throw changedMeanwhile(id);
    return;
  }
  const updated = await queries
    .updateTable('policies')
    .set(content)
    .where('layer', '=', layer)
    .where('scope', '=', scope)
    .where('id', '=', id)
    .where('version', '=', before)
    .executeTakeFirst();
  if (updated.numUpdatedRows === 0n) throw changedMeanwhile(id);
}

const changedMeanwhile = (id: string): Error =>
  refused(`The policy "${id}" was changed by somebody else at the same time; try again`, { id });
