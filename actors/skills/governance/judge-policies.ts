import { refused } from '../../../runtime/protocol/errors.ts';
import { judgeRules } from '../rules/check-rules.ts';
import { compileRule } from '../rules/compile-rule.ts';
import { type RuleSubject, Severity } from '../rules/rule.ts';
import type { ResolvedPolicy } from './resolve-policies.ts';
import type { PolicyViolation } from './suppression.ts';

/** By how many rules a subject is judged at once. */
const MOST_RULES = 2_000;

/** - `notJudged` the rules about something that is not known of the subject. */
export interface PolicyJudgement {
  readonly violations: readonly PolicyViolation[];
  readonly notJudged: readonly { readonly policyId: string; readonly ruleId: string }[];
}

/** Judges a subject by policies. Throws REFUSED when that would be too much work. */
export function judgePolicies(policies: readonly ResolvedPolicy[], subject: RuleSubject): PolicyJudgement {
  const all = policies.flatMap(({ id, rules }) => rules.map((rule) => ({ policyId: id, rule })));
  if (all.length > MOST_RULES)
    throw refused(`Policies with ${all.length} rules hold here, and at most ${MOST_RULES} can be checked`);
  const judged = judgeRules(
    all.map(({ rule }) => compileRule(rule)),
    subject,
  );
  const ofPolicy = (at: number): string => all[at]?.policyId as string;
  return {
    violations: judged.flatMap(({ violations }, at) =>
      violations.map((violation) => ({ ...violation, policyId: ofPolicy(at) })),
    ),
    notJudged: judged.flatMap(({ isJudged, compiled }, at) =>
      isJudged ? [] : [{ policyId: ofPolicy(at), ruleId: compiled.rule.id }],
    ),
  };
}

/** How many violations there are of each severity. */
export type Summary = Readonly<Record<Severity, number>>;

export function summaryOf(violations: readonly { readonly severity: Severity }[]): Summary {
  const summary = { info: 0, warn: 0, block: 0 };
  for (const { severity } of violations) summary[severity]++;
  return summary;
}

/** The worst first, those that are equally bad in their order. */
export const worstFirst = <Violated extends { readonly severity: Severity }>(
  violations: readonly Violated[],
): readonly Violated[] =>
  violations.toSorted(
    (one, other) => Severity.options.indexOf(other.severity) - Severity.options.indexOf(one.severity),
  );
