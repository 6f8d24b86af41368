import { z } from 'zod';
import { AgentCard } from '../../runtime/protocol/agent-card.ts';
import { CatalogueOptions } from '../../runtime/protocol/catalogue-approval.ts';
import { DoorConcurrency } from '../../runtime/protocol/concurrency.ts';
import { AgentSupervision, Restart } from '../../runtime/public.ts';

const Names = z.array(z.string().min(1)).readonly();

/**
 * The membership of an MCP server in a team.
 *
 * - `id`          of its agent; its tools are `<id>.<tool>`.
 * - `name`, `description` of its agent. @default the id, and where the server is
 * - `grantedTier` its tier, never 0. @default 3
 * - `sandboxId`   its sandbox: it then answers nobody outside. It never sends on its own. @default none
 * - `tools`       names, at the server, of the tools to offer. @default all
 * - `privileged`  names of tools that tainted work needs an approval for; true for all tools. @default none
 * - `catalogue`   `approved` is the hash, `sha256:...`, of the catalogue that its owner has approved; any other is tainted. @default none
 * - `answerMs`    how long the server may take to answer a probe before it counts as hanging, milliseconds. @default 5,000
 * - `concurrency` calls at a time; others wait in the mailbox. @default 16
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
