import { readFile, stat } from 'node:fs/promises';
import { graphFaults } from './graph-faults.ts';
import { parseJson } from './json-fault.ts';
import { Mission } from './mission.ts';
import { MissionError } from './mission-error.ts';
import { schemaFaults } from './schema-faults.ts';

/** The largest mission file, bytes. */
const MAX_BYTES = 16 * 1024 * 1024;

/** Reads a mission file. Rejects with MissionError, naming all faults, if it cannot be read or run. */
export async function readMission(file: string): Promise<Mission> {
  return parseMission(await readText(file), file);
}

/** Parses a mission. Throws MissionError, naming all faults; `source` is the file's name in it. */
export function parseMission(text: string, source: string): Mission {
  const json = parseJson(text.replace(/^\uFEFF/, ''));
  if ('fault' in json) {
    const { line, column, reason } = json.fault;
    throw new MissionError(source, [`line ${line}, column ${column}: not JSON: ${reason}`]);
  }
  const parsed = Mission.safeParse(json.value);
  if (!parsed.success) throw new MissionError(source, schemaFaults(parsed.error, json.value));
  const faults = graphFaults(parsed.data.tasks);
  if (faults.length > 0) throw new MissionError(source, faults);
  return parsed.data;
}

async function readText(file: string): Promise<string> {
  try {
    const status = await stat(file);
    if (!status.isFile()) throw new MissionError(file, ['is not a file']);
    if (status.size > MAX_BYTES)
      throw new MissionError(file, [`${status.size} bytes long, expected ${MAX_BYTES} at most`]);
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
