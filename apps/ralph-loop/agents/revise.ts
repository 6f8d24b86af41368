import { type HandlingContext, refused } from 'orrery';
import { findingsVerify, missionRule } from './capabilities.ts';
import type { AuditReport } from '../findings/finding.ts';

/** What MERCURY said of the last answer, if it refused that. */
export interface RevisedRequest {
  readonly root: string;
  readonly feedback?: string | undefined;
}

/**
 * What an agent does with its report before it answers. The first time nothing. When MERCURY has refused the last one, it
 * shows MERCURY this one first; and what is still disputed it takes to SUN, who says whether it is withdrawn, or the report
 * as a whole is worth nothing: then the task is refused for good.
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
