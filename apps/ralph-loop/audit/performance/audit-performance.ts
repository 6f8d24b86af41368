import { scanInto } from '../file-scan.ts';
import type { AuditReport } from '../../findings/finding.ts';
import type { ProgressCounter } from '../progress-counter.ts';
import { ReportBuilder } from '../report-builder.ts';
import { findLargeFiles } from './large-files.ts';
import { PERFORMANCE_CHECK } from './performance-check.ts';

/** IO's job: what costs more than it has to, in scripts and by size. `root` is a real path. */
export async function auditPerformance(root: string, progress: ProgressCounter): Promise<AuditReport> {
  const report = new ReportBuilder();
  await scanInto(report, root, PERFORMANCE_CHECK, progress);
  findLargeFiles(root, report);
  return report.build();
}
