import { type Finding, SEVERITIES } from './finding.ts';

/** Severe first; within a severity by file, line, column and rule, so that two runs read the same. */
export function bySeverityThenPlace(a: Finding, b: Finding): number {
  return (
    SEVERITIES.indexOf(a.severity) - SEVERITIES.indexOf(b.severity) ||
    compare(a.file, b.file) ||
    a.line - b.line ||
    (a.column ?? 0) - (b.column ?? 0) ||
    compare(a.rule, b.rule)
  );
}

const compare = (a: string, b: string): number => (a < b ? -1 : a > b ? 1 : 0);
