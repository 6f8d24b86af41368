import { z } from 'zod';
import { AgentCard } from '../../runtime/protocol/agent-card.ts';
import { CatalogueOptions } from '../../runtime/protocol/catalogue-approval.ts';
import { DoorConcurrency } from '../../runtime/protocol/concurrency.ts';
import { AgentSupervision, Restart } from '../../runtime/public.ts';

const Names = z.array(z.string().min(1)).readonly();

/**
 * How an MCP server is a member of a team.
 *
 * - `id`          of its agent: its tools are `<id>.<tool>`.
 * - `name`, `description` of it. @default what it is
 * - `grantedTier` as which it is judged, never 0. @default 3
 * - `sandboxId`   in which it is: then it answers nobody outside that. It writes to nobody of its own accord. @default none
 * - `tools`       these of its tools alone, by their names there. @default all
 * - `privileged`  what came from outside reaches these of its tools only with approval; true: it reaches none. @default any
 * - `catalogue`   which one its owner has read and approved: no other is shown to an agent without its taint. @default none
 * - `answerMs`    how long it may take to say anything at all when it seems to hang. @default 5,000
 * - `concurrency` how many calls may be under way there at a time; what is beyond waits in the mailbox. @default 16
 * - `restart`, `supervision`, `handlingTimeoutMs`, `mailboxCapacity` as of any agent.
 */
export const McpMember = z.strictObject({
  id: AgentCard.shape.id,
  name: AgentCard.shape.name.optional(),
  description: z.string().optional(),
  grantedTier: z.literal([1, 2, 3], '1, 2 or 3: tier 0 is never outside').default(3),
  sandboxId: z.string().min(1).optional(),
  tools: Names.optional(),
  privileged: z.union([z.literal(true), Names], 'true, or names of tools').default([]),
  catalogue: CatalogueOptions.default({}),
  answerMs: z.number().positive().default(5_000),
  concurrency: DoorConcurrency,
  restart: Restart.optional(),
  supervision: AgentSupervision.optional(),
  handlingTimeoutMs: z.number().positive().optional(),
  mailboxCapacity: z.int().positive().optional(),
});
export type McpMember = z.input<typeof McpMember>;
export type McpMemberSettings = z.output<typeof McpMember>;
