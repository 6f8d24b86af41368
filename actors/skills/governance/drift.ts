import { refused } from '../../../runtime/protocol/errors.ts';
import type { Severity } from '../rules/rule.ts';
import { type Summary, summaryOf } from './judge-policies.ts';
import { GOVERNANCE, policyVersion } from './policy.ts';
import type { ResolvedPolicy } from './resolve-policies.ts';
import { type PolicyViolation, type Suppression, suppressionsOf } from './suppression.ts';

/** How far a violation of each severity takes a project away from its policies, in tenths. */
const TENTHS: Readonly<Record<Severity, number>> = { block: 10, warn: 5, info: 1 };
/** How many violations are looked up in how many suppressions, the numbers multiplied. */
const MOST_LOOKUPS = 2_000_000;

/**
 * - `policyVersions` by which versions of policies the project says it goes, by their ids.
 */
export interface Drifting {
  readonly policies: readonly ResolvedPolicy[];
  readonly violations: readonly PolicyViolation[];
  readonly suppressions: readonly Suppression[];
  readonly policyVersions?: Readonly<Record<string, string>> | undefined;
  readonly autoSuppressInfo: boolean;
  readonly now: number;
}

/** A violation that does not count, and why: `suppressionId` by which suppression, if by one. */
export interface SuppressedViolation {
  readonly violation: PolicyViolation;
  readonly suppressionId?: string;
  readonly reason: string;
}

/**
 * - `driftScore` 0, none, to 1: a violation that blocks counts 1, a warning 0.5, an information 0.1.
 * - `summary`    of the violations that count.
 */
export interface Drift {
  readonly driftScore: number;
  readonly summary: Summary;
  readonly violations: readonly PolicyViolation[];
  readonly suppressed: readonly SuppressedViolation[];
}

/**
 * How far a project has drifted from its policies, by what breaks them. That no mandatory policy holds for it is a violation, as is
 * each policy whose version it names, and which is another one now. Throws REFUSED for more than can be looked up.
 */
export function driftOf({
  policies,
  violations,
  suppressions,
  policyVersions = {},
  autoSuppressInfo,
  now,
}: Drifting): Drift {
  const all = [...violations, ...missingMandatory(policies), ...staleReferences(policies, policyVersions)];
  if (all.length * suppressions.length > MOST_LOOKUPS)
    throw refused(
      `There are ${all.length} violations and ${suppressions.length} suppressions: too many for one check`,
    );
  const find = suppressionsOf(suppressions, now);
  const mandatoryAt = new Map(policies.map((policy) => [policy.id, policy.mandatoryAt]));
  const counting: PolicyViolation[] = [];
  const suppressed: SuppressedViolation[] = [];
  for (const violation of all) {
    const by = find(violation, mandatoryAt.get(violation.policyId));
    if (by !== undefined) suppressed.push({ violation, suppressionId: by.id, reason: by.reason });
    else if (autoSuppressInfo && violation.severity === 'info')
      suppressed.push({ violation, reason: 'It only informs' });
    else counting.push(violation);
  }
  const tenths = counting.reduce((sum, { severity }) => sum + TENTHS[severity], 0);
  return {
    driftScore: Math.min(10, tenths) / 10,
    summary: summaryOf(counting),
    violations: counting,
    suppressed,
  };
}

function missingMandatory(policies: readonly ResolvedPolicy[]): readonly PolicyViolation[] {
  if (policies.some(({ mode }) => mode === 'mandatory')) return [];
  return [warning(GOVERNANCE, 'missing_mandatory_policies', 'No mandatory policy holds for this project')];
}

function staleReferences(
  policies: readonly ResolvedPolicy[],
  policyVersions: Readonly<Record<string, string>>,
): readonly PolicyViolation[] {
  const current = new Map(policies.map((policy) => [policy.id, policyVersion(policy)]));
  return Object.entries(policyVersions).flatMap(([id, version]) => {
    const now = current.get(id);
    if (now === version) return [];
    const what = now === undefined ? 'does not hold any more' : `says something else by now (version ${now})`;
    return [
      warning(
        id,
        'stale_policy_reference',
        `The policy "${id}", of which the project names a version, ${what}`,
      ),
    ];
  });
}

const warning = (policyId: string, ruleId: string, message: string): PolicyViolation => ({
  policyId,
  ruleId,
  severity: 'warn',
  message,
});
