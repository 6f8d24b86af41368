import { z } from 'zod';
import { type ApprovalRequest, hashOf } from '../../runtime/protocol/approval.ts';
import { notPermitted } from '../../runtime/protocol/edge-errors.ts';
import { isSystemId } from '../../runtime/protocol/policy.ts';
import type { HandlingContext } from '../../runtime/public.ts';
import { isApprovedByNobody } from '../tasks/approvals.ts';
import { approvalOf, clientInputs, question, taskOf } from '../tasks/index.ts';

const Decision = z.object({ approved: z.boolean() });

/**
 * As `approvalOf`; but outside of a task, where there is no approver, whoever stands behind the call is asked, if a caller outside
 * has made it itself. Rejects with INPUT_REQUIRED until that is answered.
 */
export async function approvalByCaller<State>(
  ctx: HandlingContext<State>,
  request: z.input<typeof ApprovalRequest>,
): Promise<void> {
  try {
    await approvalOf(ctx, request);
  } catch (error) {
    // What an agent says of its caller's answers is not believed: it could have written that itself.
    const isAsked = taskOf(ctx) === undefined && isSystemId(ctx.envelope.sender);
    if (!isApprovedByNobody(error) || !isAsked) throw error;
    requireDecided(ctx, request);
  }
}

/** Throws NOT_PERMITTED for a refusal. An answer is to exactly this: its name changes with what is asked. */
function requireDecided<State>(
  ctx: HandlingContext<State>,
  { action, details = null, message, taint = [] }: z.input<typeof ApprovalRequest>,
): void {
  const name = `approve ${hashOf([action, details, [...taint].sort()])}`;
  const { [name]: answer } = clientInputs(ctx, { [name]: question(message, Decision) });
  if (answer?.action !== 'accept' || !answer.content.approved)
    throw notPermitted(`"${action}" was not approved`);
}
