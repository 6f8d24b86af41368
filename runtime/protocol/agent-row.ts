import type { AgentCard, AgentTier } from './agent-card.ts';
import type { Delivery } from './envelope.ts';
import type { Party } from './policy.ts';

/** The tier and sandbox that policies judge a remote agent by, and the id of its node. */
export interface Clearance {
  readonly tier: AgentTier;
  readonly sandboxId: string | undefined;
  readonly nodeId: string;
}

/**
 * What agents that are started alike have in common. Thousands of rows may share one profile.
 *
 * - `card`        of one agent or, with instances, the template whose id is replaced.
 * - `clearance`   of an agent of another node. @default tier and sandbox of the card
 * - `concurrency` how many envelopes it may have in hand, if more than one. @default one
 * - `durable`     its mail outlives the process.
 */
export interface AgentProfile {
  readonly card: AgentCard;
  readonly capabilityIds: readonly string[];
  readonly delivery: Delivery;
  readonly mailboxCapacity: number;
  readonly concurrency?: number;
  readonly lazy: boolean;
  readonly durable: boolean;
  readonly clearance?: Clearance;
}

/**
 * One agent: where it is hosted, and how it is judged. It keeps its row object for as long as it is registered.
 *
 * `slot` is a dense number that the control thread gives. It is -1 in a standalone router, and while nobody hosts the agent.
 */
export interface AgentRow {
  readonly id: string;
  readonly slot: number;
  readonly place: string;
  readonly profile: AgentProfile;
  readonly party: Party;
  readonly revision: number;
}

/** Whether mail to this agent goes to another node: such an agent has a clearance here, whatever its card says. */
export const routingPathTo = ({
  profile: { card, clearance },
}: Pick<AgentRow, 'profile'>): 'local' | 'remote' => (clearance === undefined ? card.origin : 'remote');
