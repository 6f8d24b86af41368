import { z } from 'zod';
import { type ErrorCode, invalidOptions, OrreryError } from '../../runtime/protocol/errors.ts';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { Taint } from '../../runtime/protocol/taint.ts';
import { TaskProposalPayload } from '../../runtime/protocol/task-proposal.ts';
import type { Outgoing } from '../../runtime/public.ts';
import type { Work } from '../agent-port/agent-port.ts';
import { REASON } from './negotiation-message.ts';
import { newestOfEach } from './newest-of-each.ts';
import type { ProposerContext } from './proposer.machine.ts';

/**
 * - `pending`   nobody has it yet, and somebody may still take it.
 * - `accepted`  `acceptedBy` has it, and knows. It stays so after the assignment has ended.
 * - `rejected`  by everybody who was asked, or withdrawn; `rejectionReason` says why.
 * - `timed-out` nobody took it within the deadline.
 */
export const ProposalStatus = z.enum(['pending', 'accepted', 'rejected', 'timed-out']);
export type ProposalStatus = z.infer<typeof ProposalStatus>;

/**
 * One proposal, as one side of it sees it (seed 1); the last four fields go beyond the seed.
 *
 * - `deadlineMs`            how long answers are waited for.
 * - `rejectionReason`       a reason code: of the last one who declined; at an agent that was asked, why it has not got it;
 *                           of an assignment that is over, why.
 * - `alternativeSuggestion` another agent that whoever declined has named.
 * - `estimatedCompletionMs` how long the work will take, as `acceptedBy` thinks.
 * - `epoch`                 which assignment of this proposal it is: 1 at first.
 * - `isHeld`                `acceptedBy` has the task now, as far as this side knows.
 * - `proposedAtMs`          Unix milliseconds, when it was proposed or came in.
 */
export const TaskProposal = z
  .object({
    proposalId: z.string().min(1),
    taskDescription: z.string(),
    requiredCapabilities: z.array(z.string()).readonly(),
    estimatedComplexity: TaskProposalPayload.shape.estimatedComplexity,
    deadlineMs: z.number().positive(),
    proposerAgentId: z.string().min(1),
    status: ProposalStatus,
    acceptedBy: z.string().exactOptional(),
    rejectionReason: z.string().exactOptional(),
    alternativeSuggestion: z.string().exactOptional(),
    correlationId: z.string().min(1),
    estimatedCompletionMs: z.number().exactOptional(),
    epoch: z.int().exactOptional(),
    isHeld: z.boolean(),
    proposedAtMs: z.number(),
  })
  .readonly();
export type TaskProposal = z.infer<typeof TaskProposal>;

/** The proposal without what has become of it. */
export function asProposed(proposal: TaskProposal): TaskProposal {
  const {
    acceptedBy: _by,
    rejectionReason: _reason,
    alternativeSuggestion: _alternative,
    estimatedCompletionMs: _estimate,
    epoch: _epoch,
    ...proposed
  } = proposal;
  return { ...proposed, status: 'pending', isHeld: false };
}

/**
 * What became of an answer.
 *
 * - `counted`       it changed something.
 * - `double`        the same agent had said so.
 * - `contradictory` it had said the opposite, and that stands.
 * - `late`          the proposal was decided, or its deadline had passed.
 * - `foreign`       of an agent that was not asked.
 */
export const AnswerEffect = z.enum(['counted', 'double', 'contradictory', 'late', 'foreign']);
export type AnswerEffect = z.infer<typeof AnswerEffect>;

/**
 * One answer to a proposal, as it came to the proposer. `reason` and `alternative` of a rejection; a router that refused
 * to deliver the proposal rejects for the agent, with its error code.
 */
export const ProposalAnswer = z
  .object({
    agentId: z.string(),
    type: z.enum(['task-accept', 'task-reject']),
    effect: AnswerEffect,
    atMs: z.number(),
    envelopeId: z.string().exactOptional(),
    estimatedCompletionMs: z.number().exactOptional(),
    reason: z.string().exactOptional(),
    alternative: z.string().exactOptional(),
  })
  .readonly();
export type ProposalAnswer = z.infer<typeof ProposalAnswer>;

/**
 * What one side knows of a proposal.
 *
 * - `asked`   whom it went to; at the agent that was asked, nobody.
 * - `answers` the last 16 of each agent, in the order in which they came.
 * - `isOver`  nothing can change any more.
 * - `taint`   where it came from outside: what this side had in it when it was written. Whoever reads it has that.
 */
export const ProposalRecord = z
  .object({
    proposal: TaskProposal,
    asked: z.array(z.string()).readonly(),
    answers: z.array(ProposalAnswer).readonly(),
    isOver: z.boolean(),
    taint: Taint.exactOptional(),
  })
  .readonly();
export type ProposalRecord = z.infer<typeof ProposalRecord>;

const ANSWERS_OF_EACH = 16;

/** The answers with one more. */
export const withAnswer = (
  answers: readonly ProposalAnswer[],
  answer: ProposalAnswer,
): readonly ProposalAnswer[] => newestOfEach(answers, answer, ANSWERS_OF_EACH);

/** What somebody says to a proposal. */
interface Said {
  readonly agentId: string;
  readonly type: 'task-accept' | 'task-reject';
}

/**
 * What an answer is to a proposal: whether it counts, and why not. `context` is that of its machine; undefined when it is
 * over.
 */
export function answerEffect(
  { asked, answers }: Pick<ProposalRecord, 'asked' | 'answers'>,
  context: ProposerContext | undefined,
  said: Said,
): AnswerEffect {
  const { agentId, type } = said;
  if (!asked.includes(agentId)) return 'foreign';
  if (context !== undefined && countsIn(context, said)) return 'counted';
  const before = answers.filter((answer) => answer.agentId === agentId && answer.effect === 'counted');
  const last = before.at(-1)?.type;
  if (last === undefined) return 'late';
  if (last === type) return 'double';
  return last === 'task-reject' ? 'contradictory' : 'late';
}

function countsIn({ asked, willing, holder, isLate }: ProposerContext, { agentId, type }: Said): boolean {
  if (type === 'task-accept') return asked.includes(agentId) && !isLate;
  return asked.includes(agentId) || willing.includes(agentId) || holder === agentId;
}

const AgentIds = z.union([z.string().min(1), z.array(z.string().min(1)).min(1).readonly()]);
const DEFAULT_ALTERNATIVES = 3;
const DEFAULT_LEASE_MS = 10_000;

/** What is proposed; `proposerAgentId` may be left out, because a negotiator acts for one agent only. */
export const NewTaskProposal = TaskProposalPayload.pick({
  taskDescription: true,
  estimatedComplexity: true,
}).extend({
  requiredCapabilities: z.array(z.string().min(1)).readonly(),
  deadlineMs: Milliseconds,
  proposerAgentId: z.string().optional(),
});
export type NewTaskProposal = z.input<typeof NewTaskProposal>;

/**
 * - `to`                      whom to ask. @default everybody permitted who has all required capabilities
 * - `alternatives`            how many agents that others name are asked beside; 0 for none. @default 3
 * - `escalationJustification` why tier 2 or 3 proposes to tier 0 or 1.
 * - `correlationId`           the conversation it belongs to. @default that of the envelope being handled, else its own
 * - `leaseMs`                 for how long whoever has the task need not be heard of. @default 10_000
 * - `signal`                  withdraws the proposal.
 */
export const ProposeOptions = z.strictObject({
  to: AgentIds.optional(),
  alternatives: z.int().nonnegative().default(DEFAULT_ALTERNATIVES),
  escalationJustification: z.string().min(1).optional(),
  correlationId: z.string().min(1).optional(),
  leaseMs: Milliseconds.default(DEFAULT_LEASE_MS),
  signal: z
    .custom<AbortSignal>(
      (value) => typeof value === 'object' && value !== null && 'aborted' in value,
      'an AbortSignal',
    )
    .optional(),
});
export type ProposeOptions = Readonly<z.input<typeof ProposeOptions>>;

/**
 * The record that a new proposal of `agentId` begins with. Fails with INVALID_OPTIONS naming field and value, also when
 * somebody else is named as its proposer.
 */
export function newProposal(
  proposal: NewTaskProposal,
  {
    agentId,
    seams: { clock, newId },
    correlationId,
    work,
  }: {
    readonly agentId: string;
    readonly seams: Pick<Seams, 'clock' | 'newId'>;
    readonly correlationId: string | undefined;
    readonly work: Work | undefined;
  },
): TaskProposal {
  const { proposerAgentId = agentId, ...what } = parseOptions(NewTaskProposal, proposal, 'proposal');
  if (proposerAgentId !== agentId)
    throw invalidOptions(
      'proposal.proposerAgentId',
      proposerAgentId,
      `"${agentId}", for whom this negotiator acts`,
    );
  const proposedAtMs = clock.now();
  const leftMs = work?.deadlineAtMs === undefined ? what.deadlineMs : work.deadlineAtMs - proposedAtMs;
  return {
    ...what,
    proposalId: newId(),
    proposerAgentId,
    deadlineMs: Math.max(1, Math.min(what.deadlineMs, leftMs)),
    status: 'pending',
    correlationId: correlationId ?? work?.correlationId ?? newId(),
    isHeld: false,
    proposedAtMs,
  };
}

/** The proposal as it goes to one agent. */
export function messageTo(
  recipient: string,
  proposal: TaskProposal,
  justification: string | undefined,
): Outgoing {
  const { proposalId, taskDescription, requiredCapabilities, estimatedComplexity, deadlineMs } = proposal;
  const why = justification === undefined ? {} : { escalationJustification: justification };
  const payload: TaskProposalPayload & { proposalId: string } = {
    proposalId,
    taskDescription,
    requiredCapabilities: [...requiredCapabilities],
    estimatedComplexity,
    deadlineMs,
    ...why,
  };
  return {
    recipient,
    type: 'task-proposal',
    payload,
    deadlineAtMs: proposal.proposedAtMs + deadlineMs,
    expectsReply: true,
    ...(justification === undefined ? {} : { justification }),
  };
}

const proposalTimedOut = (proposalId: string, deadlineMs: number): OrreryError =>
  new OrreryError('PROPOSAL_TIMEOUT', `The proposal ${proposalId} was not settled within ${deadlineMs} ms`, {
    details: { proposalId, deadlineMs },
  });

const proposalTaken = (proposalId: string): OrreryError =>
  new OrreryError('TAKEN', `The proposal ${proposalId} was accepted by another agent first`, {
    details: { proposalId },
  });

const proposalNotOurs = (proposalId: string, reason: string): OrreryError =>
  new OrreryError('REFUSED', `The proposal ${proposalId} is not this agent's: ${reason}`, {
    details: { proposalId, reason },
  });

/** Why an agent that accepts a proposal does not get it: TAKEN, PROPOSAL_TIMEOUT, or REFUSED with the reason code. */
export function notToBeHad({
  proposalId,
  deadlineMs,
  rejectionReason = REASON.notOpen,
}: TaskProposal): OrreryError {
  if (rejectionReason === REASON.taken) return proposalTaken(proposalId);
  const isTooLate = rejectionReason === REASON.timedOut || rejectionReason === REASON.unanswered;
  return isTooLate ? proposalTimedOut(proposalId, deadlineMs) : proposalNotOurs(proposalId, rejectionReason);
}

export const proposalUnknown = (proposalId: string, agentId: string): OrreryError =>
  new OrreryError('REFUSED', `${agentId} has got no proposal ${proposalId}`, {
    details: { proposalId, agentId },
  });

/** Says whether the same message may pass a little later: then it counts as lost, not as refused. */
export const mayPassLater = (code: ErrorCode | undefined): boolean =>
  code === 'MAILBOX_FULL' || code === 'NOT_HERE';
