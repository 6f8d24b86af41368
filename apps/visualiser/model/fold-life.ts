import type { SceneDraft } from './scene-draft.ts';
import { union } from './fold-traffic.ts';
import type { WatchedEvent } from './watched-event.ts';

const STATUS_AFTER: Readonly<Record<string, string>> = {
  'agent-started': 'running',
  'agent-crashed': 'restarting',
  'agent-restarting': 'restarting',
  'agent-failed': 'failed',
  'agent-stopped': 'stopped',
  'agent-parked': 'parked',
};

/** What happened to it, in words, unless the event says it itself. */
const TOLD: Readonly<Record<string, string>> = {
  'agent-started': 'runs',
  'agent-crashed': 'crashed',
  'agent-restarting': 'is started again',
  'agent-failed': 'gave up',
  'agent-stopped': 'has stopped',
  'agent-parked': 'is parked: its code cannot go on with its state',
  'agent-upgraded': 'runs other code',
};

const SECURITY: ReadonlySet<string> = new Set(['outsider-refused', 'catalogue', 'declared-clean']);
const TROUBLES: ReadonlySet<string> = new Set(['warning', 'watchdog', 'journal', 'history', 'fault']);
const LIVES: ReadonlySet<string> = new Set(['process-ended', 'fault', 'watchdog', 'journal']);

/** What an event says of the life of an agent, a place, a node or the journal. */
export function applyLife(draft: SceneDraft, event: WatchedEvent): void {
  const { type, agentId, reason } = event;
  if (Object.hasOwn(TOLD, type) && agentId !== undefined) agentLife(draft, event, agentId);
  else if (type === 'place-started' || type === 'place-died') placeLife(draft, event);
  else if (type === 'peer-status') peerStatus(draft, event);
  if (LIVES.has(type)) draft.note('lives', event, reason ?? type);
  if (TROUBLES.has(type) && event.success !== true) draft.note('failures', event, reason ?? type);
  if (SECURITY.has(type) || (event.security === true && !KEPT_BY_TRAFFIC.has(type)))
    draft.note('security', event, reason ?? type);
  if (type === 'declared-clean' && agentId !== undefined) {
    const agent = draft.agentOf(agentId);
    agent.taint = agent.taint.filter((source) => event.taint?.includes(source) === false);
  } else if (type === 'catalogue' && agentId !== undefined && event.taint !== undefined) {
    const agent = draft.agentOf(agentId);
    agent.taint = union(agent.taint, event.taint);
  }
}

/** These note themselves what is of security. */
const KEPT_BY_TRAFFIC: ReadonlySet<string> = new Set(['routing-decision', 'error']);

function agentLife(draft: SceneDraft, event: WatchedEvent, agentId: string): void {
  const { type, timestamp, reason, errorCode, place } = event;
  const agent = draft.agentOf(agentId);
  const status = STATUS_AFTER[type];
  const told = TOLD[type] ?? type;
  draft.note('lives', event, reason === undefined ? told : `${told}: ${reason}`);
  if (timestamp > agent.lastSeenMs) agent.lastSeenMs = timestamp;
  if (status === undefined) return;
  if (agent.status !== status) agent.sinceMs = timestamp;
  agent.status = status;
  if (type === 'agent-restarting') agent.restarts += 1;
  if (type === 'agent-parked') agent.parked = reason;
  if (type === 'agent-started') {
    if (place !== undefined && place !== 'control') agent.place = place;
    agent.parked = undefined;
    agent.retryAtMs = undefined;
    return;
  }
  agent.inHand = undefined;
  agent.begun = 0;
  endActor(draft, agentId);
  agent.progress = undefined;
  if (type === 'agent-stopped') return;
  agent.lastError = { atMs: timestamp, code: errorCode ?? '', text: reason ?? told };
}

/** With its actor ends what runs in it; its life goes on, and so does what the runtime has for it. */
function endActor(draft: SceneDraft, agentId: string): void {
  for (const machine of draft.machines.values())
    if (machine.agentId === agentId && machine.actorId === agentId && !OUTLIVES_ACTORS.has(machine.machine))
      draft.machineOf(machine).isOver = true;
}

const OUTLIVES_ACTORS: ReadonlySet<string> = new Set([
  'agentLife',
  'agentProcess',
  'negotiator',
  'coordinator',
]);

function placeLife(draft: SceneDraft, event: WatchedEvent): void {
  const { type, place, timestamp, reason } = event;
  if (place === undefined) return;
  const found = draft.placeOf(place);
  found.isAlive = type === 'place-started';
  found.sinceMs = timestamp;
  if (!found.isAlive) found.deaths += 1;
  const told = found.isAlive ? `${place} runs` : `${place} died`;
  draft.note('lives', event, reason === undefined ? told : `${told}: ${reason}`);
}

const PEER_STATUS = /\b(awaited|up|rejoining|lost|revoked)\b/;

function peerStatus(draft: SceneDraft, event: WatchedEvent): void {
  const { targetAgentId: node, reason = '', timestamp } = event;
  if (node === undefined) return;
  const status = PEER_STATUS.exec(reason)?.[1] ?? 'unknown';
  const known = draft.peers.get(node);
  draft.peers.set(node, { ...(known ?? { node, agents: [] }), status, sinceMs: timestamp });
  draft.note('lives', event, `${node}: ${reason}`);
}
