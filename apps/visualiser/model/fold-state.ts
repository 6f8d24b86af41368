import { takeFacts } from './fold-machines.ts';
import { takeMission } from './fold-mission.ts';
import { takeProposal } from './fold-work.ts';
import type { DeadLetterScene } from './scene.ts';
import type { SceneDraft } from './scene-draft.ts';
import type { StateActor, StateAgent, StatePlace, WatchState } from './watch-state.ts';

/** A state of the whole team: it is right about all that it tells. */
export function applyState(draft: SceneDraft, state: WatchState): void {
  draft.about = { name: state.name, node: state.node, orrery: state.orrery };
  draft.startedAtMs = state.startedAtMs;
  draft.canUnlock = state.canUnlock;
  draft.account = state.account;
  for (const place of state.places) takePlace(draft, place);
  const listed = new Listed();
  for (const agent of state.agents) takeAgent(draft, agent, listed);
  takeNodes(draft, state, listed);
  endUnlisted(draft, listed);
  removeGone(draft, state);
  for (const peer of state.peers) draft.peers.set(peer.node, peer);
  takeDeadLetters(draft, state);
  if (state.mission !== undefined) takeMission(draft, state.mission);
  dropUnknownInFlight(draft, state);
}

function takePlace(draft: SceneDraft, { id, kind, pid, threadId }: StatePlace, node?: string): void {
  const place = draft.placeOf(id);
  Object.assign(place, { kind, node, pid, threadId, isAlive: true });
}

/** Other nodes that are watched too: what one says of its own agents is right, whoever else knows them. */
function takeNodes(draft: SceneDraft, { nodes, agents: own }: WatchState, listed: Listed): void {
  draft.nodes = new Map(nodes.map((told) => [told.node ?? told.url, told]));
  const known = new Set(own.map(({ id }) => id));
  for (const { url, node = url, agents, places } of nodes) {
    for (const place of places) takePlace(draft, place, node);
    for (const agent of agents)
      if (agent.id.startsWith(`${node}/`) || !known.has(agent.id))
        takeAgent(draft, { ...agent, node }, listed);
  }
}

/** The actors that a state lists, and whose it lists: those of other agents nobody was asked for. */
class Listed {
  readonly keys = new Set<string>();
  readonly agents = new Set<string>();
}

function takeAgent(draft: SceneDraft, told: StateAgent, listed: Listed): void {
  const agent = draft.agentOf(told.id);
  if (told.status !== undefined && told.status !== agent.status) {
    agent.status = told.status;
    agent.sinceMs = draft.atMs;
  }
  const {
    name,
    version,
    tier,
    place,
    node,
    pid,
    threadId,
    group,
    isolation,
    capacity,
    intensity,
    retryAtMs,
  } = told;
  Object.assign(agent, {
    name: name ?? told.id,
    version,
    tier,
    capabilities: told.capabilities,
    node,
    pid,
    threadId,
    group,
    isolation,
    capacity,
    intensity,
    retryAtMs,
    parked: told.parked,
    place: place ?? agent.place,
    waiting: told.waiting ?? agent.waiting,
    restarts: told.restarts ?? agent.restarts,
  });
  if (told.lastError !== undefined && agent.lastError?.text !== told.lastError)
    agent.lastError = { atMs: draft.atMs, code: '', text: told.lastError };
  if (told.actors === undefined) return;
  listed.agents.add(told.id);
  for (const actor of told.actors) takeActor(draft, actor, { agentId: told.id, parentId: undefined, listed });
}

function takeActor(
  draft: SceneDraft,
  actor: StateActor,
  under: { readonly agentId: string; readonly parentId: string | undefined; readonly listed: Listed },
): void {
  const { agentId, parentId, listed } = under;
  const { id, machine, state, sinceMs, nextTimer, facts, children } = actor;
  const found = draft.machineOf({ machine, actorId: id, agentId, place: undefined });
  listed.keys.add(found.key);
  if (found.state !== state) {
    found.sinceMs = sinceMs ?? draft.atMs;
    found.state = state;
  }
  found.parentId = parentId ?? found.parentId;
  found.isOver = false;
  found.nextTimer = nextTimer;
  if (facts !== undefined) takeFacts(found, facts);
  if (machine === 'proposer') takeProposal(draft, { id, agentId, state, facts, sinceMs: found.sinceMs });
  for (const child of children) takeActor(draft, child, { agentId, parentId: id, listed });
}

/** An actor that its agent lists no more is over. */
function endUnlisted(draft: SceneDraft, { keys, agents }: Listed): void {
  for (const [key, machine] of draft.machines) {
    const { agentId, isOver } = machine;
    if (agentId === undefined || isOver || keys.has(key) || !agents.has(agentId)) continue;
    if (!TOLD_APART.has(machine.machine)) draft.machineOf(machine).isOver = true;
  }
}

/** These are not among the actors of an agent. */
const TOLD_APART: ReadonlySet<string> = new Set(['agentLife', 'cell', 'agentProcess']);

/** Agents that the team no longer has are gone; the runtime's own senders and those of other nodes are not in its list. */
function removeGone(draft: SceneDraft, { agents, nodes }: WatchState): void {
  if (agents.length === 0) return;
  const there = new Set([agents, ...nodes.map((node) => node.agents)].flat().map(({ id }) => id));
  for (const [id, { isSystem, version }] of draft.agents)
    if (!isSystem && version !== undefined && !there.has(id)) draft.agents.delete(id);
}

function takeDeadLetters(draft: SceneDraft, { deadLetters }: WatchState): void {
  if (deadLetters.total === 0 && deadLetters.last.length === 0) return;
  const conversations = new Map(draft.deadLetters.map(({ id, conversationId }) => [id, conversationId]));
  const elsewhere = draft.deadLetters.filter(({ node }) => node !== undefined);
  draft.deadLetterTotal = Math.max(deadLetters.total, deadLetters.last.length) + elsewhere.length;
  const here = deadLetters.last.map((letter): DeadLetterScene => {
    return { ...letter, id: letter.id, node: undefined, conversationId: conversations.get(letter.id) };
  });
  draft.deadLetters = [...here, ...elsewhere].sort((one, other) => one.atMs - other.atMs);
}

/**
 * Where events were left out, some envelopes seem to be on their way for ever: there are no more than the team counts. What is on
 * its way at other nodes is not in that count.
 */
function dropUnknownInFlight(draft: SceneDraft, { account }: WatchState): void {
  if (account === undefined || (draft.leftOut === 0 && account.inFlight > 0)) return;
  const own = [...draft.inFlight].filter(([, { node }]) => node === undefined);
  let surplus = own.length - account.inFlight;
  for (const [id, { sentAtMs }] of own) {
    if (surplus <= 0) return;
    // What has just been sent may be younger than the count.
    if (sentAtMs > draft.atMs - 1_000) continue;
    draft.noteSettled(id);
    surplus -= 1;
  }
}
