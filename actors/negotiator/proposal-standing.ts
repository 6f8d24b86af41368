import { z } from 'zod';
import { Behalf } from '../../runtime/public.ts';
import type { PersistedMachine } from '../../runtime/machine/machine-host.ts';
import { PathHop } from '../../runtime/protocol/envelope.ts';
import { AcceptanceMessage } from './negotiation-message.ts';

const timersOf = <Id extends string>(...ids: readonly Id[]) =>
  z.array(
    z.object({
      id: z.enum(ids),
      event: z.object({ type: z.string() }),
      atMs: z.number(),
      delayMs: z.number(),
    }),
  );
const AgentIds = z.array(z.string());
const Milliseconds = z.number().nonnegative();

/**
 * How a proposal stands at its proposer: its machine, and what it needs to answer whoever accepts.
 *
 * - `acceptances`   the last of each agent, with the id of its envelope.
 * - `justification` why a lower tier proposes to a higher one.
 * - `delegation`    what the work in which it was made passes on.
 */
export const MadeStanding = z.object({
  side: z.literal('made'),
  run: z.object({
    value: z.union([z.literal('assigned'), z.object({ pending: z.enum(['open', 'confirming']) })]),
    context: z.object({
      asked: AgentIds,
      willing: AgentIds,
      out: AgentIds,
      holder: z.string().optional(),
      epoch: z.int().nonnegative(),
      isLate: z.boolean(),
      alternativesLeft: z.int().nonnegative(),
      deadlineMs: Milliseconds,
      leaseMs: Milliseconds,
    }),
    timers: timersOf('deadline', 'lease'),
  }),
  acceptances: z.array(
    z.object({ agentId: z.string(), message: AcceptanceMessage, envelopeId: z.string().optional() }),
  ),
  justification: z.string().optional(),
  delegation: z
    .object({
      ...Behalf.shape,
      path: z.array(PathHop),
      deadlineAtMs: z.number().optional(),
      hops: z.int().nonnegative().optional(),
      isLimited: z.boolean(),
    })
    .optional(),
});
export type MadeStanding = z.infer<typeof MadeStanding>;

/**
 * How a proposal stands at an agent that was asked.
 *
 * - `envelopeId`  of the proposal, which every answer names.
 * - `round`       of its last acceptance.
 * - `overdueAtMs` when the agent gives back what it has; absent before it has it.
 * - `behalf`      on whose behalf it was proposed.
 */
export const GotStanding = z.object({
  side: z.literal('got'),
  run: z.object({
    value: z.enum(['considering', 'offered', 'assigned']),
    context: z.object({
      deadlineMs: Milliseconds,
      holdMs: Milliseconds,
      repeatMs: Milliseconds,
      epoch: z.int().positive().optional(),
      leaseLeftMs: Milliseconds,
    }),
    timers: timersOf('deadline', 'offer', 'repeat', 'lease', 'renewal'),
  }),
  envelopeId: z.string(),
  isPlain: z.boolean(),
  estimateMs: Milliseconds,
  reason: z.string(),
  alternative: z.string().optional(),
  round: z.int(),
  overdueAtMs: z.number().optional(),
  behalf: Behalf.optional(),
});
export type GotStanding = z.infer<typeof GotStanding>;

/** How a proposal that is not over stands at one side of it; from this it goes on after the end of a thread or process. */
export const ProposalStanding = z.discriminatedUnion('side', [MadeStanding, GotStanding]);
export type ProposalStanding = z.infer<typeof ProposalStanding>;

/** `clock.now()` knows whole milliseconds: so much later a lease that goes on ends at the proposer, and earlier at the agent. */
const CLOCK_GRAIN_MS = 1;

export const longerLease = (run: PersistedMachine): PersistedMachine => withLease(run, CLOCK_GRAIN_MS);
export const shorterLease = (run: PersistedMachine): PersistedMachine => withLease(run, -CLOCK_GRAIN_MS);

function withLease(run: PersistedMachine, ms: number): PersistedMachine {
  const timers = run.timers.map((due) =>
    due.id === 'lease' ? { ...due, atMs: due.atMs + ms, delayMs: due.delayMs + ms } : due,
  );
  return { ...run, timers };
}
