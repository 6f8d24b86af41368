import type { EnvelopeHandler } from '../../runtime/agent/agent-definition.ts';
import type { ActorContext, HandlingContext } from '../../runtime/public.ts';
import { clientOf } from '../../runtime/public.ts';
import { portOf } from '../agent-port/client-port.ts';
import type { Decision } from './decision.ts';
import { negotiatorAt } from './desk-negotiator.ts';
import type { TaskNegotiator } from './task-negotiator.ts';
import type { TaskProposal } from './task-proposal.ts';

/**
 * The negotiator of the agent whose context this is: proposes and answers in its name. What is proposed belongs to the work
 * in hand: its conversation, its deadline, its path; and is withdrawn when that is cancelled.
 */
export function negotiatorOf<State>(ctx: ActorContext<State>): TaskNegotiator {
  return negotiatorAt(clientOf(ctx)).within(portOf(ctx));
}

/**
 * Handles proposals: `.on('task-proposal', considers((proposal, ctx) => takeOn({ ... })))`. An OrreryError that `decide`
 * throws declines with its code; what is not decided by the deadline is not answered.
 */
export const considers =
  <State>(
    decide: (proposal: TaskProposal, ctx: HandlingContext<State>) => Decision | Promise<Decision>,
  ): EnvelopeHandler<State> =>
  (envelope, ctx) =>
    negotiatorOf(ctx).consider(envelope, (proposal) => untilAborted(decide(proposal, ctx), ctx));

/** Handles assignments: `.on('task-accept', whenAssigned((proposal, ctx) => ...))`, where `run` does the work. */
export const whenAssigned =
  <State>(run: (proposal: TaskProposal, ctx: HandlingContext<State>) => unknown): EnvelopeHandler<State> =>
  (envelope, ctx) => {
    const proposal = proposalIn(envelope.payload, ctx);
    // It may have been taken back while this waited.
    return proposal?.isHeld === true && proposal.acceptedBy === ctx.self ? run(proposal, ctx) : undefined;
  };

/**
 * Handles refusals: `.on('task-reject', whenRefused((proposal, ctx) => ...))`: a task that the agent accepted is not its,
 * or no more; `rejectionReason` says why.
 */
export const whenRefused =
  <State>(run: (proposal: TaskProposal, ctx: HandlingContext<State>) => unknown): EnvelopeHandler<State> =>
  (envelope, ctx) => {
    const proposal = proposalIn(envelope.payload, ctx);
    return proposal === undefined ? undefined : run(proposal, ctx);
  };

function proposalIn<State>(payload: unknown, ctx: HandlingContext<State>): TaskProposal | undefined {
  const { proposalId } = (payload ?? {}) as { proposalId?: unknown };
  if (typeof proposalId !== 'string') return undefined;
  return negotiatorAt(clientOf(ctx)).getProposal(proposalId);
}

/** Who does not decide in time must not be taken for one that hangs. */
function untilAborted<State>(
  decision: Decision | Promise<Decision>,
  { signal }: HandlingContext<State>,
): Decision | Promise<Decision | undefined> {
  if (!(decision instanceof Promise)) return decision;
  return new Promise((resolve, reject) => {
    const leave = (): void => resolve(undefined);
    if (signal.aborted) leave();
    signal.addEventListener('abort', leave, { once: true });
    decision.then(resolve, reject).finally(() => signal.removeEventListener('abort', leave));
  });
}
