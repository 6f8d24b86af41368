import { z } from 'zod';
import { AgentCard } from '../protocol/agent-card.ts';
import { Concurrency } from '../protocol/concurrency.ts';
import { BROADCAST, Delivery } from '../protocol/envelope.ts';
import { Milliseconds } from '../protocol/milliseconds.ts';
import { isSystemId } from '../protocol/policy.ts';
import { Restart, AgentSupervision } from '../supervision/supervisor-options.ts';

/** What becomes of an actor whose handler throws what is no `OrreryError`: it is restarted, or it lives on with its state. */
export const OnThrow = z.enum(['restart', 'keep']);
export type OnThrow = z.infer<typeof OnThrow>;

const MAX_ID_LENGTH = 256;

/** The id of an agent that runs here: what a card may have, if it can stand in a line of text and is not reserved. */
export const AgentId = AgentCard.shape.id.refine(
  (id) => id.length <= MAX_ID_LENGTH && !/[\s\p{Cc}]/u.test(id) && id !== BROADCAST && !isSystemId(id),
  `an id of 1 to ${MAX_ID_LENGTH} characters without white space, not "${BROADCAST}" and not below "system/"`,
);

/**
 * Who the agent is and how it is run.
 *
 * - `delivery`          what happens to an envelope that a death cut off. @default 'once'
 * - `restart`           @default 'permanent'
 * - `supervision`       how its deaths are answered, where no group names it. @default as the system's `supervision` says
 * - `onThrow`           what becomes of its actor when a handler throws. 'keep', for handlers that leave no state half changed:
 *                       it lives on, and nothing is charged; not for durable agents, nor for logic. @default 'restart'
 * - `handlingTimeoutMs` how long one envelope may be in hand when it has no deadline of its own, and how long the reader of
 *                       a stream may take nothing from it. @default 30_000
 * - `startTimeoutMs`    how long `onStart` may take. @default 30_000
 * - `stopTimeoutMs`     how long `onStop` may take. @default 1_000
 * - `mailboxCapacity`   envelopes that may wait, in all and from one thread. @default 1_000
 * - `concurrency`       envelopes that it may have in hand at a time, at most 1,000. They begin in the order of the mailbox and end in
 *                       any; what ends its actor or its thread cuts off all of them. Above 1 not for durable agents, for logic, nor
 *                       in a process of its own. @default 1
 * - `lazy`              started by its first envelope. @default false
 * - `defaultCapability` which of its capabilities is meant by whoever names none, and only says something. @default the only
 *                       one, if it has one
 * - `durable`           what waits in its mailbox outlives the process, in a system with a journal. @default what the
 *                       journal's options say
 */
export const AgentOptions = z
  .strictObject({
    id: AgentId,
    name: AgentCard.shape.name,
    version: AgentCard.shape.version,
    description: AgentCard.shape.description,
    tier: AgentCard.shape.tier,
    sandboxId: z.string().min(1).optional(),
    protocols: z.array(z.string().min(1)).readonly().optional(),
    delivery: Delivery.optional(),
    restart: Restart.optional(),
    supervision: AgentSupervision.optional(),
    onThrow: OnThrow.optional(),
    handlingTimeoutMs: Milliseconds.optional(),
    startTimeoutMs: Milliseconds.optional(),
    stopTimeoutMs: Milliseconds.optional(),
    mailboxCapacity: z.int().positive().optional(),
    concurrency: Concurrency.optional(),
    lazy: z.boolean().optional(),
    durable: z.boolean().optional(),
    defaultCapability: z.string().min(1).optional(),
  })
  .readonly();
export type AgentOptions = z.input<typeof AgentOptions>;
