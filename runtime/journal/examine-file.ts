import { existsSync, rmSync, statSync } from 'node:fs';
import { DatabaseSync } from 'node:sqlite';
import { storeInvalid } from '../protocol/errors.ts';
import type { JournalMetadata } from './checksums.ts';
import { type Mark, markFileOf, markOf, readMark } from './high-water-mark.ts';
import { scanLog } from './log-scan.ts';
import { isCorrupt, isNoDatabase } from './sqlite-fault.ts';
import { APPLICATION, contentOf, FORMAT, OLDER_FORMATS, readMetadata } from './sqlite-format.ts';

/** Extended result code of SQLite: a change that was cut off is to be taken back first. */
const READONLY_ROLLBACK = 776;
/** SQLite takes a single byte for an empty file. */
const NOTHING_BYTES = 1;

/**
 * What a journal's file is like.
 *
 * - `format`   undefined of one that nothing was written to yet.
 * - `metadata` what it says of itself, if it has today's format.
 * - `damage`   what is wrong with it, a sentence each; none: it is whole.
 */
export interface Examination {
  readonly format: number | undefined;
  readonly metadata: JournalMetadata | undefined;
  readonly damage: readonly string[];
}

const NEW: Examination = { format: undefined, metadata: undefined, damage: [] };

export const logFileOf = (file: string): string => `${file}-wal`;

export const sizeOf = (file: string): number => statSync(file, { throwIfNoEntry: false })?.size ?? 0;

/**
 * Looks at a journal's file, its log and its mark, and changes none of them. Throws STORE_INVALID when it is the database of
 * another application or of another format, and what SQLite throws when it is locked or cannot be read at all.
 */
export function examineFile(file: string, lockWaitMs = 0): Examination {
  const mark = readMark(file);
  if (sizeOf(file) <= NOTHING_BYTES) return examineNothing(file, mark);
  try {
    return reading(file, lockWaitMs, (database) => examineTables(file, database));
  } catch (error) {
    if ((error as { errcode?: number }).errcode !== READONLY_ROLLBACK) throw error;
    takeBack(file, lockWaitMs);
    return reading(file, lockWaitMs, (database) => examineTables(file, database));
  }
}

/** Examines a missing or empty file: SQLite would take it for a new one, and delete the log. */
function examineNothing(file: string, mark: Mark | 'damaged' | undefined): Examination {
  const damage = promised(mark, markFileOf(file));
  if (damage === undefined && sizeOf(logFileOf(file)) > 0)
    return { ...NEW, damage: [`there is nothing in it, but something in its log ${logFileOf(file)}`] };
  return damage === undefined ? NEW : { ...NEW, damage: [damage] };
}

/** What a mark says against a journal that has nothing in it. */
function promised(mark: Mark | 'damaged' | undefined, markFile: string): string | undefined {
  if (mark === undefined || mark === 'damaged' || mark.commits === 0) return undefined;
  return `there is nothing in it, but ${markFile} says that it held ${mark.commits} commits`;
}

/**
 * Reads by a connection that cannot write: when it is closed it leaves the log as it was. Of the files that SQLite makes beside
 * it for that nobody has need.
 */
export function reading<Result>(
  file: string,
  lockWaitMs: number,
  read: (database: DatabaseSync) => Result,
): Result {
  const log = logFileOf(file);
  const hadLog = existsSync(log);
  const database = new DatabaseSync(file, { readOnly: true, timeout: lockWaitMs });
  let isLocked = false;
  try {
    numberOf(database, 'PRAGMA schema_version'); // Locks it: from here on nobody writes.
    isLocked = true;
    return read(database);
  } catch (error) {
    // SQLite made these files for reading; no other process has it open.
    isLocked ||= isCorrupt(error) || isNoDatabase(error);
    throw error;
  } finally {
    database.close();
    if (isLocked) rmSync(`${file}-shm`, { force: true });
    if (isLocked && !hadLog) rmSync(log, { force: true });
  }
}

/** SQLite does it when the file is opened for writing. */
function takeBack(file: string, lockWaitMs: number): void {
  const database = new DatabaseSync(file, { timeout: lockWaitMs });
  try {
    numberOf(database, 'PRAGMA schema_version');
  } finally {
    database.close();
  }
}

function examineTables(file: string, database: DatabaseSync): Examination {
  const mark = readMark(file);
  const application = numberOf(database, 'PRAGMA application_id');
  const format = numberOf(database, 'PRAGMA user_version');
  if (application === 0 && format === 0 && numberOf(database, 'SELECT count(*) FROM sqlite_schema') === 0) {
    const lost = promised(mark, markFileOf(file));
    return lost === undefined ? NEW : { ...NEW, damage: [lost] };
  }
  requireOurs(file, application, format);
  const torn = tornIn(file, database);
  if (torn !== undefined) return { format, metadata: undefined, damage: [torn] };
  if (format === FORMAT) return { format, ...examineContent(file, database, mark) };
  const isNewer = mark !== undefined && mark !== 'damaged' && mark.commits > 0;
  const damage = isNewer
    ? [`it has format ${format}, and ${markFileOf(file)} says that it had a newer one: it is an older copy`]
    : [];
  return { format, metadata: undefined, damage };
}

function requireOurs(file: string, application: number, format: number): void {
  if (application !== APPLICATION) {
    const reason = `it belongs to another application (application_id ${application})`;
    throw storeInvalid(file, reason, { application });
  }
  if (format === FORMAT || OLDER_FORMATS.includes(format)) return;
  const age = format > FORMAT ? 'newer' : 'older';
  const way =
    age === 'newer'
      ? 'open it with the version that wrote it, or a later one'
      : `open it first with a version that reads format ${format}, and let its agents settle what it holds`;
  const readable = [...OLDER_FORMATS, FORMAT].join(' and ');
  const reason = `it has the ${age} format ${format}, this version reads formats ${readable}; ${way}`;
  throw storeInvalid(file, reason, { format, expected: FORMAT });
}

/** What keeps SQLite from reading it. */
function tornIn(file: string, database: DatabaseSync): string | undefined {
  try {
    const [found] = Object.values(database.prepare('PRAGMA quick_check(1)').get() ?? {});
    if (found !== 'ok') return damaged(String(found).split('\n').at(-1) ?? '');
    const tables = numberOf(
      database,
      "SELECT count(*) FROM sqlite_schema WHERE name IN ('counter', 'mails', 'records')",
    );
    if (tables !== 3) return damaged('tables are missing');
    const counters = numberOf(
      database,
      'SELECT count(*) FROM counter WHERE next > (SELECT ifnull(max(number), 0) FROM mails)',
    );
    if (counters !== 1) return damaged('it would give numbers twice');
    return partOfPage(file, database);
  } catch (error) {
    if (!isCorrupt(error)) throw error;
    return damaged(error.message);
  }
}

/**
 * SQLite takes what is missing of the last page for zeros, and a single byte for nothing. While there is a log it may be
 * right: the page is in there.
 */
function partOfPage(file: string, database: DatabaseSync): string | undefined {
  if (sizeOf(logFileOf(file)) > 0) return undefined;
  const bytes = sizeOf(file);
  const pageBytes = numberOf(database, 'PRAGMA page_size');
  if (bytes % pageBytes === 0) return undefined;
  return damaged(`it has ${bytes} bytes, which are no whole pages of ${pageBytes}`);
}

function examineContent(
  file: string,
  database: DatabaseSync,
  mark: Mark | 'damaged' | undefined,
): Pick<Examination, 'metadata' | 'damage'> {
  const metadata = readMetadata(database);
  if (metadata === undefined)
    return { metadata, damage: [damaged('what it says of itself is not what was written')] };
  const content = contentOf(database);
  const lost = lostOf(file, metadata, mark);
  const damage = [
    ...(lost === undefined ? [] : [lost]),
    ...('damaged' in content ? [damaged(content.damaged)] : []),
    ...('sum' in content && content.sum !== metadata.content
      ? [damaged('what it holds is not what its last commit left')]
      : []),
  ];
  return { metadata, damage };
}

/**
 * What the journal has lost by its mark. The mark never leads. It lags by one commit when the process ended between the two,
 * and by more after a loss of power; then it is still of this opening, or of the one before if this one had only begun.
 */
function lostOf(
  file: string,
  metadata: JournalMetadata,
  mark: Mark | 'damaged' | undefined,
): string | undefined {
  const markFile = markFileOf(file);
  if (mark === undefined) return `${markFile} is gone, so nobody can tell whether something is missing`;
  if (mark === 'damaged')
    return `nothing can be read of ${markFile}, so nobody can tell whether something is missing`;
  if (mark.commits > metadata.commits) {
    const missing = mark.commits - metadata.commits;
    return `of its ${mark.commits} commits the last ${missing} are missing: ${causeOf(file)}`;
  }
  const isOfBefore = mark.life === metadata.before && mark.commits < metadata.commits;
  if (mark.life !== metadata.life && !isOfBefore)
    return `it is not the journal that ${markFile} belongs to, or another copy of it`;
  if (mark.commits === metadata.commits && mark.checksum !== markOf(metadata).checksum)
    return `its commit ${mark.commits} is not the one that ${markFile} knows`;
  return undefined;
}

function causeOf(file: string): string {
  const log = logFileOf(file);
  const scan = scanLog(log);
  if (scan.kind === 'missing') return `it is an older copy, or its log ${log} is gone`;
  if (scan.kind !== 'read') return `nothing can be read of its log ${log}`;
  if (scan.isFollowed) return `its log ${log} is damaged at byte ${scan.wholeBytes}`;
  return `it is an older copy, or its log ${log}, which ends at byte ${scan.wholeBytes}, was cut off`;
}

const damaged = (what: string): string => `it is damaged (${what})`;

/** The one number that a statement gives. */
export const numberOf = (database: DatabaseSync, sql: string): number =>
  Number(Object.values(database.prepare(sql).get() ?? {})[0]);
