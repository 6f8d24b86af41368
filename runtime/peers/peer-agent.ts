import { describedElsewhere } from '../agent/declared-elsewhere.ts';
import { AgentDefinition } from '../agent/agent-definition.ts';
import { type LoadedAgent, loadedAgent } from '../agent/loaded-agent.ts';
import type { AgentCard } from '../protocol/agent-card.ts';
import type { NextCode } from '../cell/cell-lives.ts';
import type { AgentProfile, Clearance } from '../protocol/agent-row.ts';
import { remoteUnreachable } from '../protocol/edge-errors.ts';
import { A2A_MESSAGE_TYPES } from '../protocol/envelope.ts';
import { MAX_TIMER_MS } from '../protocol/milliseconds.ts';
import { PeerActor, type PeerWay, type PeerWays } from './peer-actor.ts';

/** Envelopes for one agent of another node that are under way at a time; the others wait in its mailbox. */
const CONCURRENCY = 1_000;

function elsewhere(): never {
  throw new Error('The code of this agent is on another node');
}

/** What stands here for an agent of another node, as its card says. Throws INVALID_OPTIONS for what no agent may be. */
export function definitionOf(
  card: AgentCard,
  { nodeId, tier, sandboxId }: Clearance,
): AgentDefinition<unknown> {
  const { id, name, version, description } = card;
  const definition = new AgentDefinition<unknown>({
    id,
    name,
    version,
    description,
    tier,
    ...(sandboxId === undefined ? {} : { sandboxId }),
    // Its node says how long its work may take, and whoever asks for it.
    handlingTimeoutMs: MAX_TIMER_MS,
    durable: false,
    lazy: true,
  });
  definition.node = nodeId;
  definition.isProxy = true;
  definition.isRelay = true;
  definition.concurrency = CONCURRENCY;
  for (const capability of card.capabilities) {
    const known = describedElsewhere(capability, capability.carries);
    if (capability.streams === true) definition.handleStream(known, elsewhere);
    else definition.handle(known, elsewhere);
  }
  for (const type of A2A_MESSAGE_TYPES) definition.on(type, elsewhere);
  return definition;
}

/** What runs it here; the thread that it is in may have taken the place of another, and speak with nobody yet. */
export function peerCode(
  { card, clearance }: Pick<AgentProfile, 'card' | 'clearance'>,
  host: () => PeerWays | undefined,
): NextCode {
  const { nodeId } = clearance as Clearance;
  const way = (): PeerWay => {
    const open = host();
    if (open !== undefined) return open.wayTo(nodeId);
    throw remoteUnreachable(nodeId, 'this node has just begun to speak with others', {
      mayHaveArrived: false,
    });
  };
  return {
    definition: definitionOf(card, clearance as Clearance),
    makeActor: (cell) => new PeerActor(cell, way),
  };
}

/** The agent under the card that its node gives it, judged by the clearance that it has here. */
export const loadedPeerAgent = (card: AgentCard, clearance: Clearance): LoadedAgent => ({
  ...loadedAgent(definitionOf(card, clearance), card),
  clearance,
});
