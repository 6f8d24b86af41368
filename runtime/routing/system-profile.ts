import { deltaOf, type RoutingTable } from './routing-table.ts';
import type { AgentProfile } from '../protocol/agent-row.ts';

/** The profile of a system actor. Its card and tier are placeholders: they are never shown, and nobody is judged by them. */
export const systemProfile = (id: string, mailboxCapacity = 1_000): AgentProfile => ({
  card: {
    id,
    name: id,
    version: '1.0.0',
    description: 'Part of the runtime',
    tier: 0,
    protocols: [],
    endpoints: [],
    capabilities: [],
    revision: 0,
    origin: 'local',
    lastSeenAt: 0,
  },
  capabilityIds: [],
  delivery: 'once',
  mailboxCapacity,
  lazy: false,
  durable: false,
});

/** Makes a system actor addressable in a table of its own; in a running system the control thread does that. */
export function addSystemActor(table: RoutingTable, id: string): void {
  const row = { id, slot: -1, place: 'local', profile: systemProfile(id), revision: 0 };
  table.apply(deltaOf(table.version, [row]));
}

export const removeSystemActor = (table: RoutingTable, id: string): void =>
  table.apply(deltaOf(table.version, [], [id]));
