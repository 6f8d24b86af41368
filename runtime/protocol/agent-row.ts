import type { AgentCard, AgentTier } from './agent-card.ts';
import type { Delivery } from './envelope.ts';
import type { Party } from './policy.ts';

/** The tier and sandbox that a remote agent is judged by, and the node whose agent it is. */
export interface Standing {
  readonly tier: AgentTier;
  readonly sandboxId: string | undefined;
  readonly nodeId: string;
}

/**
 * What agents started alike have in common; thousands of rows may share one.
 *
 * - `card`     of one agent or, with instances, the template whose id is replaced.
 * - `standing` what a remote agent was granted. @default what the card says
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
  readonly standing?: Standing;
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

/** Where what goes to this agent goes: on another node it has a standing here, however it came in. */
export const routingPathTo = ({
  profile: { card, standing },
}: Pick<AgentRow, 'profile'>): 'local' | 'remote' => (standing === undefined ? card.origin : 'remote');
