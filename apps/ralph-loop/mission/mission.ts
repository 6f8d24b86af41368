import { z } from 'zod';

/** What a task or capability may be called: it becomes part of correlation ids, file names and log lines. */
const PlainId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'expected letters, digits, ".", "_" and "-", starting with a letter or digit',
  );

/** The longest delay that a Node timer keeps; beyond it, it fires at once. */
const MAX_TIMEOUT_MS = 2_147_483_647;

/**
 * What ends a mission that does not end by itself. One of `maxAttempts` and `timeoutMs` must be there.
 *
 * - `maxAttempts`  how often one task may be worked on, its first attempt included. @default 2
 * - `timeoutMs`    how long the whole mission may take. Without it, one attempt may take ten minutes.
 * - `maxParallel`  how many tasks, or parts of tasks, may be worked on at a time. What the gate judges is not
 *                  counted. @default the cores of the machine
 */
export const MissionLimits = z
  .strictObject({
    maxAttempts: z.int().min(1).max(100).optional(),
    timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).optional(),
    maxParallel: z.int().min(1).max(256).optional(),
  })
  .refine((limits) => limits.maxAttempts !== undefined || limits.timeoutMs !== undefined, {
    error: 'no limit; expected maxAttempts, timeoutMs or both, so that the mission ends',
  });
export type MissionLimits = z.infer<typeof MissionLimits>;

/**
 * One thing to be done.
 *
 * - `capability`            what an agent must offer to be given it.
 * - `requiredCapabilities`  instead of `capability`: each is worked on by an agent that offers it, and the
 *                           task is accepted when all are.
 * - `input`                 what the agent is asked with, beside `root` (the repository) and `feedback`
 *                           (after a refusal).
 * - `dependsOn`             ids of the tasks that must be accepted before this one starts.
 * - `after`                 ids of the tasks that must be over before this one starts, however they ended. What
 *                           they came to is given to its agent as `results` (`EarlierResult`).
 * - `priority`              1 goes first; tasks without one go last.
 * - `estimateMs`            how long it is expected to take. Of equal priority the longest goes first.
 * - `acceptance`            in words, what the gate and a reader should hold the result against.
 */
export const MissionTask = z
  .strictObject({
    id: PlainId,
    title: z.string().min(1),
    description: z.string().optional(),
    capability: PlainId.optional(),
    requiredCapabilities: z
      .array(PlainId)
      .min(1)
      .refine((ids) => new Set(ids).size === ids.length, { error: 'expected each capability once' })
      .optional(),
    input: z.record(z.string(), z.json()).optional(),
    dependsOn: z.array(z.string()).optional(),
    after: z.array(z.string()).optional(),
    priority: z.int().min(1).optional(),
    estimateMs: z.int().min(1).max(MAX_TIMEOUT_MS).optional(),
    acceptance: z.array(z.string().min(1)).optional(),
  })
  .refine((task) => (task.capability === undefined) !== (task.requiredCapabilities === undefined), {
    error: 'expected exactly one of capability and requiredCapabilities',
  });
export type MissionTask = z.infer<typeof MissionTask>;

/**
 * A mission file: what is to be done, by whom it can be done, and when to stop.
 *
 * - `agents`  modules of the agents that it is meant for, relative to the mission file.
 */
export const Mission = z.strictObject({
  version: z.literal(1),
  name: z.string().min(1),
  description: z.string().optional(),
  agents: z.array(z.string().min(1)).min(1).optional(),
  limits: MissionLimits,
  tasks: z.array(MissionTask).min(1),
});
export type Mission = z.infer<typeof Mission>;

/** The ids of all tasks that `task` waits for, whether they must be accepted or only be over. */
export const waitsFor = ({ dependsOn = [], after = [] }: MissionTask): readonly string[] => [
  ...dependsOn,
  ...after,
];

/** The capabilities that a task needs, whichever way it names them. */
export const capabilitiesOf = (task: MissionTask): readonly string[] =>
  task.requiredCapabilities ?? (task.capability === undefined ? [] : [task.capability]);
