import { z } from 'zod';
import { capability } from '../../runtime/protocol/capability.ts';
import { CodingUsage } from './coding-event.ts';

/**
 * How much a coding agent may do without anybody being asked, each with all that stands before it. What is not allowed is
 * refused at once.
 *
 * - `read` read and search the worktree.
 * - `edit` change files in it.
 * - `run`  run commands in it.
 * - `all`  everything, other machines included.
 */
export const CodingPermission = z.enum(['read', 'edit', 'run', 'all']);
export type CodingPermission = z.infer<typeof CodingPermission>;

/**
 * What bounds one attempt; what is absent is bounded by the agent's own options alone.
 *
 * - `timeoutMs` until it is stopped. - `maxTurns` of its model. - `maxTokens`, `maxCostUsd` that it may use.
 */
export const CodingLimits = z.strictObject({
  timeoutMs: z.int().positive().optional(),
  maxTurns: z.int().positive().optional(),
  maxTokens: z.int().positive().optional(),
  maxCostUsd: z.number().positive().optional(),
});
export type CodingLimits = z.infer<typeof CodingLimits>;

/**
 * A task for a coding agent.
 *
 * - `root`       absolute path of the worktree, which it may change.
 * - `attempt`    from 1.
 * - `feedback`   why the last attempt was refused.
 * - `session`    of the attempt that it goes on with.
 * - `results`, `remembered`, `baseline` are what a mission gives every agent; they are told as data.
 */
export const CodeChangeRequest = z.strictObject({
  root: z.string().min(1),
  task: z.strictObject({
    id: z.string().min(1),
    title: z.string().min(1),
    description: z.string().optional(),
    acceptance: z.array(z.string()).default([]),
  }),
  attempt: z.int().positive().default(1),
  feedback: z.string().optional(),
  session: z.string().min(1).optional(),
  permission: CodingPermission.default('edit'),
  limits: CodingLimits.default({}),
  gates: z.array(z.string()).default([]),
  touches: z.array(z.string()).default([]),
  protect: z.array(z.string()).default([]),
  results: z.array(z.json()).optional(),
  remembered: z.array(z.json()).optional(),
  baseline: z.string().optional(),
});
export type CodeChangeRequest = z.infer<typeof CodeChangeRequest>;

/**
 * What came of an attempt, as its program ended. The change itself is in the worktree.
 *
 * - `summary` the last thing that its model said. Nothing in it is believed.
 * - `session` by which another attempt may go on.
 * - `toolCalls`, `refusedPermissions` how many there were.
 */
export const CodeChangeResult = z.strictObject({
  summary: z.string().min(1).optional(),
  session: z.string().min(1).optional(),
  usage: CodingUsage.default({}),
  toolCalls: z.int().nonnegative().default(0),
  refusedPermissions: z.int().nonnegative().default(0),
});
export type CodeChangeResult = z.infer<typeof CodeChangeResult>;

/**
 * The capability of coding agents: change the files of a worktree as a task says. It tells what happens as reports, each a
 * `CodingEvent`.
 */
export const codeChange = capability({
  id: 'code.change',
  description: 'Change the files of a repository as a task says',
  input: CodeChangeRequest,
  output: CodeChangeResult,
});
