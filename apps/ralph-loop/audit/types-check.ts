import { join, sep } from 'node:path';
import type { ParsedCommandLine } from 'typescript';
import { DeclarationCache } from './compiler/bounded-files.ts';
import { checkProject, hasPackages } from './compiler/check-project.ts';
import { Coverage } from './compiler/coverage.ts';
import { isDeclarationFile } from './compiler/declaration-file.ts';
import { DiagnosticReport } from './compiler/diagnostic-report.ts';
import { type FoundProjects, findProjects } from './compiler/find-projects.ts';
import { type Config, readConfig } from './compiler/read-config.ts';
import { ts } from './compiler/typescript.ts';
import type { AuditReport } from '../findings/finding.ts';
import { MemoryRelief } from './memory-relief.ts';
import type { ProgressCounter } from './progress-counter.ts';
import { ReportBuilder } from './report-builder.ts';

/** What two cores check in half a minute; more of a repository is checked in part, and the report says so. */
const MAX_FILES = 10_000;

/** MARS' job: the compiler's errors in every project of the repository. `root` is a real path. */
export async function checkTypes(root: string, progress: ProgressCounter): Promise<AuditReport> {
  using memory = new MemoryRelief();
  return await new TypesCheck(root, progress, memory).run();
}

/** A tsconfig.json as it was read. `files`: of those that it lists, the ones to be checked with it. */
interface ReadProject extends Config {
  readonly config: string;
  readonly files: readonly string[];
}

class TypesCheck {
  readonly #root: string;
  readonly #progress: ProgressCounter;
  readonly #memory: MemoryRelief;
  readonly #report = new ReportBuilder();
  readonly #note = this.#report.note.bind(this.#report);
  readonly #declarations = new DeclarationCache();
  readonly #listener: DiagnosticReport;
  readonly #found: FoundProjects;
  readonly #coverage: Coverage;
  #filesLeft = MAX_FILES;

  constructor(root: string, progress: ProgressCounter, memory: MemoryRelief) {
    this.#root = root;
    this.#progress = progress;
    this.#memory = memory;
    this.#listener = new DiagnosticReport(root, this.#report, {
      checked: () => progress.advance(),
      takesImported: (path) => this.#takesImported(path),
    });
    this.#found = findProjects(root, this.#note);
    this.#coverage = new Coverage(root, this.#found.scripts);
  }

  async run(): Promise<AuditReport> {
    const listener = this.#listener;
    // All are read before any is checked: what one of them only imports may be another's own.
    for (const { config, faults, project, files } of this.#read()) {
      for (const fault of faults) listener.foundInConfig(fault, config, hasPackages(config));
      if (project === undefined) listener.skipped('broken-config', 'its project was not checked', config);
      else await this.#check(config, project, files);
      await listener.endProject(config);
    }
    if (this.#found.projects.length > 0) this.#coverage.noteRest(this.#note);
    return this.#report.build();
  }

  /** Every project with the files that it lists; one that nothing names, with those that none before it has. */
  #read(): ReadProject[] {
    const pending = this.#found.projects.map((found) => ({ ...found, path: join(this.#root, found.path) }));
    const read = new Map<string, ReadProject>();
    for (let next = pending.shift(); next !== undefined; next = pending.shift()) {
      const { path: config, isDeclared } = next;
      if (read.has(config) || !config.startsWith(this.#root + sep)) continue;
      const { faults, project } = readConfig(this.#root, config);
      const references = (project?.projectReferences ?? []).map((one) => ts.resolveProjectReferencePath(one));
      pending.unshift(...references.map((path) => ({ path, isDeclared })));
      const listed = project?.fileNames ?? [];
      const files = isDeclared ? listed : listed.filter((file) => !this.#coverage.has(file));
      this.#coverage.cover(files);
      read.set(config, { config, faults, project, files });
    }
    return [...read.values()];
  }

  async #check(config: string, project: ParsedCommandLine, files: readonly string[]): Promise<void> {
    // Declarations are not checked themselves, but speak for all files: without them others would seem wrong.
    const declared = project.fileNames.filter(isDeclarationFile);
    const checked = files.filter((file) => !isDeclarationFile(file));
    const unchecked = checked.splice(this.#filesLeft);
    if (unchecked.length > 0) this.#listener.skipped('file-limit', unseen(unchecked.length), unchecked[0]);
    this.#filesLeft -= checked.length;
    const fileNames = [...declared, ...checked];
    this.#progress.expect(fileNames.length);
    await checkProject(
      {
        root: this.#root,
        config,
        project: { ...project, fileNames },
        declarations: this.#declarations,
        memory: this.#memory,
      },
      this.#listener,
    );
  }

  #takesImported(path: string): boolean {
    if (this.#filesLeft === 0 || !this.#coverage.take(path)) return false;
    this.#filesLeft -= 1;
    this.#progress.expect(1);
    return true;
  }
}

const unseen = (count: number): string =>
  `is the first of ${count} files that were not checked: the limit is ${MAX_FILES}`;
