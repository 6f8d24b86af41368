import { mergeTaint, Taint } from '../../../runtime/protocol/taint.ts';
import { isAtLeast } from '../rules/check-rules.ts';
import { type RuleContext, subjectOf } from '../rules/rule-context.ts';
import type { Severity } from '../rules/rule.ts';
import type { SkillCaller } from '../skill-caller.ts';
import type { SkillStore, TenantQueries } from '../store/skill-store.ts';
import { driftOf } from './drift.ts';
import type { DriftResult, Validation } from './governance-results.ts';
import { judgePolicies, summaryOf, worstFirst } from './judge-policies.ts';
import { allPolicies, type GovernanceDeps } from './policies.ts';
import { type PolicyLayer, policyVersion } from './policy.ts';
import { type ResolvedPolicy, resolvePolicies, type Scopes } from './resolve-policies.ts';
import { allSuppressions } from './suppressions.ts';

/** How much of each list is told. */
const MOST_TOLD = 100;
/** How much of each list of a result is kept. */
const MOST_KEPT = 20;
/** How many results are kept of a project, and of a tenant: the newest. */
const MOST_OF_PROJECT = 100;
const MOST_OF_TENANT = 5_000;

export interface ValidateInput {
  readonly context: RuleContext;
  readonly layer: PolicyLayer;
  readonly scopes?: Scopes | undefined;
  readonly minSeverity: Severity;
}

export interface DriftInput {
  readonly project: string;
  readonly context: RuleContext & { readonly policyVersions?: Readonly<Record<string, string>> | undefined };
  readonly scopes?: Scopes | undefined;
  readonly threshold: number;
  readonly autoSuppressInfo: boolean;
}

/** Checks by the policies of a tenant. Each method fails with STORE_FAILED, and REFUSED for more than can be checked at once. */
export class PolicyChecks {
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

  async validate(
    { tenant }: SkillCaller,
    { context, layer, scopes = {}, minSeverity }: ValidateInput,
  ): Promise<Validation> {
    const policies = await this.#store.read(tenant, allPolicies);
    const applied = resolvePolicies(policies, layer, scopes);
    const { violations, notJudged } = judgePolicies(applied, subjectOf(context));
    const summary = summaryOf(violations);
    const asked = violations.filter(({ severity }) => isAtLeast(severity, minSeverity));
    return {
      isValid: violations.length === 0,
      passed: summary.block === 0,
      violations: worstFirst(asked).slice(0, MOST_TOLD),
      summary,
      ...told(applied),
      notJudged: notJudged.slice(0, MOST_TOLD),
    };
  }

  /** Says how far a project has drifted, and keeps that. */
  async checkDrift(
    { tenant }: SkillCaller,
    { project, context, scopes = {}, threshold, autoSuppressInfo }: DriftInput,
  ): Promise<DriftResult> {
    const checkedAt = this.#now();
    const { policies, suppressions } = await this.#store.read(tenant, async (queries) => ({
      policies: resolvePolicies(await allPolicies(queries), 'project', { ...scopes, project }),
      suppressions: await allSuppressions(queries),
    }));
    const { violations, notJudged } = judgePolicies(policies, subjectOf(context));
    const { policyVersions } = context;
    const drift = driftOf({
      policies,
      violations,
      suppressions,
      policyVersions,
      autoSuppressInfo,
      now: checkedAt,
    });
    const passes = drift.driftScore <= threshold;
    const result = {
      driftId: this.#newId(),
      project,
      driftScore: drift.driftScore,
      threshold,
      passes,
      withinThreshold: passes,
      hasDrift: drift.driftScore > 0,
      violations: worstFirst(drift.violations).slice(0, MOST_TOLD),
      summary: drift.summary,
      suppressed: drift.suppressed.slice(0, MOST_TOLD),
      suppressedCount: drift.suppressed.length,
      confidence: 1,
      requiresManualReview: notJudged.length > 0,
      notJudged: notJudged.slice(0, MOST_TOLD),
      ...told(policies),
      checkedAt,
    };
    await this.#store.write(tenant, (queries) => keep(queries, result, this.#taint));
    return result;
  }

  /** What came of checking a project before, the newest first. Of each list in it the first twenty. */
  async drifts(
    { tenant }: SkillCaller,
    project: string,
    limit: number,
  ): Promise<{ readonly results: readonly DriftResult[]; readonly taint: Taint | undefined }> {
    const rows = await this.#store.read(tenant, (queries) =>
      queries
        .selectFrom('drift_results')
        .select(['body', 'taint'])
        .where('project', '=', project)
        .orderBy('checked_at', 'desc')
        .orderBy('id', 'desc')
        .limit(limit)
        .execute(),
    );
    // What was kept was made here.
    return {
      results: rows.map(({ body }) => JSON.parse(body) as DriftResult),
      taint: rows.reduce<Taint | undefined>(
        (all, { taint }) => (taint === null ? all : mergeTaint(all, Taint.parse(JSON.parse(taint)))),
        undefined,
      ),
    };
  }
}

const told = (policies: readonly ResolvedPolicy[]): Pick<Validation, 'policies' | 'policyVersions'> => ({
  policies: policies.map(({ id }) => id),
  policyVersions: Object.fromEntries(policies.map((policy) => [policy.id, policyVersion(policy)])),
});

async function keep(queries: TenantQueries, result: DriftResult, from: Taint | undefined): Promise<void> {
  const { driftId, project, checkedAt } = result;
  const kept = {
    ...result,
    violations: result.violations.slice(0, MOST_KEPT),
    suppressed: result.suppressed.slice(0, MOST_KEPT),
    notJudged: result.notJudged.slice(0, MOST_KEPT),
  };
  await queries
    .insertInto('drift_results')
    .values({
      id: driftId,
      project,
      checked_at: checkedAt,
      body: JSON.stringify(kept),
      taint: from === undefined ? null : JSON.stringify(from),
    })
    .onConflict((conflict) => conflict.columns(['tenant' as never, 'id']).doNothing())
    .execute();
  const newest = queries
    .selectFrom('drift_results')
    .select('id')
    .orderBy('checked_at', 'desc')
    .orderBy('id', 'desc');
  await forget(
    queries,
    await newest.where('project', '=', project).limit(SOME).offset(MOST_OF_PROJECT).execute(),
  );
  await forget(queries, await newest.limit(SOME).offset(MOST_OF_TENANT).execute());
}

/** How many are forgotten at a time: more than there can be too many. */
const SOME = 100;

async function forget(queries: TenantQueries, rows: readonly { readonly id: string }[]): Promise<void> {
  if (rows.length === 0) return;
  const ids = rows.map(({ id }) => id);
  await queries.deleteFrom('drift_results').where('id', 'in', ids).execute();
}
