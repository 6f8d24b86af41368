import { CodingPermission, VariableName } from 'orrery/coding';
import { z } from 'zod';

/** An id of a task or capability, which becomes part of correlation ids, file names and log lines. */
export const PlainId = z
  .string()
  .regex(
    /^[A-Za-z0-9][A-Za-z0-9._-]*$/,
    'expected letters, digits, ".", "_" and "-", starting with a letter or digit',
  );

/** The longest delay of a timer in Node, milliseconds; with a longer one it fires at once. */
export const MAX_TIMEOUT_MS = 2_147_483_647;

/**
 * The limits of a mission. One of `maxAttempts` and `timeoutMs` is required.
 *
 * - `maxAttempts`  attempts at one task, the first included. @default 2
 * - `timeoutMs`    time of the whole mission. Without it one attempt may take ten minutes.
 * - `maxParallel`  tasks, or parts of tasks, that are worked on at a time, without those that are judged. @default the cores
 *                  of the machine
 * - `maxTokens`, `maxCostUsd` that its coding agents may use, all together.
 * - `maxFailuresInARow` attempts one after the other, of whichever tasks, that come to nothing: then it ends.
 */
export const MissionLimits = z
  .strictObject({
    maxAttempts: z.int().min(1).max(100).optional(),
    timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).optional(),
    maxParallel: z.int().min(1).max(256).optional(),
    maxTokens: z.int().min(1).optional(),
    maxCostUsd: z.number().positive().optional(),
    maxFailuresInARow: z.int().min(1).optional(),
  })
  .refine((limits) => limits.maxAttempts !== undefined || limits.timeoutMs !== undefined, {
    error: 'no limit; expected maxAttempts, timeoutMs or both, so that the mission ends',
  });
export type MissionLimits = z.infer<typeof MissionLimits>;

/**
 * A command: a line for the shell, or a program with its arguments.
 */
export const MissionCommand = z.union([z.string().min(1), z.array(z.string()).min(1)], {
  error: 'expected a line for the shell, or a list of a program and its arguments',
});
export type MissionCommand = z.infer<typeof MissionCommand>;

/** How long a gate may take, if it does not say, milliseconds. */
export const GATE_TIMEOUT_MS = 600_000;

/**
 * A gate: a command that has to end with exit code 0 before a change is accepted.
 *
 * - `run`       is run in the worktree of the task, and again on what it is merged into.
 * - `tests`     at least so many tests must have run; `true` is one.
 * - `timeoutMs` until it is ended, and has failed. @default 600_000
 * - `passEnv`   names of variables that it gets although gates get none that look like a secret, or lead to an account.
 */
export const MissionGate = z.strictObject({
  name: PlainId,
  run: MissionCommand,
  tests: z.union([z.boolean(), z.int().min(1)]).optional(),
  timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).optional(),
  passEnv: z.array(VariableName).optional(),
});
export type MissionGate = z.infer<typeof MissionGate>;

/** The command that makes a worktree ready: a command alone, or with names of variables that it gets as a gate does. */
export const MissionSetup = z.union(
  [
    z.string().min(1),
    z.array(z.string()).min(1),
    z.strictObject({ run: MissionCommand, passEnv: z.array(VariableName).optional() }),
  ],
  {
    error:
      'expected a line for the shell, a list of a program and its arguments, or an object with run and passEnv',
  },
);
export type MissionSetup = z.infer<typeof MissionSetup>;

/** A setup as a gate would say it. */
export const setupGate = (setup: MissionSetup): MissionGate =>
  typeof setup === 'string' || !('run' in setup)
    ? { name: 'setup', run: setup }
    : { name: 'setup', ...setup };

/** How long an attempt of a coding agent may take, if nobody says, milliseconds. */
export const ATTEMPT_TIMEOUT_MS = 3_600_000;

/**
 * What bounds a change of the repository.
 *
 * - `maxAttempts` instead of that of the mission.
 * - `timeoutMs`   of one attempt. @default 3_600_000
 * - `maxTurns`    of the model in one attempt.
 * - `maxTokens`, `maxCostUsd` that all attempts may use.
 */
export const ChangeLimits = z.strictObject({
  maxAttempts: z.int().min(1).max(100).optional(),
  timeoutMs: z.int().min(1).max(MAX_TIMEOUT_MS).optional(),
  maxTurns: z.int().min(1).optional(),
  maxTokens: z.int().min(1).optional(),
  maxCostUsd: z.number().positive().optional(),
});
export type ChangeLimits = z.infer<typeof ChangeLimits>;

/** The coding agents that are known by their ids. */
const KnownBackend = z.enum(['claude', 'codex', 'gemini', 'opencode']);
type KnownBackend = z.infer<typeof KnownBackend>;

/**
 * A coding agent and what there is to say of it. It gets its prompt on standard input, or speaks the Agent Client Protocol.
 *
 * - `command` the program with its arguments; without it the one that is known by the id.
 * - `env`     names of variables that it gets although programs get none that look like a secret. One that is known has its own.
 */
export const CodingProgram = z.strictObject({
  id: PlainId,
  command: z.array(z.string().min(1)).min(1).optional(),
  acp: z.boolean().optional(),
  env: z.array(VariableName).optional(),
});

/** A coding agent: the id of a program that is known, or more of it. */
export const MissionBackend = z.union(
  [
    KnownBackend,
    CodingProgram.refine(({ id, command }) => command !== undefined || KnownBackend.safeParse(id).success, {
      error: 'without a command, expected claude, codex, gemini or opencode',
      path: ['id'],
    }).refine(({ command, acp }) => command !== undefined || acp === undefined, {
      error: 'expected only beside a command, which speaks the protocol',
      path: ['acp'],
    }),
  ],
  { error: 'expected claude, codex, gemini, opencode, or an object with id and command' },
);
export type MissionBackend = z.infer<typeof MissionBackend>;

/**
 * How a coding agent is started.
 *
 * - `known`   the program that is known by this id; or
 * - `command` any program with its arguments.
 * - `env`     names of variables that it gets beside others.
 */
export type BackendProgram = (
  | { readonly known: KnownBackend }
  | { readonly known?: undefined; readonly command: readonly string[]; readonly acp: boolean }
) & { readonly env: readonly string[] };

/** How a coding agent of a mission is started. */
export function backendProgram(backend: MissionBackend): BackendProgram {
  if (typeof backend === 'string') return { known: backend, env: [] };
  const { id, command, acp = false, env = [] } = backend;
  return command === undefined ? { known: KnownBackend.parse(id), env } : { command, acp, env };
}

/** The id of a coding agent. */
export const backendId = (backend: MissionBackend): string =>
  typeof backend === 'string' ? backend : backend.id;

/** The id of a coding agent as a reviewer: one that changes and reviews is two agents. */
export const reviewerId = (backend: MissionBackend): string => `${backendId(backend)}-review`;

/**
 * How the repository is changed by a mission. Each attempt has a git worktree of its own, and what the gates let pass is merged
 * into `branch`.
 *
 * - `branch`     to merge into; it is made if it is not there. @default `orrery/` and the mission's name
 * - `base`       commit that the branch begins at. @default `HEAD`
 * - `setup`      command that makes a new worktree ready, such as `npm ci`.
 * - `gates`      of every task.
 * - `protect`    patterns of files that no task may change.
 * - `permission` how much an agent may do without being asked. @default `edit`
 * - `approve`    nothing is merged before somebody has approved it, with `orrery approve`. @default false
 * - `limits`     of each task.
 * - `backends`   coding agents that do the work; `--backend` names others.
 * - `reviewers`  coding agents that look at a change when its gates have passed, each of which may veto it.
 */
export const MissionCode = z.strictObject({
  branch: z.string().min(1).optional(),
  base: z.string().min(1).optional(),
  setup: MissionSetup.optional(),
  gates: z.array(MissionGate).optional(),
  protect: z.array(z.string().min(1)).optional(),
  permission: CodingPermission.optional(),
  approve: z.boolean().optional(),
  limits: ChangeLimits.optional(),
  backends: z.array(MissionBackend).min(1).optional(),
  reviewers: z.array(MissionBackend).min(1).optional(),
});
export type MissionCode = z.infer<typeof MissionCode>;

/**
 * A task of a mission.
 *
 * - `capability`            capability that its agent must offer.
 * - `requiredCapabilities`  instead of `capability`: each is worked on by an agent that offers it, and the task is accepted
 *                           when all are.
 * - `input`                 input for the agent, beside `root` (the repository) and `feedback` (after a refusal).
 * - `dependsOn`             ids of tasks that must be accepted before it starts.
 * - `after`                 ids of tasks that must be over before it starts, however they ended. Its agent gets their
 *                           `results` (`EarlierResult`).
 * - `recall`                its agent gets what is remembered of earlier runs and fits, as `remembered` (`Remembered`).
 * - `priority`              1 goes first; tasks without one go last.
 * - `estimateMs`            expected time. Of equal priority the longest goes first.
 * - `acceptance`            sentences that the gate and readers should check the result against.
 *
 * These are for tasks that change the repository, whose capability is `code.change`:
 *
 * - `gates`                 beside those of all tasks.
 * - `touches`               patterns of the files that it is likely to change. Tasks that touch the same are not worked on at
 *                           the same time.
 * - `protect`               patterns of files that it may not change, beside those of all tasks.
 * - `permission`, `approve`, `limits` instead of those of all tasks.
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
    recall: z.boolean().optional(),
    priority: z.int().min(1).optional(),
    estimateMs: z.int().min(1).max(MAX_TIMEOUT_MS).optional(),
    acceptance: z.array(z.string().min(1)).optional(),
    gates: z.array(MissionGate).optional(),
    touches: z.array(z.string().min(1)).optional(),
    protect: z.array(z.string().min(1)).optional(),
    permission: CodingPermission.optional(),
    approve: z.boolean().optional(),
    limits: ChangeLimits.optional(),
  })
  .refine((task) => (task.capability === undefined) !== (task.requiredCapabilities === undefined), {
    error: 'expected exactly one of capability and requiredCapabilities',
  });
export type MissionTask = z.infer<typeof MissionTask>;

/**
 * A mission file: its tasks, its agents, and when to stop.
 *
 * - `$schema` where its JSON Schema is, for editors; it is not looked at.
 * - `agents`  modules of its agents, relative to the mission file.
 * - `code`    how it changes the repository. Tasks then have the capability `code.change` if they do not say.
 */
export const Mission = z.strictObject({
  $schema: z.string().optional(),
  version: z.literal(1),
  name: z.string().min(1),
  description: z.string().optional(),
  agents: z.array(z.string().min(1)).min(1).optional(),
  code: MissionCode.optional(),
  limits: MissionLimits,
  tasks: z.array(MissionTask).min(1),
});
export type Mission = z.infer<typeof Mission>;

/** The ids of all tasks that a task waits for, in `dependsOn` and `after`. */
export const waitsFor = ({ dependsOn = [], after = [] }: MissionTask): readonly string[] => [
  ...dependsOn,
  ...after,
];

/** The capabilities that a task needs, in either field. */
export const capabilitiesOf = (task: MissionTask): readonly string[] =>
  task.requiredCapabilities ?? (task.capability === undefined ? [] : [task.capability]);
