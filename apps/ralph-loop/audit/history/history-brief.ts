import { type Defect, findingsOf } from '../evidence.ts';
import type { AuditReport } from '../../findings/finding.ts';
import { readImports } from '../imports/read-imports.ts';
import { ImportResolver } from '../imports/resolve-import.ts';
import { listFiles } from '../list-files.ts';
import type { ProgressCounter } from '../progress-counter.ts';
import { readSource } from '../../findings/read-source.ts';
import { ReportBuilder } from '../report-builder.ts';
import type { SourceText } from '../../findings/source-text.ts';
import { GitRepository } from './git/git-repository.ts';
import {
  type Couple,
  couplesIn,
  habitsOf,
  hotSpots,
  MAX_LISTED,
  mendedAgain,
  MIN_CHANGES,
} from './patterns.ts';
import { type History, LOOKED_AT, readHistory } from './read-history.ts';

/** ATLAS' job: what the last commits say about the files. `root` is a real path; nothing of git is run. */
export async function briefHistory(root: string, progress: ProgressCounter): Promise<AuditReport> {
  const report = new ReportBuilder();
  const opened = GitRepository.open(root);
  if ('fault' in opened) report.note('no-history', opened.fault);
  else {
    using repository = opened.repository;
    const head = repository.head();
    progress.expect(LOOKED_AT);
    if (head === undefined) report.note('no-history', 'nothing is committed yet');
    else
      await brief(
        root,
        readHistory(repository, head, () => progress.advance()),
        report,
      );
  }
  return report.build();
}

async function brief(root: string, history: History, report: ReportBuilder): Promise<void> {
  const { changes, isCutOff } = history;
  if (isCutOff) report.note('history-cut-off', `only ${changes.length} changes are in the repository`);
  if (changes.length < MIN_CHANGES) {
    report.note('little-history', `${changes.length} changes are too few to learn from`);
    return;
  }
  const files = new Set<string>();
  for (const { path } of listFiles(root, { note: () => {} })) files.add(path);
  const habits = habitsOf(changes, (file) => files.has(file));
  const total = changes.length;
  const told = [
    ...hotSpots(habits, total).map(({ file, changes: count }) => ({
      rule: 'history.hot-spot',
      file,
      message: `Changed by ${count} of the last ${total} commits`,
    })),
    ...mendedAgain(habits).map(({ file, fixes, changes: count }) => ({
      rule: 'history.mended-again',
      file,
      message: `${fixes} of its last ${count} changes mend something`,
    })),
    ...apart(root, couplesIn(changes, habits)).map(({ a, b, together }) => ({
      rule: 'history.change-together',
      file: a,
      message: `Changed together with ${b} ${together} times, and neither imports the other`,
    })),
  ];
  for (const [file, ofFile] of Map.groupBy(told, (one) => one.file)) await tell(root, file, ofFile, report);
}

async function tell(
  root: string,
  file: string,
  told: readonly Omit<Defect, 'offset'>[],
  report: ReportBuilder,
): Promise<void> {
  const read = readSource(root, file);
  if ('skipped' in read) return report.note(read.skipped, read.reason, file);
  report.saw(read.bytes);
  const offset = beginningOf(read.source);
  // A finding stands at a line, and an empty file has none.
  if (offset === undefined) return;
  const defects = told.map(({ rule, message }): Defect => ({ rule, offset, ...(message && { message }) }));
  for (const finding of await findingsOf(read.source, defects)) report.add(finding);
}

/** The offset of the first word. */
function beginningOf({ text }: SourceText): number | undefined {
  const at = text.search(/\S/);
  return at === -1 ? undefined : at;
}

/** Those of the couples in which neither file imports the other. */
function apart(root: string, couples: readonly Couple[]): Couple[] {
  const resolver = new ImportResolver(root);
  const imports = (from: string, to: string): boolean => {
    const read = readSource(root, from);
    const found = 'source' in read ? readImports(read.source) : { imports: [] };
    // What cannot be parsed may import anything.
    if ('unparsable' in found) return true;
    return found.imports.some(({ specifier }) => {
      const target = resolver.resolve(from, specifier);
      return typeof target === 'object' && target.file === to;
    });
  };
  const found: Couple[] = [];
  for (const couple of couples) {
    if (found.length >= MAX_LISTED) break;
    if (!imports(couple.a, couple.b) && !imports(couple.b, couple.a)) found.push(couple);
  }
  return found;
}
