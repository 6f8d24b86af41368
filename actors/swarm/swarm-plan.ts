import { z } from 'zod';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { parseOptions, requireText } from '../../runtime/protocol/parse-options.ts';
import { taintFrom } from '../../runtime/protocol/taint-from.ts';
import { Taint } from '../../runtime/protocol/taint.ts';
import type { Behalf } from '../../runtime/public.ts';
import { RECORD_VERSION, SwarmLimits, type SwarmRecord, type SwarmWork } from './swarm-record.ts';
import type { SwarmSubTask } from './swarm-session.ts';
import type { CreateSwarmOptions } from './swarms.ts';

const Text = z.string().min(1);

/** What is said of a new swarm beside its limits and its plan. */
const About = z.strictObject({
  input: z.unknown().optional(),
  sharedState: z.record(z.string(), z.unknown()).default({}),
  correlationId: Text.optional(),
  estimatedComplexity: z.enum(['simple', 'medium', 'complex']).default('medium'),
  escalationJustification: Text.optional(),
  taint: Taint.optional(),
});

/** What is wanted, of whom, and when. */
export interface NewSwarm {
  readonly id: string;
  readonly ownerId: string;
  readonly nowMs: number;
  readonly taskDescription: string;
  readonly requiredCapabilities: readonly string[];
  readonly options: CreateSwarmOptions;
  readonly work?: SwarmWork | undefined;
  readonly behalf?: Behalf | undefined;
}

/** The record of a swarm that begins. Rejects with INVALID_OPTIONS naming field and value, and with what a planner throws. */
export async function newRecord(wanted: NewSwarm): Promise<SwarmRecord> {
  const { id, ownerId, nowMs, taskDescription, requiredCapabilities, work, behalf } = wanted;
  const { plan, signal: _signal, ...rest } = wanted.options;
  const {
    input,
    sharedState,
    correlationId,
    estimatedComplexity,
    escalationJustification,
    taint,
    ...others
  } = rest;
  const given = { input, sharedState, correlationId, estimatedComplexity, escalationJustification, taint };
  const about = parseOptions(About, given, 'swarm');
  const limits = parseOptions(SwarmLimits, others, 'swarm');
  const parts = await planOf({ taskDescription, requiredCapabilities }, plan);
  const subTasks = subTasksOf(parts, {
    taskDescription,
    input: 'input' in rest ? input : { taskDescription },
  });
  return {
    version: RECORD_VERSION,
    session: {
      id,
      taskDescription,
      participants: [],
      subTasks,
      status: 'recruiting',
      sharedState: about.sharedState,
      createdAt: nowMs,
      ownerId,
      correlationId: about.correlationId ?? id,
      stateVersion: 0,
      ...(about.taint && { taint: taintFrom(about.taint) }),
    },
    limits,
    complexity: about.estimatedComplexity,
    ...(escalationJustification === undefined ? {} : { justification: escalationJustification }),
    team: [],
    heardAtMs: {},
    ...(work === undefined ? {} : { work }),
    ...(behalf === undefined ? {} : { behalf }),
  };
}

const Id = z
  .string()
  .min(1)
  .refine((id) => id !== '__proto__', 'an id that an object can have as a field');
const CapabilityId = z.string().min(1);

/**
 * One sub-task of a plan.
 *
 * - `id`         @default `task-1`, `task-2`, ... by its place in the plan
 * - `description` @default that of the swarm
 * - `requiredCapabilities` the agent that gets it has all of them.
 * - `capability` which handler is asked. @default the first of `requiredCapabilities`
 * - `input`      what it is asked with. @default the swarm's
 * - `dependsOn`  ids of sub-tasks that have to be completed before.
 * - `inputFrom`  puts the results of other sub-tasks into fields of the input, which is then an object: field to id. They
 *                are depended on.
 * - `resumeAs`   the field of the input in which the next agent gets the last partial result. @default it gets none
 */
export const SubTaskPlan = z.strictObject({
  id: Id.optional(),
  description: z.string().optional(),
  requiredCapabilities: z.array(CapabilityId).min(1).readonly(),
  capability: CapabilityId.optional(),
  input: z.unknown().optional(),
  dependsOn: z.array(Id).readonly().optional(),
  inputFrom: z.record(Id, Id).optional(),
  resumeAs: Id.optional(),
});
export type SubTaskPlan = z.input<typeof SubTaskPlan>;

/** What is to be planned. */
export interface SwarmTask {
  readonly taskDescription: string;
  readonly requiredCapabilities: readonly string[];
}

/** Splits a task into sub-tasks. */
export type SwarmPlanner = (task: SwarmTask) => readonly SubTaskPlan[] | Promise<readonly SubTaskPlan[]>;

/** The sub-tasks of a swarm: the plan itself, what the planner makes, or one sub-task a capability. */
export async function planOf(
  { taskDescription, requiredCapabilities }: SwarmTask,
  plan: readonly SubTaskPlan[] | SwarmPlanner | undefined,
): Promise<readonly SubTaskPlan[]> {
  requireText('taskDescription', taskDescription);
  const wanted = [
    ...new Set(parseOptions(z.array(CapabilityId), requiredCapabilities, 'requiredCapabilities')),
  ];
  const given =
    typeof plan === 'function' ? await plan({ taskDescription, requiredCapabilities: wanted }) : plan;
  const parts = given ?? wanted.map((id): SubTaskPlan => ({ id, requiredCapabilities: [id] }));
  const parsed = parseOptions(z.array(SubTaskPlan), parts, 'plan');
  if (parsed.length > 0) return parsed;
  const [field, value] = given === undefined ? ['requiredCapabilities', wanted] : ['plan', given];
  throw invalidOptions(field as string, value, 'at least one');
}

/** The sub-tasks as they begin. Fails with INVALID_OPTIONS on ids that are there twice, missing or in a circle. */
export function subTasksOf(
  plan: readonly SubTaskPlan[],
  { taskDescription, input }: { taskDescription: string; input: unknown },
): SwarmSubTask[] {
  const subTasks = plan.map((part, at) => subTaskOf(part, at, { taskDescription, input }));
  requireUnique(subTasks);
  requireOrder(subTasks);
  return subTasks;
}

function subTaskOf(
  part: SubTaskPlan,
  at: number,
  { taskDescription, input }: { taskDescription: string; input: unknown },
): SwarmSubTask {
  const { inputFrom = {}, requiredCapabilities, resumeAs } = part;
  const [first = ''] = requiredCapabilities;
  const capability = part.capability ?? first;
  if (!requiredCapabilities.includes(capability))
    throw invalidOptions(`plan[${at}].capability`, capability, 'one of its requiredCapabilities');
  return {
    id: part.id ?? `task-${at + 1}`,
    description: part.description ?? taskDescription,
    assignedAgent: '',
    requiredCapabilities: [...new Set(requiredCapabilities)],
    status: 'pending',
    result: undefined,
    capability,
    input: 'input' in part ? part.input : input,
    dependsOn: [...new Set([...(part.dependsOn ?? []), ...Object.values(inputFrom)])],
    inputFrom,
    epoch: 0,
    assignments: [],
    lates: [],
    ...(resumeAs === undefined ? {} : { resumeAs }),
  };
}

function requireUnique(subTasks: readonly SwarmSubTask[]): void {
  const seen = new Set<string>();
  subTasks.forEach(({ id }, at) => {
    if (seen.has(id)) throw invalidOptions(`plan[${at}].id`, id, 'an id that no other sub-task has');
    seen.add(id);
  });
}

function requireOrder(subTasks: readonly SwarmSubTask[]): void {
  const known = new Set(subTasks.map(({ id }) => id));
  subTasks.forEach(({ dependsOn }, at) => {
    const missing = dependsOn.find((id) => !known.has(id));
    if (missing !== undefined) throw invalidOptions(`plan[${at}].dependsOn`, missing, 'the id of a sub-task');
  });
  const done = new Set<string>();
  for (let left = subTasks; left.length > 0; ) {
    const next = left.filter(({ dependsOn }) => !dependsOn.every((id) => done.has(id)));
    if (next.length === left.length)
      throw invalidOptions(
        'plan',
        left.map(({ id }) => id).join(', '),
        'sub-tasks that do not wait for each other',
      );
    for (const { id } of left) if (!next.some((one) => one.id === id)) done.add(id);
    left = next;
  }
}
