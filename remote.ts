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
  RemoteMessage,
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

/** Options of `remoteAgent`: its membership in the team, and `client`, how to connect to it. */
export interface RemoteAgentOptions extends MemberOptions {
  readonly client?: ClientOptions;
}

/**
 * Makes an agent of a remote one, over A2A: `startSystem({ agents: [await remoteAgent(url)] })`, or exported by a module. Its
 * skills become capabilities. It can be asked, streamed from, cancelled, proposed to and used in swarms like any other agent.
 * It has the tier that it is granted, and by default a sandbox of its own.
 *
 * Rejects with INVALID_OPTIONS naming field and value, and with INVALID_CARD for a card without skills. If the card cannot be
 * fetched it rejects with REMOTE_UNREACHABLE, REMOTE_FAILED or UNAUTHENTICATED.
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
 * Makes the agent through which other systems of Orrery negotiate with the agents of this one. If it is served, the cards of
 * a gateway with `a2a: { delegation }` announce it.
 */
export const negotiationAgent = (options: NegotiationAgentOptions = {}): AgentDefinition<NegotiationAgent> =>
  negotiationAgentOver(systemSeams(), options);
