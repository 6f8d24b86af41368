import { z } from 'zod';
import { NodeId } from '../../runtime/protocol/a2a-extension.ts';
import { AgentCard } from '../../runtime/protocol/agent-card.ts';
import { CatalogueOptions } from '../../runtime/protocol/catalogue-approval.ts';
import { Budget } from '../../runtime/protocol/budget.ts';
import { DoorConcurrency } from '../../runtime/protocol/concurrency.ts';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';

/**
 * The membership of a remote agent in the team.
 *
 * - `node`        name of the remote system. @default the name on its card, else the host of its URL
 * - `id`          of the agent. @default `<node>/` and its name
 * - `self`        name of this system elsewhere: that of its gateway's `a2a.delegation`. Without it, a request that comes
 *                 back here is not recognised as this system's own.
 * - `grantedTier` its tier, never 0. @default 3
 * - `sandboxId`   its sandbox; null for none. @default its own id
 * - `streams`     skills that are read as streams of values. @default those that its card marks
 * - `maxBudget`   most that one request may spend there. @default the budget of the request
 * - `trusted`     leaves its answers untainted; otherwise they are tainted by `a2a:` and its host. @default false
 * - `catalogue`   `approved` is the hash, `sha256:...`, of the card that its owner has approved; any other is tainted. @default none
 * - `concurrency` requests at a time; others wait in the mailbox. @default 16
 * - `handlingTimeoutMs`, `mailboxCapacity` as of any agent.
 */
export const RemoteAgentOptions = z.strictObject({
  node: NodeId.optional(),
  id: AgentCard.shape.id.optional(),
  self: NodeId.optional(),
  grantedTier: z.literal([1, 2, 3], '1, 2 or 3: tier 0 is never remote').default(3),
  sandboxId: z.string().min(1).nullable().optional(),
  streams: z.array(z.string().min(1)).optional(),
  maxBudget: Budget.omit({ hops: true }).optional(),
  trusted: z.boolean().default(false),
  catalogue: CatalogueOptions.default({}),
  concurrency: DoorConcurrency,
  handlingTimeoutMs: Milliseconds.optional(),
  mailboxCapacity: z.int().positive().optional(),
});
export type RemoteAgentOptions = z.input<typeof RemoteAgentOptions>;
export type RemoteAgentSettings = z.output<typeof RemoteAgentOptions>;

/** As `RemoteAgentOptions`, for an agent that has tools and knows nothing of tasks, budgets and streams of values. */
export const ToolAgentOptions = RemoteAgentOptions.omit({ self: true, streams: true, maxBudget: true });
export type ToolAgentOptions = z.input<typeof ToolAgentOptions>;
