import { type HandlingContext, refused } from 'orrery';
import { findingsVerify, missionRule } from './capabilities.ts';
import type { AuditReport } from '../findings/finding.ts';

/** The part of a request that says why MERCURY refused the last answer, if it did. */
export interface RevisedRequest {
  readonly root: string;
  readonly feedback?: string | undefined;
}

/**
 * Revises a report before an agent answers. The first report stays as it is. After a refusal, MERCURY judges the new report;
 * if it refuses findings again, SUN decides whether they are withdrawn, or the whole report is dropped. Rejects with REFUSED
 * in the latter case.
 */
export async function revised<Report extends Pick<AuditReport, 'findings' | 'notes'>>(
  report: Report,
  { root, feedback }: RevisedRequest,
  ctx: Pick<HandlingContext, 'ask' | 'self'>,
): Promise<Report> {
  if (feedback === undefined || report.findings.length === 0) return report;
  const { approved, rejected } = await ctx.ask(
    findingsVerify,
    { root, findings: report.findings },
    { justification: `my last answer was refused: ${feedback}` },
  );
  if (rejected.length === 0) return report;
  const { ruling, reason } = await ctx.ask(
    missionRule,
    { agent: ctx.self, approved: approved.length, disputed: rejected },
    { justification: `I find again what MERCURY refuses: ${rejected.length} of ${report.findings.length}` },
  );
  if (ruling === 'give-up') throw refused(`${ctx.self}: ${reason}`, { disputed: rejected.length });
  const withdrawn = rejected.map(({ finding: { file, line, rule }, reason: why }) => ({
    kind: 'withdrawn',
    file,
    reason: `${rule} in line ${line}: ${why}; ${reason}`,
  }));
  return { ...report, findings: approved, notes: [...report.notes, ...withdrawn] };
}
