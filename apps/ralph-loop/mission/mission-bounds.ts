import { changesCode } from './changes-code.ts';
import {
  ATTEMPT_TIMEOUT_MS as CHANGE_TIMEOUT_MS,
  capabilitiesOf,
  type ChangeLimits,
  GATE_TIMEOUT_MS,
  type Mission,
  type MissionTask,
} from './mission.ts';

/** How often a task may be worked on, if the mission does not say. */
const ATTEMPTS = 2;
/** How long an attempt may take in a mission without a time limit, milliseconds. */
const ATTEMPT_TIMEOUT_MS = 600_000;

/**
 * What a mission comes to at worst: attempts of all tasks, and its time if no two of them ran side by side. `costUsd` is
 * absent where nothing limits it, or nothing costs.
 */
export interface MissionBounds {
  readonly costUsd?: number;
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
  const limitsOf = (task: MissionTask): ChangeLimits =>
    changesCode(task) ? { ...code?.limits, ...task.limits } : {};
  const attemptsOf = (task: MissionTask): number =>
    (limitsOf(task).maxAttempts ?? maxAttempts) * capabilitiesOf(task).length;
  const attemptMs = (task: MissionTask): number =>
    changesCode(task) ? (limitsOf(task).timeoutMs ?? CHANGE_TIMEOUT_MS) : ATTEMPT_TIMEOUT_MS;
  const attempts = tasks.reduce((sum, task) => sum + attemptsOf(task), 0);
  const timeMs = tasks.reduce((sum, task) => sum + attemptsOf(task) * (attemptMs(task) + gatesMs(task)), 0);
  const costs = tasks
    .filter(changesCode)
    .map((task) => limitsOf(task).maxCostUsd ?? Number.POSITIVE_INFINITY);
  const costUsd = Math.min(
    limits.maxCostUsd ?? Number.POSITIVE_INFINITY,
    costs.reduce((sum, cost) => sum + cost, 0),
  );
  return {
    attempts,
    timeMs: Math.min(timeMs, timeoutMs ?? timeMs),
    ...(costs.length > 0 && Number.isFinite(costUsd) ? { costUsd } : {}),
  };
}
