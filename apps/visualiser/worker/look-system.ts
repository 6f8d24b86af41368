import {
  type AgentScene,
  durationText,
  lastCounts,
  nameAtNode,
  nameIn,
  type NodeScene,
  type PlaceScene,
  RATE_SECONDS,
  type Scene,
  type Trouble,
  type Wait,
} from '../model/index.ts';
import type { AgentRow, BusyLook, GraphLook, Query, RatesLook, SystemLook, TreeRow } from './look.ts';

/** What a look needs to know of a moment. */
export interface Sight {
  readonly scene: Scene;
  readonly waits: readonly Wait[];
  readonly troubles: readonly Trouble[];
}

/** Seconds that the rate of an agent is the mean of. */
const MEAN_SECONDS = 10;
const SPARK_SECONDS = 30;

export function systemLook(sight: Sight, query: Query & { readonly view: 'system' }): SystemLook {
  const { scene } = sight;
  const agents = [...scene.agents.values()].filter(({ isSystem }) => !isSystem);
  const rows = treeRows(sight, agents, query);
  const first = Math.max(0, Math.min(query.window.first, rows.length - 1));
  const counts = new Map<string, number>();
  for (const { status, inHand } of agents) {
    const shown = status === 'running' ? (inHand === undefined ? 'idle' : 'busy') : status;
    counts.set(shown, (counts.get(shown) ?? 0) + 1);
  }
  return {
    view: 'system',
    rows: rows.slice(first, first + query.window.count).map((row) => ('make' in row ? row.make() : row)),
    first,
    total: rows.length,
    agents: agents.length,
    counts: [...counts]
      .map(([status, count]) => ({ status, count }))
      .sort((one, other) => other.count - one.count),
    rates: ratesOf(scene),
    account: accountOf(scene),
  };
}

/** A row of an agent is only made if it is in sight. */
interface LazyRow {
  readonly make: () => AgentRow;
}

function treeRows(
  sight: Sight,
  agents: readonly AgentScene[],
  { text, only }: Query & { readonly view: 'system' },
): (TreeRow | LazyRow)[] {
  const { scene } = sight;
  const levels = levelsOf(sight.troubles);
  const waiting = waitsByWaiter(sight.waits);
  const wanted = text.trim().toLowerCase();
  const isShown = (agent: AgentScene): boolean => {
    if (only === 'busy' && agent.inHand === undefined) return false;
    if (only === 'trouble' && (levels.get(agent.id) ?? 'note') === 'note') return false;
    if (wanted === '') return true;
    return `${agent.id} ${agent.name} ${agent.place ?? ''} ${agent.capabilities.join(' ')}`
      .toLowerCase()
      .includes(wanted);
  };
  const shown = agents.filter(isShown);
  const nodes = new Map<string, Map<string, AgentScene[]>>();
  const here = scene.about.node;
  const placesOf = (node: string): Map<string, AgentScene[]> => {
    const known = nodes.get(node) ?? new Map<string, AgentScene[]>();
    nodes.set(node, known);
    return known;
  };
  placesOf(here);
  if (wanted === '' && only === 'all')
    for (const { id, node } of scene.places.values()) placesOf(node ?? here).set(id, []);
  for (const agent of shown) {
    const places = placesOf(agent.node ?? here);
    const place = agent.place ?? 'nowhere yet';
    const there = places.get(place);
    if (there === undefined) places.set(place, [agent]);
    else there.push(agent);
  }
  const rows: (TreeRow | LazyRow)[] = [];
  for (const [node, places] of nodes) {
    if (places.size === 0 && node !== here) continue;
    rows.push(node === here ? ownRow(scene) : otherRow(scene, node));
    for (const [id, there] of [...places].sort(byPlace)) {
      rows.push(placeRow(node, id, scene.places.get(id), there.length));
      there.sort((one, other) => (one.tier ?? 9) - (other.tier ?? 9) || (one.name < other.name ? -1 : 1));
      for (const agent of there)
        rows.push({
          make: () => agentRow(sight, agent, { level: levels.get(agent.id), wait: waiting.get(agent.id) }),
        });
    }
  }
  if (wanted === '' && only === 'all')
    for (const node of new Set([...scene.nodes.keys(), ...scene.peers.keys()]))
      if (!nodes.has(node)) rows.push(otherRow(scene, node));
  return rows;
}

const ORDER = ['host', 'control', 'worker', 'relay', 'journal', 'peers', 'process', 'place'];
const orderOf = (place: string): number => ORDER.findIndex((kind) => nameAtNode(place).startsWith(kind));
const byPlace = ([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number =>
  orderOf(one) - orderOf(other) || one.localeCompare(other, 'en', { numeric: true });

function ownRow({ about, places }: Scene): TreeRow {
  const { node, root = '', orrery = '' } = about;
  const threads = [...places.values()].filter((place) => place.isAlive && place.node === undefined).length;
  const facts = [
    `${threads} thread${threads === 1 ? '' : 's'}`,
    root,
    orrery === '' ? '' : `Orrery ${orrery}`,
  ];
  return { kind: 'node', key: `node ${node}`, name: node, status: 'up', text: told(facts) };
}

/** A node that this one has a channel to, or whose events come here too. */
function otherRow({ peers, nodes }: Scene, node: string): TreeRow {
  const [peer, watched] = [peers.get(node), nodes.get(node)];
  const facts = [
    'another node',
    watched === undefined ? '' : watchedText(watched),
    peer === undefined ? '' : `${peer.agents.length} agents shown`,
    peer?.transport ?? '',
    peer?.roundTripMs === undefined ? '' : `${durationText(peer.roundTripMs)} there and back`,
  ];
  const status = watched?.trouble === undefined ? (peer?.status ?? 'up') : 'lost';
  return { kind: 'node', key: `node ${node}`, name: node, status, text: told(facts) };
}

const watchedText = ({ url, trouble }: NodeScene): string =>
  trouble === undefined ? `watched at ${url}` : `nothing new is known of it: ${trouble}`;

const told = (facts: readonly string[]): string => facts.filter((one) => one !== '').join(' · ');

const PLACE_TEXTS: ReadonlyMap<string, string> = new Map([
  ['host', 'the thread of the program that started the team'],
  ['control', 'starts, watches and replaces the other threads; runs no agent'],
  ['worker', 'a worker thread'],
  ['relay', 'carries mail to agents in processes of their own'],
  ['journal', 'writes what must outlive the process'],
  ['peers', 'carries mail to other nodes'],
  ['process', 'a process of its own'],
]);

function placeRow(node: string, id: string, place: PlaceScene | undefined, agents: number): TreeRow {
  const facts = [
    PLACE_TEXTS.get(place?.kind ?? '') ?? 'a thread',
    place?.threadId === undefined ? '' : `thread ${place.threadId}`,
    place?.pid === undefined ? '' : `process ${place.pid}`,
    place === undefined || place.deaths === 0 ? '' : `died ${place.deaths} times`,
    place === undefined || place.leftOut === 0 ? '' : `${place.leftOut} events left out`,
  ];
  return {
    kind: 'place',
    key: `place ${node} ${id}`,
    id,
    place: id,
    text: told(facts),
    agents,
    isAlive: place?.isAlive ?? true,
  };
}

/** The worst level of what is wrong with each agent. */
export function levelsOf(troubles: readonly Trouble[]): ReadonlyMap<string, Trouble['level']> {
  const levels = new Map<string, Trouble['level']>();
  // The worst come first.
  for (const { agentId, level } of troubles)
    if (agentId !== undefined && !levels.has(agentId)) levels.set(agentId, level);
  return levels;
}

export function waitsByWaiter(waits: readonly Wait[]): ReadonlyMap<string, Wait> {
  const found = new Map<string, Wait>();
  for (const wait of waits) if (!found.has(wait.waiter)) found.set(wait.waiter, wait);
  return found;
}

export function agentRow(
  { scene }: Sight,
  agent: AgentScene,
  { level, wait }: { readonly level: Trouble['level'] | undefined; readonly wait: Wait | undefined },
): AgentRow {
  const { id, name, tier, status, waiting, capacity, restarts, intensity, perSecond, second, taint } = agent;
  const nowSecond = Math.floor(scene.atMs / 1_000);
  const spark = lastCounts(perSecond, { second, nowSecond, seconds: SPARK_SECONDS });
  const last = spark.slice(-MEAN_SECONDS);
  return {
    kind: 'agent',
    key: `agent ${id}`,
    id,
    name,
    tier,
    status,
    busy: busyLook(scene, agent),
    waitsFor: wait === undefined ? undefined : nameIn(scene, wait.awaited),
    waiting,
    capacity,
    restarts,
    intensity,
    perSecond: last.reduce((sum, count) => sum + count, 0) / MEAN_SECONDS,
    spark,
    trouble: level,
    isTainted: taint.length > 0,
  };
}

function busyLook(scene: Scene, { inHand, progress }: AgentScene): BusyLook | undefined {
  if (inHand === undefined) return undefined;
  return {
    what: inHand.capability ?? inHand.messageType ?? 'an envelope',
    from: nameIn(scene, inHand.sender),
    sinceMs: inHand.sinceMs,
    fraction: progress?.fraction,
    text: progress?.text ?? '',
    conversationId: inHand.conversationId,
  };
}

/** The second of this moment has only begun: rates end with the one before. */
export function ratesOf({ rates, atMs }: Scene): RatesLook {
  const nowSecond = Math.floor(atMs / 1_000) - 1;
  const of = (counts: readonly number[]): number[] =>
    lastCounts(counts, { second: rates.second, nowSecond, seconds: RATE_SECONDS - 1 });
  return { second: nowSecond, sent: of(rates.sent), settled: of(rates.settled), failed: of(rates.failed) };
}

function accountOf({ account, totals, inFlight }: Scene): SystemLook['account'] {
  const { refused } = totals;
  if (account === undefined) {
    const { sent, handled, rejected, expired, deadLettered } = totals;
    return {
      sent,
      handled,
      rejected,
      expired,
      deadLettered,
      refused,
      inFlight: inFlight.size,
      holds: undefined,
    };
  }
  const { accepted: sent, handled, rejected, expired, deadLettered, inFlight: open, holds } = account;
  return { sent, handled, rejected, expired, deadLettered, refused, inFlight: open, holds };
}

/** More than this nobody can read: the agents with the most traffic are drawn. */
const MAX_NODES = 60;
const RECENT_MS = 2_000;

/** Lines beyond these are left out, those that carried least first. */
const MAX_EDGES = 240;
/** Somebody who is drawn stays, until another one has so much more traffic. */
const STICKY = 2;

/** `before` were drawn last time: a drawing whose boxes change all the time tells nothing. */
export function graphLook({ scene }: Sight, before: ReadonlySet<string>): GraphLook {
  const traffic = new Map<string, number>();
  for (const { from, to, count } of scene.edges.values())
    for (const id of [from, to]) traffic.set(id, (traffic.get(id) ?? 0) + count);
  const weight = ([id, count]: readonly [string, number]): number =>
    before.has(id) ? count * STICKY : count;
  const named = [...traffic].sort((one, other) => weight(other) - weight(one)).map(([id]) => id);
  const drawn = new Set(named.slice(0, MAX_NODES).sort());
  return {
    view: 'graph',
    nodes: [...drawn].map((id) => {
      const agent = scene.agents.get(id);
      return {
        id,
        name: agent?.name ?? id,
        status: agent?.status ?? 'unknown',
        isBusy: agent?.inHand !== undefined,
        isSystem: agent?.isSystem ?? false,
      };
    }),
    edges: [...scene.edges.values()]
      .filter(({ from, to }) => drawn.has(from) && drawn.has(to) && from !== to)
      .sort((one, other) => other.count - one.count)
      .slice(0, MAX_EDGES)
      .map(({ from, to, count, refused, lastMs }) => ({
        from,
        to,
        count,
        refused,
        isRecent: scene.atMs - lastMs < RECENT_MS,
      })),
    leftOut: named.length - drawn.size,
  };
}
