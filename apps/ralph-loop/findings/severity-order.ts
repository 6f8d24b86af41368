import { type Finding, SEVERITIES } from './finding.ts';

/** Orders findings by severity, file, line, column and rule, so that runs can be compared. */
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
