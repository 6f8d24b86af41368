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

/** The findings of a former report: those that it lists, and those that were already there before it. */
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
 * Says of one finding after the other whether it was there before.
 *
 * It is known again by its id, or, when lines were put in above it, by its words and the text of its line: of those at most
 * as many as there were.
 */
export function knownIn(baseline: Baseline): (finding: Finding) => boolean {
  const ids = new Set(baseline.map(({ id }) => id));
  const left = new Map<string, number>();
  for (const known of baseline) left.set(wordsOf(known), (left.get(wordsOf(known)) ?? 0) + 1);
  return (finding) => {
    const words = wordsOf(finding);
    const count = left.get(words) ?? 0;
    if (!ids.delete(finding.id) && count === 0) return false;
    left.set(words, Math.max(0, count - 1));
    return true;
  };
}

const wordsOf = ({ rule, file, message, lineSha256 }: Omit<Known, 'id'>): string =>
  [rule, file, lineSha256, message].join('\0');
