import type { AgentCard, AgentTier } from '../protocol/agent-card.ts';
import { cardAs } from './registered-card.ts';
import type { RoutingTable } from './routing-table.ts';
import type { AgentRow } from '../protocol/agent-row.ts';

/** The registered cards that one reader may see. */
export class RegistryView {
  readonly #table: RoutingTable;
  readonly #sees: (row: AgentRow) => boolean;

  constructor(table: RoutingTable, sees: (row: AgentRow) => boolean) {
    this.#table = table;
    this.#sees = sees;
  }

  getById(agentId: string): AgentCard | undefined {
    const row = this.#table.get(agentId);
    return row !== undefined && !row.party.isSystem && this.#sees(row) ? cardOf(row) : undefined;
  }

  /** Every card with the capability, in registration order. */
  findByCapability(capabilityId: string): AgentCard[] {
    return this.#cards(this.#table.withCapability(capabilityId));
  }

  /** Every card that is judged by this tier. That of a remote agent is its clearance, not what its card says. */
  findByTier(tier: AgentTier): AgentCard[] {
    return this.#cards(this.#table.rows(), (row) => row.party.tier === tier);
  }

  /** Every card in registration order. */
  listAll(): AgentCard[] {
    return this.#cards(this.#table.rows());
  }

  getLocalCards(): AgentCard[] {
    return this.#cards(this.#table.rows(), (row) => row.profile.card.origin === 'local');
  }

  getRemoteCards(): AgentCard[] {
    return this.#cards(this.#table.rows(), (row) => row.profile.card.origin === 'remote');
  }

  #cards(rows: Iterable<AgentRow>, wanted: (row: AgentRow) => boolean = () => true): AgentCard[] {
    const cards: AgentCard[] = [];
    for (const row of rows) if (wanted(row) && this.#sees(row)) cards.push(cardOf(row));
    return cards;
  }
}

/** The card of one row: that of its profile, with the row's own id and revision. */
export const cardOf = ({ id, revision, profile }: AgentRow): AgentCard => cardAs(profile.card, id, revision);
