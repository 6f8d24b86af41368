import { checkMission } from './check-mission.ts';
import type { Mission } from './mission.ts';
import { parseJsonData } from './read-data.ts';
import { type ReadMissionOptions, readMissionSource } from './read-mission-source.ts';

/**
 * Reads a mission file of any format: its own, in JSON or YAML, or one that other tools have. Rejects with MissionError,
 * naming all faults, if it cannot be read or run.
 */
export async function readMission(file: string, options: ReadMissionOptions = {}): Promise<Mission> {
  return (await readMissionSource(file, options)).mission;
}

/** Parses a mission in JSON. Throws MissionError, naming all faults; `source` is the file's name in it. */
export function parseMission(text: string, source: string): Mission {
  return checkMission(parseJsonData(text, source), source);
}
