import { z } from 'zod';
import { invalidOptions } from '../../runtime/protocol/errors.ts';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { TaskProposalPayload } from '../../runtime/protocol/task-proposal.ts';
import type { Work } from '../agent-port/agent-port.ts';
import type { TaskProposal } from './task-proposal.ts';

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
