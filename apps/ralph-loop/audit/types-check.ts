import { join, sep } from 'node:path';
import { DeclarationCache } from './compiler/bounded-files.ts';
import { checkProject, hasPackages } from './compiler/check-project.ts';
import { DiagnosticReport } from './compiler/diagnostic-report.ts';
import { findProjects } from './compiler/find-projects.ts';
import { readConfig } from './compiler/read-config.ts';
import { ts } from './compiler/typescript.ts';
import type { AuditReport } from './finding.ts';
import { MemoryRelief } from './memory-relief.ts';
import type { ProgressCounter } from './progress-counter.ts';
import { ReportBuilder } from './report-builder.ts';

/** MARS' job: the compiler's errors in every project of the repository. `root` is a real path. */
export async function checkTypes(root: string, progress: ProgressCounter): Promise<AuditReport> {
  using memory = new MemoryRelief();
  const report = new ReportBuilder();
  const listener = new DiagnosticReport(root, report, () => progress.advance());
  const declarations = new DeclarationCache();
  const pending = findProjects(root, report.note.bind(report)).map((path) => join(root, path));
  const seen = new Set<string>();
  for (let config = pending.shift(); config !== undefined; config = pending.shift()) {
    if (seen.has(config) || !config.startsWith(root + sep)) continue;
    seen.add(config);
    const { faults, project } = readConfig(root, config);
    for (const fault of faults) listener.foundInConfig(fault, config, hasPackages(config));
    if (project === undefined) listener.skipped('broken-config', 'its project was not checked', config);
    else {
      pending.unshift(...(project.projectReferences ?? []).map((one) => ts.resolveProjectReferencePath(one)));
      progress.expect(project.fileNames.length);
      await checkProject({ root, config, project, declarations, memory }, listener);
    }
    await listener.endProject(config);
  }
  return report.build();
}
