import { changesCode } from './changes-code.ts';
import { capabilitiesOf, GATE_TIMEOUT_MS, type Mission, type MissionTask } from './mission.ts';

/** How often a task may be worked on, if the mission does not say. */
const ATTEMPTS = 2;
/** How long an attempt may take in a mission without a time limit, milliseconds. */
const ATTEMPT_TIMEOUT_MS = 600_000;

/** What a mission comes to at worst: attempts of all tasks, and its time if no two of them ran side by side. */
export interface MissionBounds {
  readonly attempts: number;
  readonly timeMs: number;
}

/** The worst case of a mission. Gates are run on a change, and again on what it is merged into. */
export function missionBounds({ code, limits, tasks }: Mission): MissionBounds {
  const { maxAttempts = ATTEMPTS, timeoutMs } = limits;
  const shared = code?.gates ?? [];
  const gatesMs = (task: MissionTask): number =>
    changesCode(task)
      ? [...shared, ...(task.gates ?? [])].reduce(
          (sum, gate) => sum + 2 * (gate.timeoutMs ?? GATE_TIMEOUT_MS),
          0,
        )
      : 0;
  const attempts = tasks.reduce((sum, task) => sum + maxAttempts * capabilitiesOf(task).length, 0);
  const timeMs = tasks.reduce(
    (sum, task) => sum + maxAttempts * capabilitiesOf(task).length * (ATTEMPT_TIMEOUT_MS + gatesMs(task)),
    0,
  );
  return { attempts, timeMs: Math.min(timeMs, timeoutMs ?? timeMs) };
}
