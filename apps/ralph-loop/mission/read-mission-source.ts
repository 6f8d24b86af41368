import { checkMission } from './check-mission.ts';
import type { Mission } from './mission.ts';
import type { PlacedDefaults } from './mission-defaults.ts';
import type { MissionSource } from './mission-source.ts';
import { parseData, readMissionText } from './read-data.ts';

/**
 * How a mission is read.
 *
 * - `defaults` of its repository, as `readDefaults` has them.
 */
export interface ReadMissionOptions {
  readonly defaults?: PlacedDefaults | undefined;
}

/** A mission, and where each of its tasks comes from. */
export interface SourcedMission {
  readonly mission: Mission;
  readonly source: MissionSource;
}

/** Reads a mission and says where its tasks come from. Rejects with MissionError, naming all faults. */
export async function readMissionSource(
  file: string,
  { defaults }: ReadMissionOptions = {},
): Promise<SourcedMission> {
  const mission = checkMission(await parseData(await readMissionText(file), file), file, defaults);
  return { mission, source: { format: 'orrery', file, tasks: {}, leftOut: [] } };
}
