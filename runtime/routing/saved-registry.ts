import { faultsOf } from '../protocol/payload-faults.ts';
import { z } from 'zod';
import { AgentTier } from '../protocol/agent-card.ts';
import { Delivery } from '../protocol/envelope.ts';
import { invalidCard } from '../protocol/errors.ts';
import { cardOf } from './registry-view.ts';
import type { AgentRow } from '../protocol/agent-row.ts';

/** One agent as a registry saves it: its card, and what is not in the card. */
const SavedAgent = z.strictObject({
  card: z.unknown(),
  place: z.string(),
  standing: z
    .strictObject({ tier: AgentTier, sandboxId: z.string().optional(), nodeId: z.string().optional() })
    .optional(),
  delivery: Delivery,
  mailboxCapacity: z.int().positive(),
  lazy: z.boolean(),
  durable: z.boolean().default(false),
});
export type SavedAgent = z.infer<typeof SavedAgent>;

const SavedRegistry = z.strictObject({ format: z.literal(1), agents: z.array(SavedAgent) });

/** The rows as JSON text. */
export function saveRegistry(rows: Iterable<AgentRow>): string {
  const agents = Array.from(rows, (row) => {
    const { standing, delivery, mailboxCapacity, lazy, durable } = row.profile;
    return { card: cardOf(row), place: row.place, standing, delivery, mailboxCapacity, lazy, durable };
  });
  return JSON.stringify({ format: 1, agents });
}

/** What `saveRegistry` wrote; the cards are still to be checked. Fails with INVALID_CARD naming field and fault. */
export function readRegistry(json: string): readonly SavedAgent[] {
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch (error) {
    throw invalidCard(`not JSON: ${(error as Error).message}`);
  }
  const parsed = SavedRegistry.safeParse(value);
  if (parsed.success) return parsed.data.agents;
  throw invalidCard(faultsOf(parsed.error, value));
}
