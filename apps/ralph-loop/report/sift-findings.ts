import { z } from 'zod';
import { Severity } from '../findings/finding.ts';
import { bySeverityThenPlace } from '../findings/severity-order.ts';
import { type Baseline, knownIn } from './baseline.ts';
import type { ReportedFinding, SuppressedFinding } from './mission-report.ts';

/** What becomes of the findings of a rule: another severity, or none is listed. */
export const RuleLevel = z.union([Severity, z.literal('off')]);
export type RuleLevel = z.infer<typeof RuleLevel>;

/**
 * - `levels`    by the name of a rule, or of what it begins with (`oxlint`, `oxlint/typescript`). The longest name counts.
 * - `baseline`  findings that were there before.
 */
export interface SiftOptions {
  readonly levels?: ReadonlyMap<string, RuleLevel>;
  readonly baseline?: Baseline;
}

/** Findings that are listed, most severe first, and those that are only counted. */
export interface Sifted {
  readonly findings: readonly ReportedFinding[];
  readonly suppressed: readonly SuppressedFinding[];
}

/** Sets severities as asked for, lists once what several tools say of one place, and leaves out what was there before. */
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

/** Of several that say the same of one line the first is kept, which then names the others. */
function withoutRepeats(findings: readonly ReportedFinding[]): ReportedFinding[] {
  const kept: ReportedFinding[] = [];
  const byLine = new Map<string, number[]>();
  for (const finding of findings) {
    const line = `${finding.file}:${finding.line}`;
    const there = byLine.get(line) ?? [];
    byLine.set(line, there);
    const at = there.find((index) => saysTheSame(kept[index] as ReportedFinding, finding));
    if (at === undefined) there.push(kept.push(finding) - 1);
    else kept[at] = naming(kept[at] as ReportedFinding, finding);
  }
  return kept;
}

/** One rule may find two things in a line; two agents with that rule find one thing twice where the column is the same. */
function saysTheSame(one: ReportedFinding, other: ReportedFinding): boolean {
  if (one.rule === other.rule) return one.agent !== other.agent && one.column === other.column;
  return ruleWithin(one.rule) === ruleWithin(other.rule) || wordsOf(one) === wordsOf(other);
}

/** `no-floating-promises` of `oxlint/typescript/no-floating-promises`: tools take rules over from each other. */
const ruleWithin = (rule: string): string => rule.slice(rule.lastIndexOf('/') + 1);

const wordsOf = ({ message }: ReportedFinding): string =>
  message
    .toLowerCase()
    .replace(/[^\p{L}\p{N}]+/gu, ' ')
    .trim();

const naming = (kept: ReportedFinding, { rule, agent, task }: ReportedFinding): ReportedFinding => ({
  ...kept,
  also: [...(kept.also ?? []), { rule, agent, task }],
});
