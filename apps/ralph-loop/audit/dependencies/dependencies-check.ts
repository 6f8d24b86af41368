import { findingsOf } from '../evidence.ts';
import type { AuditReport } from '../../findings/finding.ts';
import { listFiles } from '../list-files.ts';
import { MemoryRelief } from '../memory-relief.ts';
import { PackageTree } from '../packages/package-tree.ts';
import { workspacesOf } from '../packages/workspaces.ts';
import type { ProgressCounter } from '../progress-counter.ts';
import { MAX_FILE_BYTES, readSource, tooLarge } from '../../findings/read-source.ts';
import { ReportBuilder } from '../report-builder.ts';
import { isScript } from '../syntax/parse-script.ts';
import { checkLicences } from './copyleft.ts';
import { addFaults } from './fault.ts';
import { checkDrift } from './lock-drift.ts';
import { LOCK_NAMES, type Lock, MAX_LOCK_BYTES, readLock } from './lock-file.ts';
import { checkAcross, checkRanges } from './ranges.ts';
import { Undeclared, type UndeclaredImport } from './undeclared.ts';
import { Unused } from './unused.ts';

/** URANUS' job: what the packages of a repository say they need, what they do need, and what is locked. */
export async function checkDependencies(root: string, progress: ProgressCounter): Promise<AuditReport> {
  const report = new ReportBuilder();
  const files = filesIn(root, report);
  const note = report.note.bind(report);
  const tree = PackageTree.read(root, files, { note, saw: (bytes) => report.saw(bytes) });
  const manifests = [...tree.all];
  if (manifests.length === 0) {
    note('empty', 'there is no package.json to look at');
    return report.build();
  }
  const own = new Set(manifests.flatMap(({ fields: { name } }) => name ?? []));
  const workspaces = workspacesOf(root, tree);
  const locks = readLocks(root, files, report);
  const faults = [
    ...manifests.flatMap((manifest) => checkRanges(manifest, own)),
    ...checkAcross(workspaces),
    ...locks.flatMap((lock) => [...checkDrift(lock, tree, workspaces), ...checkLicences(lock, tree)]),
  ];
  const unused = new Unused(root, tree, locks);
  const undeclared = new Undeclared(root, tree, own);
  await readAll({ root, files, report, progress }, [unused, undeclared]);
  await addFaults(root, report, [...faults, ...unused.faults()]);
  if (!isMapped(files)) await addImports(root, report, undeclared.found());
  if (unused.unknown.length > 0) note('not-installed', unknownOf(unused.unknown));
  return report.build();
}

function filesIn(root: string, report: ReportBuilder): string[] {
  const files: string[] = [];
  for (const { path, bytes } of listFiles(root, {
    note: report.note.bind(report),
    maxFileBytes: MAX_LOCK_BYTES,
  })) {
    if (bytes <= MAX_FILE_BYTES || isLock(path)) files.push(path);
    else report.note('too-large', tooLarge(bytes, MAX_FILE_BYTES), path);
  }
  return files;
}

const isLock = (file: string): boolean =>
  (LOCK_NAMES as readonly string[]).includes(file.slice(file.lastIndexOf('/') + 1));

/** Of two in a folder npm reads the first. */
function readLocks(root: string, files: readonly string[], report: ReportBuilder): Lock[] {
  const byFolder = Map.groupBy(files.filter(isLock), (file) => file.slice(0, file.lastIndexOf('/') + 1));
  return [...byFolder.values()].flatMap((found) => {
    const [file] = found.sort();
    if (file === undefined) return [];
    const read = readLock(root, file);
    if ('lock' in read) {
      report.saw(read.bytes);
      return [read.lock];
    }
    report.note(read.skipped, read.reason, file);
    return [];
  });
}

interface Reading {
  readonly root: string;
  readonly files: readonly string[];
  readonly report: ReportBuilder;
  readonly progress: ProgressCounter;
}

/** Reads every other file once, for all who look. */
async function readAll(
  { root, files, report, progress }: Reading,
  lookers: readonly [Unused, Undeclared],
): Promise<void> {
  using memory = new MemoryRelief();
  progress.expect(files.length);
  for (const file of files) {
    progress.advance();
    if (isLock(file)) continue;
    const read = readSource(root, file);
    if ('skipped' in read) {
      // Pictures and the like mention nothing.
      if (read.skipped !== 'binary' || isScript(file)) report.note(read.skipped, read.reason, file);
      continue;
    }
    if (!file.endsWith('package.json')) report.saw(read.bytes);
    for (const looker of lookers) looker.look(read.source);
    await memory.parsed(read.bytes);
  }
}

/** Deno and import maps find packages without package.json. */
const isMapped = (files: readonly string[]): boolean =>
  files.some((file) => /(^|\/)(deno\.jsonc?|import_?map\.json)$/.test(file));

async function addImports(
  root: string,
  report: ReportBuilder,
  imports: readonly UndeclaredImport[],
): Promise<void> {
  for (const [file, ofFile] of Map.groupBy(imports, (one) => one.file)) {
    const read = readSource(root, file);
    if ('skipped' in read) continue;
    const defects = ofFile.map(({ name, offset, manifest, otherFiles }) => {
      const others =
        otherFiles === 0 ? '' : ` (and in ${otherFiles} other file${otherFiles === 1 ? '' : 's'})`;
      const message = `${name} is imported here${others}, and ${manifest.file} does not declare it`;
      return { rule: 'dependencies.undeclared', offset, message };
    });
    for (const finding of await findingsOf(read.source, defects)) report.add(finding);
  }
}

const unknownOf = ([first, ...others]: readonly string[]): string => {
  const what = others.length === 0 ? `${first} is` : `${first} and ${others.length} more are`;
  return `whether ${what} used is not known: neither a lock file of npm nor node_modules says what they bring`;
};
