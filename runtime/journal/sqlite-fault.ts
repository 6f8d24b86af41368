import { type OrreryError, reasonOf, storeFailed, storeInUse, storeInvalid } from '../protocol/errors.ts';
import { lockHolder } from './lock-holder.ts';

/** Result codes of SQLite (https://www.sqlite.org/rescode.html) that are answered with a code of their own. */
const BUSY = 5;
const LOCKED = 6;
const CORRUPT = 11;
const NOT_A_DATABASE = 26;

/** Says whether somebody else was at it at that moment. Node reports it of a backup as no error at all. */
export function isInTheWay(error: unknown): boolean {
  const code = codeOf(error);
  return code !== undefined && [0, BUSY, LOCKED].includes(code);
}

/** Says whether what SQLite found is damaged. */
export const isCorrupt = (error: unknown): error is Error => codeOf(error) === CORRUPT;

/** Says whether what SQLite found is no database. */
export const isNoDatabase = (error: unknown): boolean => codeOf(error) === NOT_A_DATABASE;

/** The primary result code; undefined of what is not SQLite's. */
function codeOf(error: unknown): number | undefined {
  const { errcode } = error as { errcode?: number };
  return errcode === undefined ? undefined : errcode & 0xff;
}

/** What the contract of a store says to what `node:sqlite` threw. */
export function sqliteFault(file: string, operation: string, error: unknown): OrreryError {
  const { errcode } = error as { errcode?: number };
  const reason = reasonOf(error);
  switch (codeOf(error)) {
    case BUSY:
    case LOCKED:
      return storeInUse(file, lockHolder(file));
    case NOT_A_DATABASE:
      return storeInvalid(file, 'it is not a database', {}, error);
    case CORRUPT:
      return storeInvalid(file, `it is damaged (${reason})`, {}, error);
    default:
      return storeFailed(
        file,
        operation,
        errcode === undefined ? reason : `${reason} (SQLite ${errcode})`,
        error,
      );
  }
}
