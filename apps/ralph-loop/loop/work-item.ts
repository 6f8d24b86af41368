import { type CodingPermission, codeChange } from 'orrery/coding';
import {
  capabilitiesOf,
  type ChangeLimits,
  type Mission,
  type MissionGate,
  type MissionTask,
  reviewerId,
} from '../mission/mission.ts';

/**
 * One capability of a task: what the loop schedules, assigns, judges and retries.
 *
 * A task with one `capability` is one item with the task's id. With `requiredCapabilities` it is an item each,
 * `task/capability`; several go to a swarm together. All items of a task share the correlation id `mission/task`, so that one
 * query shows its whole thread.
 */
export interface WorkItem {
  readonly id: string;
  readonly taskId: string;
  readonly title: string;
  readonly description: string | undefined;
  readonly capability: string;
  readonly isOfSwarm: boolean;
  readonly input: Readonly<Record<string, unknown>>;
  readonly acceptance: readonly string[];
  readonly dependsOn: readonly string[];
  readonly after: readonly string[];
  readonly isRecalling: boolean;
  readonly priority: number;
  readonly estimateMs: number | undefined;
  readonly correlationId: string;
  /** How it changes the repository; undefined if it does not. */
  readonly code: ItemCode | undefined;
}

/** - `gates`, `protect` those of all tasks, and its own. - `touches` what it is likely to change. - `approve` somebody has to. - `reviewers` agents that may veto. */
export interface ItemCode {
  readonly gates: readonly MissionGate[];
  readonly protect: readonly string[];
  readonly touches: readonly string[];
  readonly permission: CodingPermission;
  readonly approve: boolean;
  readonly limits: ChangeLimits;
  readonly reviewers: readonly string[];
}

/** Makes the items of a mission, in the order of its file, with dependencies between items. */
export function workItems(mission: Mission): WorkItem[] {
  const itemIds = new Map(
    mission.tasks.map((task) => [task.id, capabilitiesOf(task).map((id) => itemId(task, id))]),
  );
  return mission.tasks.flatMap((task) =>
    capabilitiesOf(task).map((capability) => ({
      id: itemId(task, capability),
      taskId: task.id,
      title: task.title,
      description: task.description,
      capability,
      isOfSwarm: capabilitiesOf(task).length > 1,
      input: task.input ?? {},
      acceptance: task.acceptance ?? [],
      dependsOn: (task.dependsOn ?? []).flatMap((id) => itemIds.get(id) ?? []),
      after: (task.after ?? []).flatMap((id) => itemIds.get(id) ?? []),
      isRecalling: task.recall === true,
      priority: task.priority ?? Number.POSITIVE_INFINITY,
      estimateMs: task.estimateMs,
      correlationId: `${mission.name}/${task.id}`,
      code: capability === codeChange.id ? codeOf(mission, task) : undefined,
    })),
  );
}

const codeOf = ({ code }: Mission, task: MissionTask): ItemCode => ({
  gates: [...(code?.gates ?? []), ...(task.gates ?? [])],
  protect: [...(code?.protect ?? []), ...(task.protect ?? [])],
  touches: task.touches ?? [],
  permission: task.permission ?? code?.permission ?? 'edit',
  limits: { ...code?.limits, ...task.limits },
  reviewers: (code?.reviewers ?? []).map(reviewerId),
  approve: task.approve ?? code?.approve ?? false,
});

const itemId = (task: MissionTask, capability: string): string =>
  task.capability === undefined ? `${task.id}/${capability}` : task.id;
