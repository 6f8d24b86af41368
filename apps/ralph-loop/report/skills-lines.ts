import { count, printable } from './printable.ts';
import type { BrokenRule, SkillsReport } from './skills-report.ts';

/** What is said of the team's skills: what was recalled and remembered, the rules that are broken, and what could not be done. */
export function skillsLines(
  skills: SkillsReport,
  { atMost }: { readonly atMost: number },
): {
  readonly memory: readonly string[];
  readonly rules: readonly string[];
  readonly failures: readonly string[];
} {
  const { knowledge, drift } = skills;
  return {
    memory: [memoryLine(skills)],
    rules: [
      ...(knowledge === undefined ? [] : knowledgeLines(knowledge, atMost)),
      ...(drift === undefined ? [] : driftLines(drift, atMost)),
    ],
    failures: skills.failures.map((failure) => printable(failure)),
  };
}

function memoryLine({ project, recalled, learned }: SkillsReport): string {
  const { added, changed, kept, gone, omitted } = learned;
  const memories = recalled.reduce((sum, { memories: given }) => sum + given.length, 0);
  const given = recalled.length === 0 ? '' : `${count(recalled.length, 'task')} recalled ${memories}; `;
  const left = omitted === 0 ? '' : `, ${count(omitted, 'finding')} too many`;
  return printable(
    `${given}${added} new, ${changed} changed, ${kept} known, ${gone} gone${left} (project "${project}")`,
  );
}

function knowledgeLines(knowledge: NonNullable<SkillsReport['knowledge']>, atMost: number): string[] {
  const { checkedItems, isValid, summary, violations, omitted, faults, unread } = knowledge;
  const verdict = isValid ? 'none is broken' : verdictOf(summary);
  return [
    `${count(checkedItems, 'rule')} of the repository checked: ${verdict}`,
    ...listed(violations, { atMost, more: omitted }),
    ...faults.map(({ file, message }) => `${printable(file)} is no rule: ${printable(message)}`),
    ...(unread === 0 ? [] : [`${count(unread, 'file')} not looked into: too large, or not readable`]),
  ];
}

function driftLines(drift: NonNullable<SkillsReport['drift']>, atMost: number): string[] {
  const { score, threshold, passes, summary, violations, suppressed, notJudged } = drift;
  const counted = summary.block + summary.warn + summary.info;
  return [
    `Drift ${score} of at most ${threshold}${passes ? '' : ', too far'}: ${counted === 0 ? 'no policy is broken' : verdictOf(summary)}`,
    ...listed(violations, { atMost, more: counted - violations.length }),
    ...(suppressed === 0 ? [] : [`${count(suppressed, 'violation')} suppressed`]),
    ...(notJudged === 0 ? [] : [`${count(notJudged, 'rule')} could not be judged`]),
  ];
}

const verdictOf = ({ block, warn, info }: Readonly<Record<BrokenRule['severity'], number>>): string =>
  [
    ...(block === 0 ? [] : [`${block} block`]),
    ...(warn === 0 ? [] : [`${warn} warn`]),
    ...(info === 0 ? [] : [`${info} inform`]),
  ].join(', ');

function listed(
  rules: readonly BrokenRule[],
  { atMost, more }: { readonly atMost: number; readonly more: number },
): string[] {
  const shown = rules.slice(0, atMost).map(brokenRuleLine);
  const left = rules.length - shown.length + Math.max(0, more);
  return left === 0 ? shown : [...shown, `  ... and ${left} more`];
}

/** A line about a broken rule, which begins with its place, if it has one. */
function brokenRuleLine({ rule, severity, message, file, line }: BrokenRule): string {
  const place = file === undefined ? '' : `${file}${line === undefined ? '' : `:${line}`}  `;
  return printable(`  ${place}${message}  ${rule}, ${severity}`);
}
