import { findingId } from '../evidence.ts';
import type { Finding } from '../finding.ts';
import { ruleOf, severityAt } from '../rules.ts';

/** What is wrong with a finding before any file is looked at: its rule, and what follows from that. */
export function checkClaim(finding: Finding): string | undefined {
  const rule = ruleOf(finding.rule);
  if (rule === undefined) return `the rule ${finding.rule} is not known`;
  if (rule.agent !== finding.agent) return `the rule ${finding.rule} is not ${finding.agent}'s`;
  const severity = severityAt(rule, finding.file);
  if (severity !== finding.severity) return `${finding.rule} is ${severity} there, not ${finding.severity}`;
  if (findingId(finding) !== finding.id) return 'its id is not that of what it says';
  return undefined;
}
