import { readFile, stat } from 'node:fs/promises';
import { repeatedKey } from './json-places.ts';
import { type JsonFault, parseJson } from './json-fault.ts';
import { MissionError } from './mission-error.ts';
import { parseYaml } from './parse-yaml.ts';

/** The largest file of a mission, bytes. */
export const MAX_MISSION_BYTES = 16 * 1024 * 1024;

const YAML_FILE = /\.ya?ml$/i;

/** What is at a path. */
export type PathKind = 'file' | 'folder' | 'nothing';

/** Says what is at a path; `nothing` if that cannot be found out. */
export async function tellKind(path: string): Promise<PathKind> {
  try {
    const status = await stat(path);
    return status.isFile() ? 'file' : status.isDirectory() ? 'folder' : 'nothing';
  } catch {
    return 'nothing';
  }
}

/** Reads a file of JSON, or of YAML where its name ends so. Rejects with MissionError, naming line and column. */
export async function readData(file: string): Promise<unknown> {
  return parseData(await readMissionText(file), file);
}

/** Parses JSON, or YAML where the name of the file ends so. Rejects with MissionError, naming line and column. */
export async function parseData(text: string, file: string): Promise<unknown> {
  if (!YAML_FILE.test(file)) return parseJsonData(text, file);
  const yaml = await parseYaml(text.replace(/^\uFEFF/, ''), file);
  if ('fault' in yaml) throw unreadable(file, 'YAML', yaml.fault);
  return yaml.value;
}

/** Parses JSON. Throws MissionError, naming line and column. */
export function parseJsonData(text: string, file: string): unknown {
  const json = text.replace(/^\uFEFF/, '');
  const parsed = parseJson(json);
  if ('fault' in parsed) throw unreadable(file, 'JSON', parsed.fault);
  const repeated = repeatedKey(json);
  if (repeated === undefined) return parsed.value;
  const { line, column, reason } = repeated;
  throw new MissionError(file, [`line ${line}, column ${column}: ${reason}`]);
}

const unreadable = (file: string, language: string, { line, column, reason }: JsonFault): MissionError =>
  new MissionError(file, [`line ${line}, column ${column}: not ${language}: ${reason}`]);

/** Reads the text of a mission file. Rejects with MissionError if it is no file, or larger than 16 MiB. */
export async function readMissionText(file: string): Promise<string> {
  try {
    const status = await stat(file);
    if (!status.isFile()) throw new MissionError(file, ['is not a file']);
    if (status.size > MAX_MISSION_BYTES)
      throw new MissionError(file, [`${status.size} bytes long, expected ${MAX_MISSION_BYTES} at most`]);
    return await readFile(file, 'utf8');
  } catch (error) {
    if (error instanceof MissionError) throw error;
    throw new MissionError(file, [reasonOf(error as NodeJS.ErrnoException)]);
  }
}

function reasonOf(error: NodeJS.ErrnoException): string {
  if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return 'no such file';
  if (error.code === 'EACCES' || error.code === 'EPERM') return 'may not be read';
  return error.message;
}
