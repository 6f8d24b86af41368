import { scanInto } from '../file-scan.ts';
import type { AuditReport } from '../../findings/finding.ts';
import type { ProgressCounter } from '../progress-counter.ts';
import { ReportBuilder } from '../report-builder.ts';
import { addConsoleWrites } from './library-console.ts';
import { METRICS_SCAN } from './metrics-scan.ts';

/** NEPTUNE's job: metrics that Prometheus would be unhappy with, and libraries that write to the console. */
export async function checkMetrics(root: string, progress: ProgressCounter): Promise<AuditReport> {
  const report = new ReportBuilder();
  await scanInto(report, root, METRICS_SCAN, progress);
  await addConsoleWrites(root, report, progress);
  return report.build();
}
