import { scanInto } from '../file-scan.ts';
import type { AuditReport } from '../../findings/finding.ts';
import { MemoryRelief } from '../memory-relief.ts';
import type { ProgressCounter } from '../progress-counter.ts';
import { ReportBuilder } from '../report-builder.ts';
import { isScript } from '../syntax/parse-script.ts';
import { DeprecatedUses } from './deprecated-uses.ts';
import { IDEAS_CHECK } from './ideas-check.ts';

/** ANDROMEDA's job: what the repository itself says could be done. `root` is a real path. */
export async function collectIdeas(root: string, progress: ProgressCounter): Promise<AuditReport> {
  const report = new ReportBuilder();
  const uses = new DeprecatedUses(root);
  const scripts: string[] = [];
  const scan: typeof IDEAS_CHECK.scan = (source, from) => {
    if (isScript(source.file)) {
      scripts.push(source.file);
      uses.learn(source);
    }
    return IDEAS_CHECK.scan(source, from);
  };
  await scanInto(report, root, { ...IDEAS_CHECK, scan }, progress);
  using memory = new MemoryRelief();
  await uses.report(scripts, report, memory);
  return report.build();
}
