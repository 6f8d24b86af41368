import { z } from 'zod';
import type { Finding } from '../findings/finding.ts';

const Known = z.object({
  id: z.string(),
  rule: z.string(),
  file: z.string(),
  message: z.string(),
  lineSha256: z.string(),
});
type Known = z.infer<typeof Known>;

/** The findings of an earlier report: those that it lists, and those of its own baseline. */
export const Baseline = z
  .object({
    format: z.literal('orrery-report'),
    findings: z.array(Known),
    suppressed: z.array(z.object({ by: z.string(), finding: Known })).default([]),
  })
  .transform(({ findings, suppressed }): readonly Known[] => [
    ...findings,
    ...suppressed.filter(({ by }) => by === 'baseline').map(({ finding }) => finding),
  ]);
export type Baseline = z.output<typeof Baseline>;

/**
 * Makes a function that says whether a finding was there before.
 *
 * It is recognised by its id; or, if its line has moved, by rule, message and text of the line, at most as often as before.
 */
export function knownIn(baseline: Baseline): (finding: Finding) => boolean {
  const ids = new Set(baseline.map(({ id }) => id));
  const left = new Map<string, number>();
  for (const known of baseline) left.set(keyOf(known), (left.get(keyOf(known)) ?? 0) + 1);
  return (finding) => {
    const key = keyOf(finding);
    const count = left.get(key) ?? 0;
    if (!ids.delete(finding.id) && count === 0) return false;
    left.set(key, Math.max(0, count - 1));
    return true;
  };
}

const keyOf = ({ rule, file, message, lineSha256 }: Omit<Known, 'id'>): string =>
  [rule, file, lineSha256, message].join('\0');
