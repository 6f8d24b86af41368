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
 * What agents started alike have in common; thousands of rows may share one.
 *
 * - `card`     of one agent or, with instances, the template whose id is replaced.
 * - `clearance` of a remote agent. @default tier and sandbox of the card
 * - `concurrency` how many it may have in hand at a time, where those are several. @default one
 * - `durable`  what waits in its mailbox outlives the process.
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
 * One agent: where it lives and how it is judged. The table keeps one object an agent for as long as it is registered.
 *
 * `slot` is a dense number given by the authority; -1 standalone and, in a running system, while nobody hosts the agent.
 */
export interface AgentRow {
  readonly id: string;
  readonly slot: number;
  readonly place: string;
  readonly profile: AgentProfile;
  readonly party: Party;
  readonly revision: number;
}

/** Where what goes to this agent goes: on another node it has a clearance here, however it came in. */
export const routingPathTo = ({
  profile: { card, clearance },
}: Pick<AgentRow, 'profile'>): 'local' | 'remote' => (clearance === undefined ? card.origin : 'remote');
