import { existsSync, statSync } from 'node:fs';
import { isOrreryError } from 'orrery';
import { ApiKeyRecord, apiKeys, type Authenticator } from 'orrery/admission';
import { readNamedFile } from './option-values.ts';
import { OutputFile } from './output-file.ts';
import { UsageError } from './usage-error.ts';

type WallClock = Parameters<typeof apiKeys>[1]['clock'];

/**
 * An authenticator for the keys whose records are in a file. Changes of the file apply at the next request. If it cannot be
 * read any more, a warning is emitted and the former records stay. Throws UsageError if it cannot be read at first.
 */
export function keysInFile(path: string, clock: WallClock): Authenticator {
  let edition = editionOf(path);
  let keys = readKeys(path, clock);
  return {
    scheme: keys.scheme,
    authenticate: (request) => {
      const now = editionOf(path);
      if (now !== edition) {
        edition = now;
        try {
          keys = readKeys(path, clock);
        } catch (error) {
          const why = error instanceof Error ? error.message : String(error);
          process.emitWarning(`${why}; the keys are those that it had`, 'OrreryWarning');
        }
      }
      return keys.authenticate(request);
    },
  };
}

/** A text that changes whenever the file does. */
function editionOf(path: string): string {
  const found = statSync(path, { throwIfNoEntry: false });
  return found === undefined ? '' : `${found.ino}:${found.size}:${found.mtimeMs}`;
}

function readKeys(path: string, clock: WallClock): Authenticator {
  const records = readRecords('--api-keys', path);
  try {
    return apiKeys(records, { clock });
  } catch (error) {
    if (!isOrreryError(error)) throw error;
    throw new UsageError(`Option "--api-keys" is "${path}": ${error.message}`);
  }
}

/** Adds a record to a file, which is created if it does not exist. Throws UsageError. */
export function addToFile(path: string, record: ApiKeyRecord): void {
  const records = existsSync(path) ? readRecords('--add', path) : [];
  const file = new OutputFile('--add', path);
  file.write(`${JSON.stringify([...records, record], null, 2)}\n`);
  file.commit();
  if (file.failure !== undefined)
    throw new Error(`The record could not be written to ${path}: ${file.failure}`);
}

function readRecords(option: string, path: string): readonly ApiKeyRecord[] {
  const refuse = (why: string): UsageError =>
    new UsageError(
      `Option "${option}" is "${path}": ${why}, expected a list as 'orrery key --add FILE' writes it`,
    );
  let list: unknown;
  try {
    list = JSON.parse(readNamedFile(option, path));
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw refuse('it is no JSON');
  }
  if (!Array.isArray(list)) throw refuse('it is no list');
  list.forEach((item, at) => {
    const issue = ApiKeyRecord.safeParse(item).error?.issues[0];
    if (issue !== undefined) throw refuse(`record ${at + 1} has no valid ${issue.path.join('.') || 'form'}`);
  });
  return list as readonly ApiKeyRecord[];
}
