import { z } from 'zod';
import { Severity } from '../findings/finding.ts';
import { bySeverityThenPlace } from '../findings/severity-order.ts';
import { type Baseline, knownIn } from './baseline.ts';
import type { ReportedFinding, SuppressedFinding } from './mission-report.ts';

/** The severity for findings of a rule, or `off` to list none. */
export const RuleLevel = z.union([Severity, z.literal('off')]);
export type RuleLevel = z.infer<typeof RuleLevel>;

/**
 * - `levels`    by rule or its beginning (`oxlint`, `oxlint/typescript`). The longest match counts.
 * - `baseline`  findings that were there before.
 */
export interface SiftOptions {
  readonly levels?: ReadonlyMap<string, RuleLevel>;
  readonly baseline?: Baseline;
}

/** Findings to list, most severe first, and findings that are only counted. */
export interface Sifted {
  readonly findings: readonly ReportedFinding[];
  readonly suppressed: readonly SuppressedFinding[];
}

/** Sets severities, merges findings that several tools report at one place, and suppresses those of the baseline. */
export function siftFindings(
  all: readonly ReportedFinding[],
  { levels = new Map(), baseline }: SiftOptions = {},
): Sifted {
  const suppressed: SuppressedFinding[] = [];
  const rated = all.flatMap((finding): ReportedFinding[] => {
    const level = levelOf(finding.rule, levels);
    if (level === 'off') suppressed.push({ finding, by: 'rule' });
    return level === 'off' ? [] : [level === undefined ? finding : { ...finding, severity: level }];
  });
  const once = withoutRepeats(rated.sort(bySeverityThenPlace));
  if (baseline === undefined) return { findings: once, suppressed };
  const isKnown = knownIn(baseline);
  const findings = once.filter((finding) => {
    if (!isKnown(finding)) return true;
    suppressed.push({ finding, by: 'baseline' });
    return false;
  });
  return { findings, suppressed };
}

function levelOf(rule: string, levels: ReadonlyMap<string, RuleLevel>): RuleLevel | undefined {
  for (let name = rule; name !== ''; name = name.slice(0, Math.max(0, name.lastIndexOf('/')))) {
    const level = levels.get(name);
    if (level !== undefined) return level;
  }
  return undefined;
}

/** Merges findings that mean the same at one line; the first names the others. */
function withoutRepeats(findings: readonly ReportedFinding[]): ReportedFinding[] {
  const listed: ReportedFinding[] = [];
  const byLine = new Map<string, number[]>();
  for (const finding of findings) {
    const line = `${finding.file}:${finding.line}`;
    const there = byLine.get(line) ?? [];
    byLine.set(line, there);
    const at = there.find((index) => saysTheSame(listed[index] as ReportedFinding, finding));
    if (at === undefined) there.push(listed.push(finding) - 1);
    else listed[at] = naming(listed[at] as ReportedFinding, finding);
  }
  return listed;
}

/**
 * Whether two findings at one line mean the same. One rule may find two things there; two agents with one rule mean the same
 * if the column is equal.
 */
function saysTheSame(one: ReportedFinding, other: ReportedFinding): boolean {
  if (one.rule === other.rule) return one.agent !== other.agent && one.column === other.column;
  return ruleWithin(one.rule) === ruleWithin(other.rule) || plainMessageOf(one) === plainMessageOf(other);
}

/** The last part of a rule's name, as in `oxlint/typescript/no-floating-promises`: tools copy rules from each other. */
const ruleWithin = (rule: string): string => rule.slice(rule.lastIndexOf('/') + 1);

const plainMessageOf = ({ message }: ReportedFinding): string =>
  message
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const naming = (listed: ReportedFinding, { rule, agent, task }: ReportedFinding): ReportedFinding => ({
  ...listed,
  also: [...(listed.also ?? []), { rule, agent, task }],
});
