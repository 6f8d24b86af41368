import {
  type NegotiationAgent,
  type NegotiationAgentOptions,
  negotiationAgent as negotiationAgentOver,
} from './actors/remote/negotiation-agent.ts';
import { remoteAgentOver } from './actors/remote/remote-agent.ts';
import type { RemoteAgentOptions as MemberOptions } from './actors/remote/remote-options.ts';
import type { AgentDefinition } from './runtime/agent/agent-definition.ts';
import { systemSeams } from './runtime/protocol/system-seams.ts';
import { requireOptions } from './runtime/system/system-options.ts';
import { RemoteAgentClient } from './gateway/a2a/client/remote-agent-client.ts';
import type { ClientOptions } from './gateway/a2a/client/client-options.ts';

export type { NegotiationAgent, NegotiationAgentOptions } from './actors/remote/negotiation-agent.ts';
export {
  DELEGATION_URI,
  DelegationOrder,
  DelegationParams,
  DelegationReport,
  NegotiationAnswer,
  NegotiationRequest,
} from './runtime/protocol/a2a-extension.ts';
export type {
  RemoteCallOptions,
  RemoteEvent,
  RemoteIdentity,
  RemoteSkill,
  RemoteStatus,
  RemoteTask,
  Saying,
} from './runtime/protocol/remote-agent.ts';
export {
  RemoteAgentClient,
  type ListQuery,
  type RemoteAnswer,
  type SendOptions,
} from './gateway/a2a/client/remote-agent-client.ts';
export type { RemoteCard, RemoteInterface } from './gateway/a2a/client/card/remote-card.ts';
export type { ClientOptions, Credentials, OutgoingRequest } from './gateway/a2a/client/client-options.ts';
export type { RemotePage } from './gateway/a2a/wire/answers.ts';

/** How an agent elsewhere is a member here; `client`: how it is reached. */
export interface RemoteAgentOptions extends MemberOptions {
  readonly client?: ClientOptions;
}

/**
 * An agent elsewhere, reached over A2A, as one that can be started here: `startSystem({ agents: [await remoteAgent(url)] })`,
 * or exported by a module. Its skills are its capabilities; it is asked, streamed from, cancelled, proposed to and swarmed
 * with as the others are. It is judged by the tier that it is granted, in a sandbox of its own.
 *
 * Rejects with INVALID_OPTIONS naming field and value, and with what keeps its card from being had: REMOTE_UNREACHABLE,
 * REMOTE_FAILED, INVALID_CARD, UNAUTHENTICATED.
 */
export async function remoteAgent(
  url: string | URL,
  options: RemoteAgentOptions = {},
): Promise<AgentDefinition> {
  const { client, ...member } = requireOptions(options);
  const seams = systemSeams();
  const link = new RemoteAgentClient(url, client, seams);
  try {
    return await remoteAgentOver({ link, seams }, member);
  } catch (error) {
    link.close();
    throw error;
  }
}

/**
 * The agent by which other systems of Orrery negotiate with the agents of this one. Where it is served, the cards of a gateway
 * with `a2a: { delegation }` say so.
 */
export const negotiationAgent = (options: NegotiationAgentOptions = {}): AgentDefinition<NegotiationAgent> =>
  negotiationAgentOver(systemSeams(), options);
