import type { Severity } from '../findings/finding.ts';

/**
 * A rule: who looks for it, how severe it is, and what it says is wrong.
 *
 * - `aboveBytes`  it is about the size of a file, text or not: the finding stands at line 1, its evidence is the size.
 */
export interface Rule {
  readonly agent: string;
  readonly severity: Severity;
  readonly what: string;
  readonly aboveBytes?: number;
}

/** Rules by their ids. */
export type Rules = Readonly<Record<string, Rule>>;

/** The rules of one agent: by rule id how severe it is and what is wrong. */
export function rulesOf(
  agent: string,
  rules: Readonly<Record<string, readonly [severity: Severity, what: string]>>,
): Rules {
  const named = Object.entries(rules).map(([id, [severity, what]]) => [id, { agent, severity, what }]);
  return Object.fromEntries(named);
}
