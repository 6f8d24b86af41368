import type { EarlierResult, Finding, Note } from '@orrery/ralph-loop';
import { z } from 'zod';
import type { AboutMission } from '../planet.ts';

/** The part of an earlier report that is compared. Other fields may be of any version. */
export const Baseline = z.object({
  format: z.literal('orrery-report'),
  startedAtMs: z.number(),
  findings: z.array(
    z.object({
      rule: z.string(),
      file: z.string(),
      line: z.number(),
      lineSha256: z.string(),
      message: z.string(),
    }),
  ),
});
export type Baseline = z.infer<typeof Baseline>;

type Comparable = Pick<Finding, 'rule' | 'file' | 'line' | 'lineSha256' | 'message'>;

const LISTED = 20;

/** ATLAS's report: which findings are new, and which are gone, since an earlier report. */
export function compareReports(results: readonly EarlierResult[], baseline: Baseline): AboutMission {
  const now = results.flatMap(({ findings }) => findings);
  const isNew = notIn(baseline.findings, now);
  const isGone = notIn(now, baseline.findings);
  const since = new Date(baseline.startedAtMs).toISOString().slice(0, 16).replace('T', ' ');
  const stay = now.length - isNew.length;
  return {
    summary: `Since the report of ${since}: ${isNew.length} new, ${isGone.length} gone, ${stay} as before.`,
    notes: [...listed('new-finding', isNew), ...listed('gone-finding', isGone)],
  };
}

/** The findings of `of` that are not in `others`. A finding whose line has moved counts as the same; each is matched once. */
function notIn(others: readonly Comparable[], of: readonly Comparable[]): Comparable[] {
  const left = new Map<string, number>();
  for (const other of others) left.set(keyOf(other), (left.get(keyOf(other)) ?? 0) + 1);
  return of.filter((finding) => {
    const count = left.get(keyOf(finding)) ?? 0;
    if (count > 0) left.set(keyOf(finding), count - 1);
    return count === 0;
  });
}

const keyOf = ({ rule, file, lineSha256 }: Comparable): string => `${rule}\0${file}\0${lineSha256}`;

function listed(kind: string, findings: readonly Comparable[]): Note[] {
  const notes = findings.slice(0, LISTED).map(({ rule, file, line, message }) => ({
    kind,
    file,
    reason: `line ${line}, ${rule}: ${message}`,
  }));
  const more = findings.length - notes.length;
  return more === 0 ? notes : [...notes, { kind, reason: `${more} more` }];
}
