import { sep } from 'node:path';
import type { Diagnostic, SourceFile } from 'typescript';
import { type Defect, findingsOf } from '../evidence.ts';
import { readSource } from '../../findings/read-source.ts';
import type { ReportBuilder } from '../report-builder.ts';
import { SourceText } from '../../findings/source-text.ts';
import type { CheckListener } from './check-project.ts';
import { quotedIn, type Trust } from './trust.ts';
import { ts } from './typescript.ts';

/** A configuration without files of its own, as the base of others or with references only: nothing is wrong. */
const NO_INPUTS = new Set([18002, 18003]);
/** Options that only our compiler no longer knows. */
const OPTION_IS_HISTORY = new Set([5101, 5102, 5107, 5108]);
const FILE_NOT_FOUND = 6053;
const NAMED_PACKAGES = 8;

/** Who counts the files that are checked, and decides about those that are only imported. */
export interface FileListener extends Pick<CheckListener, 'takesImported'> {
  readonly checked: () => void;
}

/** Turns the compiler's diagnostics into findings, and those that prove nothing into notes. */
export class DiagnosticReport implements CheckListener {
  readonly #root: string;
  readonly #report: ReportBuilder;
  readonly #files: FileListener;
  #defects = new Map<string, { source: SourceText; defects: Defect[] }>();
  #untrusted = new Map<Exclude<Trust, 'defect'>, number>();
  #packages = new Set<string>();

  constructor(root: string, report: ReportBuilder, files: FileListener) {
    this.#root = root;
    this.#report = report;
    this.#files = files;
  }

  /** A fault of the configuration at `config`, an absolute path. */
  foundInConfig(fault: Diagnostic, config: string, hasPackages: boolean): void {
    if (NO_INPUTS.has(fault.code)) return this.skipped('no-inputs', 'names no files of its own', config);
    const name = quotedIn(fault) ?? '';
    const isPackage = fault.code === FILE_NOT_FOUND && !hasPackages && !/^[./]/.test(name);
    if (isPackage) return this.#distrust('package', name);
    if (fault.file !== undefined) return this.found(fault, 'defect');
    const file = this.#relative(config);
    const read = readSource(this.#root, file);
    if ('source' in read) this.#add(read.source, fault, read.source.text.search(/\S/));
  }

  found(diagnostic: Diagnostic, trust: Trust): void {
    const { file, start, code, category } = diagnostic;
    if (category !== ts.DiagnosticCategory.Error || OPTION_IS_HISTORY.has(code)) return;
    // That a root file was not loaded is noted by whoever left it out.
    if (code === FILE_NOT_FOUND && file === undefined) return;
    if (trust !== 'defect') return this.#distrust(trust, quotedIn(diagnostic));
    const isInside = file?.fileName.startsWith(this.#root + sep) && !file.fileName.includes('/node_modules/');
    if (file === undefined || !isInside) return this.#report.note('compiler', this.#messageOf(diagnostic));
    const known = this.#defects.get(file.fileName);
    const source = known?.source ?? new SourceText(this.#relative(file.fileName), file.text);
    this.#add(source, diagnostic, start ?? 0, file.fileName);
  }

  checked(file: SourceFile): void {
    this.#report.saw(file.text.length);
    this.#files.checked();
  }

  takesImported(path: string): boolean {
    return this.#files.takesImported(path);
  }

  skipped(kind: string, reason: string, path?: string): void {
    this.#report.note(kind, reason, path === undefined ? undefined : this.#relative(path));
  }

  /** Makes findings of what has been found, and forgets the texts it was found in. */
  async flush(): Promise<void> {
    for (const { source, defects } of this.#defects.values()) {
      for (const finding of await findingsOf(source, defects)) this.#report.add(finding);
    }
    this.#defects = new Map();
  }

  /** Notes what was not counted in the project of `config`. */
  async endProject(config: string): Promise<void> {
    await this.flush();
    const count = (trust: Exclude<Trust, 'defect'>): number => this.#untrusted.get(trust) ?? 0;
    if (count('package') > 0) {
      this.skipped(
        'packages-missing',
        `${counted(count('package'), 'error says', 'errors say')} that ${this.#named()} cannot be found`,
        config,
      );
    }
    if (count('unbuilt') > 0) {
      this.skipped(
        'unbuilt',
        `${counted(count('unbuilt'), 'import leads', 'imports lead')} to packages of the repository that are not built`,
        config,
      );
    }
    if (count('unloaded') > 0) {
      this.skipped(
        'not-loaded',
        `${counted(count('unloaded'), 'import leads', 'imports lead')} to files that were left out`,
        config,
      );
    }
    if (count('follows') > 0) {
      this.skipped(
        'may-follow',
        `${counted(count('follows'), 'error', 'errors')} may only follow from what is missing`,
        config,
      );
    }
    this.#untrusted = new Map();
    this.#packages = new Set();
  }

  #named(): string {
    const names = [...this.#packages].sort();
    const more = names.length - NAMED_PACKAGES;
    return names.slice(0, NAMED_PACKAGES).join(', ') + (more > 0 ? ` and ${more} more` : '');
  }

  #distrust(trust: Exclude<Trust, 'defect'>, name?: string): void {
    this.#untrusted.set(trust, (this.#untrusted.get(trust) ?? 0) + 1);
    if (trust === 'package' && name !== undefined) this.#packages.add(name);
  }

  #add(source: SourceText, diagnostic: Diagnostic, offset: number, key = source.file): void {
    const at = anchor(source, offset);
    if (at === undefined) return this.#report.note('empty-file', this.#messageOf(diagnostic), source.file);
    const held = this.#defects.get(key) ?? { source, defects: [] };
    held.defects.push({
      rule: `types.TS${diagnostic.code}`,
      offset: at,
      message: this.#messageOf(diagnostic),
    });
    this.#defects.set(key, held);
  }

  #messageOf({ messageText }: Diagnostic): string {
    return ts.flattenDiagnosticMessageText(messageText, '\n').replaceAll(this.#root + sep, '');
  }

  #relative(path: string): string {
    return path.startsWith(this.#root + sep) ? path.slice(this.#root.length + 1).replaceAll(sep, '/') : path;
  }
}

const counted = (number: number, one: string, several: string): string =>
  `${number} ${number === 1 ? one : several}`;

/** An error at the end of a file stands on its last line with text: a finding needs a line to show. */
function anchor(source: SourceText, offset: number): number | undefined {
  if (offset < 0) return undefined;
  const { line } = source.positionAt(offset);
  if (source.line(line)?.trim() !== '') return offset;
  const before = source.text.slice(0, offset).trimEnd();
  return before === '' ? undefined : before.length - 1;
}
