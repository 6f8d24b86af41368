import { z } from 'zod';
import { ApprovalDecision, ApprovalRequest, approvalHash } from '../../runtime/protocol/approval.ts';
import { capability } from '../../runtime/protocol/capability.ts';
import { notPermitted } from '../../runtime/protocol/edge-errors.ts';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import { runningTaskOf } from './task-of.ts';
import { pause } from './turn-pause.ts';

/** Who is asked for an approval that no owner of a task is asked for. */
const HOST = 'system/host';
/** Why it was not approved, where the system has no approver and there is no task whose owner is asked. */
export const NOBODY_APPROVES = 'nobody is there who could approve it';
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
  output: z.union([z.strictObject({ isOpen: z.literal(true) }), ApprovalDecision]),
});

/**
 * Resolves when what is asked for is approved; rejects with NOT_PERMITTED when it is refused, or nobody can be asked.
 *
 * The system's approver is asked, if it has one. Else, in a task, its owner is: this throws what ends the turn, and when the
 * owner has decided the handler runs again, and comes by here again. What is approved is this action with these details,
 * once.
 */
export async function approvalOf<State>(
  ctx: HandlingContext<State>,
  request: z.input<typeof ApprovalRequest>,
): Promise<void> {
  const wanted = parseOptions(ApprovalRequest, request, 'request');
  const task = runningTaskOf(ctx);
  const hash = approvalHash(wanted);
  const given = task?.takeApproval(hash);
  if (given !== undefined) return requireApproved(wanted, given);
  if (task !== undefined && !task.note.hasApprover)
    throw pause({ state: 'input-required', question: wanted.message, approval: { ...wanted, hash } });
  requireApproved(wanted, await decisionOf(ctx, wanted, task?.taskId));
}

async function decisionOf<State>(
  ctx: HandlingContext<State>,
  request: ApprovalRequest,
  taskId: string | undefined,
): Promise<ApprovalDecision> {
  const approvalId = ctx.newId();
  const target = { agent: HOST, capability: approvalCapability };
  for (let waitMs = ASK_AGAIN_MS; ; waitMs = Math.min(2 * waitMs, ASK_AGAIN_MAX_MS)) {
    const decision = await ctx
      .ask(target, { approvalId, request, ...(taskId === undefined ? {} : { taskId }) })
      .catch((error: unknown) => {
        if (isOrreryError(error) && error.code === 'AGENT_NOT_FOUND')
          return { approved: false, reason: NOBODY_APPROVES };
        throw error;
      });
    if (!('isOpen' in decision)) return decision;
    await ctx.sleep(waitMs);
  }
}

function requireApproved({ action }: ApprovalRequest, { approved, reason }: ApprovalDecision): void {
  if (!approved)
    throw notPermitted(`"${action}" was not approved${reason === undefined ? '' : `: ${reason}`}`);
}
