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

/** What two cores check in half a minute; more of a repository is checked in part, and the report says so. */
const MAX_FILES = 10_000;

/** MARS' job: the compiler's errors in every project of the repository. `root` is a real path. */
export async function checkTypes(root: string, progress: ProgressCounter): Promise<AuditReport> {
  using memory = new MemoryRelief();
  const report = new ReportBuilder();
  const listener = new DiagnosticReport(root, report, () => progress.advance());
  const declarations = new DeclarationCache();
  const pending = findProjects(root, report.note.bind(report)).map((path) => join(root, path));
  const seen = new Set<string>();
  let filesLeft = MAX_FILES;
  for (let config = pending.shift(); config !== undefined; config = pending.shift()) {
    if (seen.has(config) || !config.startsWith(root + sep)) continue;
    seen.add(config);
    const { faults, project } = readConfig(root, config);
    for (const fault of faults) listener.foundInConfig(fault, config, hasPackages(config));
    if (project === undefined) listener.skipped('broken-config', 'its project was not checked', config);
    else {
      pending.unshift(...(project.projectReferences ?? []).map((one) => ts.resolveProjectReferencePath(one)));
      // Declarations are not checked themselves, but speak for all files: without them others would seem wrong.
      const [declared, checked] = parted(project.fileNames);
      const unchecked = checked.splice(filesLeft);
      if (unchecked.length > 0) listener.skipped('file-limit', unseen(unchecked.length), unchecked[0]);
      filesLeft -= checked.length;
      project.fileNames = [...declared, ...checked];
      progress.expect(project.fileNames.length);
      await checkProject({ root, config, project, declarations, memory }, listener);
    }
    await listener.endProject(config);
  }
  return report.build();
}

const unseen = (count: number): string =>
  `is the first of ${count} files that were not checked: the limit is ${MAX_FILES}`;

const parted = (files: readonly string[]): [declarations: string[], others: string[]] => [
  files.filter(isDeclaration),
  files.filter((file) => !isDeclaration(file)),
];

const isDeclaration = (file: string): boolean => /\.d\.([^./]+\.)?[cm]?ts$/.test(file);
