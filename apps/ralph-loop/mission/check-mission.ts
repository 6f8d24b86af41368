import { CODE_CHANGE } from './changes-code.ts';
import { codeFaults } from './code-faults.ts';
import { graphFaults } from './graph-faults.ts';
import { isRecord } from './is-record.ts';
import { Mission } from './mission.ts';
import { MissionError } from './mission-error.ts';
import { withDefaults, type PlacedDefaults } from './mission-defaults.ts';
import { schemaFaults } from './schema-faults.ts';

/** What a file says, as a mission. Throws MissionError, naming all faults; `source` is the file's name in it. */
export function checkMission(value: unknown, source: string, defaults?: PlacedDefaults): Mission {
  const whole = defaults === undefined ? value : withDefaults(value, defaults);
  const parsed = Mission.safeParse(withCapabilities(whole));
  if (!parsed.success) throw new MissionError(source, schemaFaults(parsed.error, whole));
  const { $schema: _, ...mission } = parsed.data;
  const faults = [...graphFaults(mission.tasks), ...codeFaults(mission)];
  if (faults.length > 0) throw new MissionError(source, faults);
  return mission;
}

/** Gives tasks that name no capability the one that changes the repository, if the mission says how that is done. */
function withCapabilities(mission: unknown): unknown {
  if (!isRecord(mission) || mission['code'] === undefined || !Array.isArray(mission['tasks'])) return mission;
  const tasks = (mission['tasks'] as readonly unknown[]).map((task) =>
    isRecord(task) && task['capability'] === undefined && task['requiredCapabilities'] === undefined
      ? { ...task, capability: CODE_CHANGE }
      : task,
  );
  return { ...mission, tasks };
}
