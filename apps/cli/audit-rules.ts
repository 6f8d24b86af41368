import { nearest } from '@orrery/ralph-loop';
import { auditApp } from './audit-app.ts';
import { UsageError } from './usage-error.ts';

/** The rules that the audit may report; none if it is not installed. A `*` at the end of one stands for all that begin so. */
export async function auditRules(): Promise<readonly string[]> {
  const tools = (await (await auditApp())?.allTools()) ?? [];
  return tools.flatMap(({ rules }) => Object.keys(rules));
}

/** Throws UsageError for a name that is neither a rule nor the beginning of one. */
export function refuseUnknownRules(names: Iterable<string>, rules: readonly string[]): void {
  const known = new Set(rules.flatMap(beginnings));
  for (const name of names) {
    if (known.has(name) || rules.some((rule) => isPattern(rule) && isOf(rule, name))) continue;
    const meant = nearest(name, [...known]);
    const hint = meant === undefined ? ', see docs/audit-tools.md' : `; did you mean "${meant}"?`;
    throw new UsageError(`Option "--rule" is "${name}", and the audit has no such rule or tool${hint}`);
  }
}

const isPattern = (rule: string): boolean => rule.endsWith('*');
const isOf = (pattern: string, name: string): boolean =>
  name.length >= pattern.length && name.startsWith(pattern.slice(0, -1));

/**
 * The names that select a rule: `oxlint`, `oxlint/typescript` and `oxlint/typescript/no-floating-promises`; of `tsc/TS*` only
 * `tsc`.
 */
function beginnings(rule: string): string[] {
  const parts = rule.split('/').slice(0, isPattern(rule) ? -1 : undefined);
  return parts.map((_, at) => parts.slice(0, at + 1).join('/'));
}
