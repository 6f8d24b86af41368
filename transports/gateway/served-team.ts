import type { AgentCard } from '../../runtime/protocol/agent-card.ts';

/** Who serves: what stands on the card of the system as a whole. */
export interface TeamIdentity {
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly provider?: { readonly organization: string; readonly url: string };
  readonly documentationUrl?: string;
}

/**
 * The agents that a gateway serves.
 *
 * - `cards`        those who run here, in the order in which they were registered.
 * - `revision`     another number when any card is another one.
 * - `modifiedAtMs` when that was, Unix milliseconds.
 * - `entry`        the agent that is meant when a caller names none; undefined: the caller must name one, by the tenant or by
 *                  a data part `{tool, arguments}`.
 */
export interface ServedTeam {
  readonly identity: TeamIdentity;
  readonly entry: string | undefined;
  cards(): readonly AgentCard[];
  card(agentId: string): AgentCard | undefined;
  readonly revision: number;
  readonly modifiedAtMs: number;
}
