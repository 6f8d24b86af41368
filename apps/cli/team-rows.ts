import {
  AGENT_RATE_SECONDS,
  type AgentScene,
  durationText,
  lastCounts,
  type MachineScene,
  nameIn,
  type Scene,
  shownText,
  type Trouble,
  troublesOf,
  type Wait,
  waitsOf,
} from '@orrery/visualiser/model';

/** What a terminal shows of a scene, found once for each that is drawn. */
export interface Shown {
  readonly scene: Scene;
  readonly waits: readonly Wait[];
  readonly troubles: readonly Trouble[];
}

export function shownOf(scene: Scene): Shown {
  const waits = waitsOf(scene);
  return { scene, waits, troubles: troublesOf(scene, waits) };
}

/** The scene as it is some time after the last that was heard, if nothing has happened since. */
export function sceneLater(scene: Scene, atMs: number): Scene {
  if (atMs <= scene.atMs) return scene;
  const { position, startedAtMs, about, agents, places, peers, machines, inFlight, edges, proposals } = scene;
  const { mission, account, totals, rates, spending, deadLetters, deadLetterTotal, security } = scene;
  const { nodes, failures, lives, swarmNotes, leftOut, canUnlock } = scene;
  return {
    ...{ position, atMs, startedAtMs, about, agents, places, peers, machines, inFlight, edges, proposals },
    ...{ mission, account, totals, rates, spending, deadLetters, deadLetterTotal, security },
    ...{ nodes, failures, lives, swarmNotes, leftOut, canUnlock },
  };
}

/** A line of the team: a node, a thread of it, or an agent in that thread. */
export type TeamRow =
  | { readonly kind: 'node'; readonly id: string; readonly text: string; readonly isBad: boolean }
  | { readonly kind: 'place'; readonly id: string; readonly text: string; readonly isBad: boolean }
  | AgentRow;

/**
 * An agent as a row of cells.
 *
 * - `status`   one word: `works`, `waits`, `idle`, or what its supervisor says of it.
 * - `mailbox`  how many wait of how many may.
 * - `rate`     envelopes a second that it was done with.
 * - `restarts` of how many that are allowed.
 */
export interface AgentRow {
  readonly kind: 'agent';
  readonly id: string;
  readonly name: string;
  readonly status: string;
  readonly doing: string;
  readonly mailbox: string;
  readonly rate: string;
  readonly restarts: string;
  readonly level: Trouble['level'] | undefined;
}

export const SORTS = ['place', 'trouble', 'mailbox', 'rate', 'name'] as const;
export type Sort = (typeof SORTS)[number];

/** The team as rows: by node and thread, or in one list in another order. `filter` is a part of the name or capability. */
export function teamRows(
  shown: Shown,
  { sort, filter }: { readonly sort: Sort; readonly filter: string },
): readonly TeamRow[] {
  const { scene } = shown;
  const agents = [...scene.agents.values()].filter((agent) => !agent.isSystem && isMeant(agent, filter));
  if (sort === 'place') return byPlace(shown, agents);
  return agents.sort(orderOf(shown, sort)).map((agent) => agentRow(shown, agent));
}

function isMeant({ id, name, capabilities, status }: AgentScene, filter: string): boolean {
  const wanted = filter.toLowerCase();
  return (
    wanted === '' || [id, name, status, ...capabilities].some((text) => text.toLowerCase().includes(wanted))
  );
}

const LEVELS = { bad: 0, warning: 1, note: 2 } as const;

function orderOf(shown: Shown, sort: Sort): (one: AgentScene, other: AgentScene) => number {
  const byName = (one: AgentScene, other: AgentScene): number => one.name.localeCompare(other.name);
  if (sort === 'name') return byName;
  const weigh = (agent: AgentScene): number => {
    if (sort === 'mailbox') return agent.waiting;
    if (sort === 'rate') return rateOf(shown.scene, agent);
    const level = levelOf(shown, agent.id);
    return level === undefined ? -3 : -LEVELS[level];
  };
  return (one, other) => weigh(other) - weigh(one) || byName(one, other);
}

function byPlace(shown: Shown, agents: readonly AgentScene[]): TeamRow[] {
  const { scene } = shown;
  const own = scene.about.node;
  const nodes = Map.groupBy(agents, ({ node }) => node ?? own);
  for (const node of [...scene.peers.keys(), ...scene.nodes.keys()])
    if (!nodes.has(node)) nodes.set(node, []);
  const hasOthers = nodes.size > 1;
  return [...nodes].flatMap(([node, members]) => {
    const places = [...Map.groupBy(members, ({ place }) => place ?? 'somewhere')].sort(([one], [other]) =>
      one.localeCompare(other, 'en', { numeric: true }),
    );
    return [
      ...(hasOthers ? [nodeRow(scene, node)] : []),
      ...places.flatMap(([place, those]) => [
        placeRow(scene, place, those.length),
        ...those.sort((one, other) => one.name.localeCompare(other.name)).map((one) => agentRow(shown, one)),
      ]),
    ];
  });
}

function nodeRow({ peers, nodes, about }: Scene, node: string): TeamRow {
  const peer = peers.get(node);
  const trouble = nodes.get(node)?.trouble;
  const by = peer?.transport === undefined ? '' : ` by ${peer.transport}`;
  const trip = peer?.roundTripMs === undefined ? '' : `, ${peer.roundTripMs.toFixed(1)} ms away`;
  const facts = [
    `node ${node}`,
    node === about.node ? ', this one' : '',
    peer === undefined ? '' : `, ${peer.status}${by}${trip}`,
    trouble === undefined ? '' : `, nothing new is known of it: ${trouble}`,
  ];
  const isBad = (peer !== undefined && peer.status !== 'up') || trouble !== undefined;
  return { kind: 'node', id: node, text: shownText(facts.join('')), isBad };
}

function placeRow({ places }: Scene, id: string, agents: number): TeamRow {
  const place = places.get(id);
  const numbers = place?.pid === undefined ? '' : `, process ${place.pid}`;
  const isBad = place?.isAlive === false;
  const deaths =
    place === undefined || place.deaths === 0
      ? ''
      : `, died ${place.deaths === 1 ? 'once' : `${place.deaths} times`}`;
  const left = place === undefined || place.leftOut === 0 ? '' : `, ${place.leftOut} events left out`;
  const text = shownText(
    `${id}: ${agents} agent${agents === 1 ? '' : 's'}${numbers}${isBad ? ', not back' : ''}${deaths}${left}`,
  );
  return { kind: 'place', id, text, isBad };
}

/** The worst trouble that an agent is in; what it holds from outside is no trouble of its own. */
const levelOf = ({ troubles }: Shown, agentId: string): Trouble['level'] | undefined =>
  troubles.find((one) => one.agentId === agentId && one.level !== 'note')?.level;

export function agentRow(shown: Shown, agent: AgentScene): AgentRow {
  const { id, name, waiting, capacity, intensity, restarts } = agent;
  const wait = shown.waits.find(({ waiter }) => waiter === id);
  return {
    kind: 'agent',
    id,
    name: shownText(name),
    status: statusOf(agent, wait),
    doing: shownText(doingOf(shown.scene, agent, wait)),
    mailbox: capacity === undefined ? String(waiting) : `${waiting}/${capacity}`,
    rate: rateOf(shown.scene, agent).toFixed(1),
    restarts: intensity === undefined ? String(restarts) : `${intensity.restarts}/${intensity.maxRestarts}`,
    level: levelOf(shown, id),
  };
}

function statusOf({ status, inHand }: AgentScene, wait: Wait | undefined): string {
  if (status !== 'running') return status === 'failed' ? 'gave up' : shownText(status);
  if (wait !== undefined) return 'waits';
  return inHand === undefined ? 'idle' : 'works';
}

function doingOf(scene: Scene, agent: AgentScene, wait: Wait | undefined): string {
  const { status, lastError, parked, retryAtMs, inHand, progress, id } = agent;
  if (status !== 'running') {
    const again = retryAtMs === undefined ? '' : `again in ${durationText(retryAtMs - scene.atMs)}; `;
    return `${again}${parked ?? lastError?.text ?? ''}`;
  }
  if (wait !== undefined) {
    const until =
      wait.untilMs === undefined ? '' : `, ${durationText(Math.max(0, wait.untilMs - scene.atMs))} left`;
    return `${durationText(scene.atMs - wait.sinceMs)} for ${nameIn(scene, wait.awaited)}${wait.capability === undefined ? '' : `, ${wait.capability}`}${until}`;
  }
  if (inHand !== undefined) {
    const what = inHand.capability ?? inHand.messageType ?? 'an envelope';
    const far =
      progress === undefined ? '' : ` ${Math.round(progress.fraction * 100)} % ${progress.text}`.trimEnd();
    return `${what}, ${durationText(scene.atMs - inHand.sinceMs)}${far}`;
  }
  const logic = ownMachines(scene, id).find(({ actorId }) => actorId === id);
  return logic === undefined || RESTING.has(logic.state) ? '' : `in ${logic.state}`;
}

/** States that say no more than that an agent is idle. */
const RESTING: ReadonlySet<string> = new Set(['idle', 'waiting', 'ready']);

/** Machines that every agent has, which say nothing of what it does. */
const OF_EVERY_AGENT: ReadonlySet<string> = new Set([
  'agentLife',
  'cell',
  'agentProcess',
  'negotiator',
  'coordinator',
]);

/** The machines by which an agent works, those that moved last first. */
export const ownMachines = (scene: Scene, agentId: string): readonly MachineScene[] =>
  [...scene.machines.values()]
    .filter((one) => one.agentId === agentId && !OF_EVERY_AGENT.has(one.machine) && one.state !== '')
    .sort((one, other) => other.sinceMs - one.sinceMs);

const RATE_OF_SECONDS = 5;

/** Envelopes a second over the last whole seconds. */
function rateOf({ atMs }: Scene, { perSecond, second }: AgentScene): number {
  const nowSecond = Math.floor(atMs / 1_000);
  const seconds = Math.min(RATE_OF_SECONDS, AGENT_RATE_SECONDS);
  const counts = lastCounts(perSecond, { second, nowSecond, seconds });
  return counts.reduce((sum, count) => sum + count, 0) / seconds;
}

/** How many of all were sent, done and failed a second, over the last seconds. */
export function ratesOf({ rates, atMs }: Scene): {
  readonly sent: number;
  readonly settled: number;
  readonly failed: number;
} {
  const { second } = rates;
  const about = { second, nowSecond: Math.floor(atMs / 1_000), seconds: RATE_OF_SECONDS };
  const mean = (counts: readonly number[]): number =>
    lastCounts(counts, about).reduce((sum, count) => sum + count, 0) / RATE_OF_SECONDS;
  return { sent: mean(rates.sent), settled: mean(rates.settled), failed: mean(rates.failed) };
}
