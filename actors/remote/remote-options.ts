import { z } from 'zod';
import { NodeId } from '../../runtime/protocol/a2a-extension.ts';
import { AgentCard } from '../../runtime/protocol/agent-card.ts';
import { CatalogueOptions } from '../../runtime/protocol/catalogue-approval.ts';
import { Budget } from '../../runtime/protocol/budget.ts';
import { DoorConcurrency } from '../../runtime/protocol/concurrency.ts';
import { Milliseconds } from '../../runtime/protocol/milliseconds.ts';

/**
 * How an agent elsewhere is a member here.
 *
 * - `node`        what the system there is called. @default what its card says, else the host of its URL
 * - `id`          its own id. @default `<node>/` and its name
 * - `self`        what this system is called elsewhere: that of its gateway's `a2a.delegation`. Without it a request that comes
 *                 back here is not known for one of this system's own.
 * - `grantedTier` as which it is judged, never 0. @default 3
 * - `sandboxId`   in which it is; null: in none. @default its own id
 * - `streams`     which of its skills are read as streams, one value after the other. @default those of which its card says so
 * - `maxBudget`   what one request may spend there at most, of what there is for it. @default all that there is
 * - `trusted`     what it answers is as good as said here: not tainted by `a2a:` and its host. @default false
 * - `catalogue`   which card its owner has read and approved: no other is shown to an agent without its taint. @default none
 * - `concurrency` how many requests may be under way there at a time; what is beyond waits in the mailbox. @default 16
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
