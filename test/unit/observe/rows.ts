import type { AgentCard, AgentTier } from '../../../runtime/protocol/agent-card.ts';
import { RoutingTable } from '../../../runtime/routing/routing-table.ts';
import type { AgentRow } from '../../../runtime/protocol/agent-row.ts';
import { cardOf } from '../routing/standalone-team.ts';

/** A table with this agent alone. */
export function tableOf(card: AgentCard): RoutingTable {
  const table = new RoutingTable();
  const profile = {
    card,
    capabilityIds: [],
    delivery: 'once',
    mailboxCapacity: 1,
    lazy: false,
    durable: false,
  } as const;
  table.enter({
    profiles: [profile],
    upsert: [{ id: card.id, slot: 0, place: 'host', profile: 0, revision: 0 }],
    remove: [],
  });
  return table;
}

export const rowOf = (id: string, tier: AgentTier, origin: AgentCard['origin'] = 'local'): AgentRow =>
  tableOf(cardOf(id, { tier, origin })).get(id) as AgentRow;
