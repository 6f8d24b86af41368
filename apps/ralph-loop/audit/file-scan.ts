import { type Defect, findingsOf } from './evidence.ts';
import type { AuditReport } from '../findings/finding.ts';
import { listFiles } from './list-files.ts';
import { MemoryRelief } from './memory-relief.ts';
import type { ProgressCounter } from './progress-counter.ts';
import { readSource } from '../findings/read-source.ts';
import { ReportBuilder } from './report-builder.ts';
import type { Rules } from './rule.ts';
import type { SourceText } from '../findings/source-text.ts';

/**
 * What is wrong in one file.
 *
 * - `unparsable`  why it could not be looked at, or not to its end.
 * - `generated`   it is the output of a program and was not looked at.
 */
export interface FileDefects {
  readonly defects: readonly Defect[];
  readonly unparsable?: string | undefined;
  readonly generated?: true;
}

/**
 * A job, or a part of one, whose every finding follows from one file alone: MERCURY looks for it again in that file.
 *
 * - `rules`    all that `scan` can find.
 * - `takes`    which files it reads, by path; only of these it is noted that they are too large or cannot be read.
 * - `nothing`  what the report says when there is no such file.
 * - `scan`     may ask `root`, a real path, which other files there are.
 */
export interface FileScan {
  readonly rules: Rules;
  readonly nothing: string;
  readonly takes: (file: string) => boolean;
  readonly scan: (source: SourceText, root: string) => FileDefects | Promise<FileDefects>;
}

/** A file with more than this is made by a program, or is wrong in one way all through. */
export const MAX_DEFECTS_A_FILE = 500;

/** What a scan finds in one file, as far as it is listed; `leftOut` counts what is not. */
export async function scanFile(
  { scan }: Pick<FileScan, 'scan'>,
  source: SourceText,
  root: string,
): Promise<FileDefects & { readonly leftOut: number }> {
  const found = await scan(source, root);
  const defects = found.defects.slice(0, MAX_DEFECTS_A_FILE);
  return { ...found, defects, leftOut: found.defects.length - defects.length };
}

/** Looks through every file that `scan` takes, one in memory at a time. `root` is a real path. */
export async function scanFiles(
  root: string,
  scan: FileScan,
  progress: ProgressCounter,
): Promise<AuditReport> {
  const report = new ReportBuilder();
  await scanInto(report, root, scan, progress);
  return report.build();
}

/** The same, into a report that the caller adds to. */
export async function scanInto(
  report: ReportBuilder,
  root: string,
  { nothing, takes, scan }: Omit<FileScan, 'rules'>,
  progress: ProgressCounter,
): Promise<void> {
  using memory = new MemoryRelief();
  const files = takenFiles(root, report, takes);
  if (files.length === 0) report.note('empty', nothing);
  progress.expect(files.length);
  for (const path of files) {
    const read = readSource(root, path);
    if ('skipped' in read) report.note(read.skipped, read.reason, path);
    else {
      report.saw(read.bytes);
      const { defects, unparsable, generated, leftOut } = await scanFile({ scan }, read.source, root);
      for (const finding of await findingsOf(read.source, defects)) report.add(finding);
      if (unparsable !== undefined) report.note('unparsable', unparsable, path);
      if (leftOut > 0) report.note('findings-left-out', `${leftOut} more findings here are not listed`, path);
      if (generated) report.note('generated', 'is made by a program', path);
      await memory.parsed(read.bytes);
    }
    progress.advance();
  }
}

function takenFiles(root: string, report: ReportBuilder, takes: (file: string) => boolean): string[] {
  const note = (kind: string, reason: string, file?: string): void => {
    if (kind !== 'too-large' || file === undefined || takes(file)) report.note(kind, reason, file);
  };
  const files: string[] = [];
  for (const { path } of listFiles(root, { note })) if (takes(path)) files.push(path);
  return files;
}
