import { z } from 'zod';
import { ApprovalDecision, ApprovalRequest, approvalHash } from '../../runtime/protocol/approval.ts';
import { capability } from '../../runtime/protocol/capability.ts';
import { notPermitted } from '../../runtime/protocol/edge-errors.ts';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import { HOST_ID } from '../../runtime/protocol/policy.ts';
import { Taint } from '../../runtime/protocol/taint.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import type { GivenApproval } from './task-note.ts';
import { runningTaskOf } from './task-of.ts';
import { isOf } from './turn-note.ts';
import { pause } from './turn-pause.ts';

/** Who is asked for an approval that no owner of a task is asked for. */
const HOST = HOST_ID;
/** What is answered where the system has no approver, and there is no task whose owner is asked. */
export const NOBODY_APPROVES = { isByNobody: true } as const;
type Decided = ApprovalDecision | typeof NOBODY_APPROVES;
/** How long to wait before asking again whether it is decided: longer each time. */
const ASK_AGAIN_MS = 20;
const ASK_AGAIN_MAX_MS = 500;

/** What an agent asks the embedder for: whether something is approved by now. The first time tells what it is. */
export const approvalCapability = capability({
  id: 'system.approval',
  description: 'Whether something may be done',
  input: z.strictObject({
    approvalId: z.string().min(1),
    request: ApprovalRequest,
    taskId: z.string().optional(),
  }),
  output: z.union([
    z.strictObject({ isOpen: z.literal(true) }),
    z.strictObject({ isByNobody: z.literal(true) }),
    ApprovalDecision,
  ]),
});

/** What is asked before a decision in a note counts, which anybody could have written: whether it was made. It counts once. */
export const givenApprovalCapability = capability({
  id: 'system.given-approval',
  description: 'Uses up what the owner of a task has decided; whether there was such',
  input: z.strictObject({
    taskId: z.string(),
    approvalId: z.string(),
    hash: z.string(),
    approved: z.boolean(),
    taint: Taint.optional(),
  }),
  output: z.boolean(),
});

/**
 * Resolves when what is asked for is approved; rejects with NOT_PERMITTED when it is refused, or nobody can be asked.
 *
 * The system's approver is asked, if it has one. Else, in a task, its owner is: this throws what ends the turn, and when the
 * owner has decided the handler runs again, and comes by here again. What is approved is this action with these details,
 * once, and from no sources but those of `taint`.
 */
export async function approvalOf<State>(
  ctx: HandlingContext<State>,
  request: z.input<typeof ApprovalRequest>,
): Promise<void> {
  const wanted = parseOptions(ApprovalRequest, request, 'request');
  await approvalIn(ctx, wanted, runningTaskOf(ctx));
}

/** The same, where an owner whose own words came from outside is not asked whether they may reach what is privileged. */
export async function outsideApprovalOf(
  ctx: HandlingContext<never>,
  request: z.input<typeof ApprovalRequest>,
): Promise<void> {
  const wanted = parseOptions(ApprovalRequest, request, 'request');
  const task = runningTaskOf(ctx);
  const isOwners = task?.note.isOutside === true || isOf(wanted.taint, task?.owner);
  if (task === undefined || !isOwners) return approvalIn(ctx, wanted, task);
  requireApproved(wanted, await decisionOf(ctx, wanted, task.taskId));
}

async function approvalIn<State>(
  ctx: HandlingContext<State>,
  wanted: ApprovalRequest,
  task: ReturnType<typeof runningTaskOf>,
): Promise<void> {
  const hash = approvalHash(wanted);
  const given = task?.takeApproval(hash, wanted.taint);
  if (
    task !== undefined &&
    given !== undefined &&
    (await takesGiven(ctx, task.taskId, given, wanted.taint))
  ) {
    task.usedApproval(given);
    return requireApproved(wanted, given);
  }
  if (task !== undefined && !task.note.hasApprover)
    throw pause({ state: 'input-required', question: wanted.message, approval: wanted });
  requireApproved(wanted, await decisionOf(ctx, wanted, task?.taskId));
}

async function takesGiven<State>(
  ctx: HandlingContext<State>,
  taskId: string,
  { approvalId, hash, approved }: GivenApproval,
  taint: Taint | undefined,
): Promise<boolean> {
  const target = { agent: HOST, capability: givenApprovalCapability };
  return ctx
    .ask(target, { taskId, approvalId, hash, approved, ...(taint && { taint }) })
    .catch((error: unknown) => {
      if (isOrreryError(error) && error.code === 'AGENT_NOT_FOUND') return false;
      throw error;
    });
}

async function decisionOf<State>(
  ctx: HandlingContext<State>,
  request: ApprovalRequest,
  taskId: string | undefined,
): Promise<Decided> {
  const approvalId = ctx.newId();
  const target = { agent: HOST, capability: approvalCapability };
  for (let waitMs = ASK_AGAIN_MS; ; waitMs = Math.min(2 * waitMs, ASK_AGAIN_MAX_MS)) {
    const decision = await ctx
      .ask(target, { approvalId, request, ...(taskId === undefined ? {} : { taskId }) })
      .catch((error: unknown) => {
        if (isOrreryError(error) && error.code === 'AGENT_NOT_FOUND') return NOBODY_APPROVES;
        throw error;
      });
    if (!('isOpen' in decision)) return decision;
    await ctx.sleep(waitMs);
  }
}

function requireApproved({ action }: ApprovalRequest, decided: Decided): void {
  const no = `"${action}" was not approved`;
  if ('isByNobody' in decided)
    throw notPermitted(`${no}: nobody is there who could approve it`, NOBODY_APPROVES);
  const { approved, reason } = decided;
  if (!approved) throw notPermitted(reason === undefined ? no : `${no}: ${reason}`);
}

/** It was not approved because there is nobody who could. */
export const isApprovedByNobody = (error: unknown): boolean =>
  isOrreryError(error) && error.code === 'NOT_PERMITTED' && error.details['isByNobody'] === true;
