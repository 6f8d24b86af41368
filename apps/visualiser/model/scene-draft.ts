import type { Conservation } from 'orrery';
import {
  AGENT_RATE_SECONDS,
  type About,
  type AgentScene,
  type DeadLetterScene,
  type EdgeScene,
  type InFlight,
  type MachineScene,
  type MissionScene,
  machineKey,
  type NodeScene,
  type Note,
  type PlaceScene,
  type ProposalScene,
  RATE_SECONDS,
  type Rates,
  type Scene,
  type SpendingScene,
  type Totals,
} from './scene.ts';
import type { StatePeer } from './watch-state.ts';
import { conversationIdOf, isSystemId, type WatchedEvent } from './watched-event.ts';

/** How much of what only grows is kept: the oldest goes first. */
const MAX_NOTES = 200;
const MAX_IN_FLIGHT = 5_000;
const MAX_SETTLED = 2_000;
const MAX_MACHINES = 5_000;
const MAX_PROPOSALS = 2_000;
const MAX_EDGES = 10_000;
const MAX_AGENTS = 20_000;
const MAX_PLACES = 1_000;

/**
 * A scene that is being changed.
 *
 * A copy shares what both hold, and each makes an own copy of what it changes: every object carries the number of the draft that
 * it belongs to. So a copy costs as much as its maps, and a change as much as one object.
 */
export class SceneDraft implements Scene {
  static #drafts = 0;
  #number = ++SceneDraft.#drafts;

  position = 0;
  atMs = 0;
  startedAtMs = 0;
  about: About = { name: 'a team', node: 'this node' };
  missionName: string | undefined;
  agents = new Map<string, AgentScene>();
  places = new Map<string, PlaceScene>();
  peers = new Map<string, StatePeer>();
  nodes: ReadonlyMap<string, NodeScene> = new Map();
  machines = new Map<string, MachineScene>();
  inFlight = new Map<string, InFlight>();
  /** Envelopes whose outcome is known; another place may yet tell that they were sent. */
  settled = new Set<string>();
  edges = new Map<string, EdgeScene>();
  proposals = new Map<string, ProposalScene>();
  account: Conservation | undefined;
  deadLetters: readonly DeadLetterScene[] = [];
  deadLetterTotal = 0;
  security: readonly Note[] = [];
  failures: readonly Note[] = [];
  lives: readonly Note[] = [];
  swarmNotes: readonly Note[] = [];
  leftOut = 0;
  canUnlock = false;
  #mission: MissionScene | undefined;
  #totals: Totals = emptyTotals();
  #rates: Rates = emptyRates();
  #spending: SpendingScene = emptySpending();

  copy(): SceneDraft {
    const other = new SceneDraft();
    Object.assign(other, this);
    other.agents = new Map(this.agents);
    other.places = new Map(this.places);
    other.peers = new Map(this.peers);
    other.machines = new Map(this.machines);
    other.inFlight = new Map(this.inFlight);
    other.settled = new Set(this.settled);
    other.edges = new Map(this.edges);
    other.proposals = new Map(this.proposals);
    other.#mission = this.#mission;
    other.#totals = this.#totals;
    other.#rates = this.#rates;
    other.#spending = this.#spending;
    // What was this draft's own is shared from now on.
    this.#number = ++SceneDraft.#drafts;
    return other;
  }

  get totals(): Totals {
    if (this.#totals.owner !== this.#number) this.#totals = { ...this.#totals, owner: this.#number };
    return this.#totals;
  }

  get rates(): Rates {
    return this.#rates;
  }

  get spending(): SpendingScene {
    return this.#spending;
  }

  get mission(): MissionScene | undefined {
    return this.#mission;
  }

  seeTime(atMs: number): void {
    if (atMs > this.atMs) this.atMs = atMs;
    if (this.startedAtMs === 0) this.startedAtMs = atMs;
  }

  seePlace({ place, node, timestamp }: WatchedEvent): void {
    if (place !== undefined && !this.places.has(place))
      Object.assign(this.placeOf(place), { sinceMs: timestamp, node });
  }

  /** The agent with this id, to be changed; one that nobody knew is entered. */
  agentOf(id: string): AgentScene {
    const agent = this.#own(this.agents, id, copyAgent);
    if (agent !== undefined) return agent;
    const entered = emptyAgent(id, this.#number, this.atMs);
    put(this.agents, id, entered, MAX_AGENTS);
    return entered;
  }

  /** The agent with this id, to be changed, if it is known. */
  knownAgent(id: string | undefined): AgentScene | undefined {
    return id === undefined ? undefined : this.#own(this.agents, id, copyAgent);
  }

  placeOf(id: string): PlaceScene {
    const known = this.#own(this.places, id);
    if (known !== undefined) return known;
    const place: PlaceScene = {
      owner: this.#number,
      id,
      kind: kindOfPlace(id),
      node: undefined,
      pid: undefined,
      threadId: undefined,
      isAlive: true,
      sinceMs: this.atMs,
      deaths: 0,
      leftOut: 0,
    };
    put(this.places, id, place, MAX_PLACES);
    return place;
  }

  machineOf(about: Pick<MachineScene, 'machine' | 'actorId' | 'agentId' | 'place'>): MachineScene {
    const { machine, actorId, agentId, place } = about;
    const key = machineKey(machine, agentId ?? place ?? '', actorId);
    const known = this.#own(this.machines, key);
    if (known !== undefined) return known;
    const entered: MachineScene = {
      owner: this.#number,
      key,
      machine,
      actorId,
      agentId,
      place,
      parentId: undefined,
      state: '',
      sinceMs: this.atMs,
      beganAtMs: this.atMs,
      isOver: false,
      nextTimer: undefined,
      facts: NO_FACTS,
      steps: [],
      guards: [],
      reassignments: 0,
    };
    if (this.machines.size >= MAX_MACHINES) this.#dropMachine();
    this.machines.set(key, entered);
    return entered;
  }

  #dropMachine(): void {
    const [first] = this.machines.keys();
    for (const [key, { isOver }] of this.machines) {
      if (!isOver) continue;
      this.machines.delete(key);
      return;
    }
    if (first !== undefined) this.machines.delete(first);
  }

  inFlightOf(envelopeId: string): InFlight | undefined {
    return this.#own(this.inFlight, envelopeId);
  }

  putInFlight(envelope: Omit<InFlight, 'owner'>): void {
    put(this.inFlight, envelope.envelopeId, { ...envelope, owner: this.#number }, MAX_IN_FLIGHT);
  }

  noteSettled(envelopeId: string): void {
    this.inFlight.delete(envelopeId);
    if (this.settled.size >= MAX_SETTLED)
      for (const first of this.settled) {
        this.settled.delete(first);
        break;
      }
    this.settled.add(envelopeId);
  }

  edgeOf(from: string, to: string): EdgeScene {
    const key = JSON.stringify([from, to]);
    const known = this.#own(this.edges, key);
    if (known !== undefined) return known;
    const edge = { owner: this.#number, from, to, count: 0, refused: 0, lastMs: 0 };
    put(this.edges, key, edge, MAX_EDGES);
    return edge;
  }

  proposalOf(id: string): ProposalScene {
    const known = this.#own(this.proposals, id);
    if (known !== undefined) return known;
    const proposal: ProposalScene = {
      owner: this.#number,
      id,
      proposer: undefined,
      capability: undefined,
      conversationId: undefined,
      state: 'pending',
      sinceMs: this.atMs,
      beganAtMs: this.atMs,
      deadlineAtMs: undefined,
      bids: undefined,
      assignee: undefined,
      notes: [],
    };
    put(this.proposals, id, proposal, MAX_PROPOSALS);
    return proposal;
  }

  /** The mission, to be changed; one that has just been heard of begins now. */
  missionOf(name: string): MissionScene {
    const known = this.#mission;
    if (known?.owner === this.#number) return known;
    this.#mission =
      known === undefined
        ? {
            owner: this.#number,
            name,
            beganAtMs: this.atMs,
            endedAtMs: undefined,
            success: undefined,
            reason: undefined,
            pausedBy: undefined,
            isGuessed: false,
            tasks: new Map(),
          }
        : { ...known, owner: this.#number, tasks: new Map(known.tasks) };
    return this.#mission;
  }

  spendingToChange(): SpendingScene {
    if (this.#spending.owner !== this.#number) this.#spending = { ...this.#spending, owner: this.#number };
    return this.#spending;
  }

  count(what: 'sent' | 'settled' | 'failed', atMs: number): void {
    if (this.#rates.owner !== this.#number) {
      const { second, sent, settled, failed } = this.#rates;
      this.#rates = {
        owner: this.#number,
        second,
        sent: [...sent],
        settled: [...settled],
        failed: [...failed],
      };
    }
    const rates = this.#rates;
    const second = Math.floor(atMs / 1_000);
    if (second > rates.second) {
      for (const counts of [rates.sent, rates.settled, rates.failed]) clear(counts, rates.second, second);
      rates.second = second;
    }
    if (second > rates.second - RATE_SECONDS && second >= 0) add(rates[what], second);
  }

  note(list: 'security' | 'failures' | 'lives' | 'swarmNotes', event: WatchedEvent, text: string): void {
    this[list] = appended(this[list], noteOf(event, text));
  }

  noteDeadLetter(letter: DeadLetterScene): void {
    this.deadLetters = appended(this.deadLetters, letter);
    this.deadLetterTotal += 1;
  }

  #own<T extends { owner: number }>(
    map: Map<string, T>,
    id: string,
    copyOf: (one: T) => T = (one) => ({ ...one }),
  ): T | undefined {
    const found = map.get(id);
    if (found === undefined || found.owner === this.#number) return found;
    const own = copyOf(found);
    own.owner = this.#number;
    map.set(id, own);
    return own;
  }
}

export function noteOf(event: WatchedEvent, text: string): Note {
  const { timestamp, type, errorCode, agentId, targetAgentId, place, taint, stack, success } = event;
  return {
    atMs: timestamp,
    type,
    text,
    code: errorCode,
    agentId: agentId ?? event.recipient,
    targetAgentId,
    place,
    conversationId: conversationIdOf(event),
    taint,
    stack,
    success,
  };
}

export function countAgent(agent: AgentScene, atMs: number): void {
  const second = Math.floor(atMs / 1_000);
  if (second > agent.second) {
    clear(agent.perSecond, agent.second, second);
    agent.second = second;
  }
  if (second > agent.second - AGENT_RATE_SECONDS && second >= 0) add(agent.perSecond, second);
}

export const appended = <T>(list: readonly T[], one: T, max = MAX_NOTES): readonly T[] => [
  ...(list.length >= max ? list.slice(1 - max) : list),
  one,
];

function add(counts: number[], second: number): void {
  const at = second % counts.length;
  counts[at] = (counts[at] ?? 0) + 1;
}

/** Empties the places of the seconds that have begun since. */
function clear(counts: number[], since: number, until: number): void {
  const size = counts.length;
  for (let second = Math.max(since + 1, until - size + 1); second <= until; second++)
    counts[second % size] = 0;
}

function put<T>(map: Map<string, T>, key: string, value: T, max: number): void {
  if (map.size >= max)
    for (const first of map.keys()) {
      map.delete(first);
      break;
    }
  map.set(key, value);
}

const NO_FACTS: MachineScene['facts'] = new Map();

const copyAgent = (agent: AgentScene): AgentScene => ({ ...agent, perSecond: [...agent.perSecond] });

/** What the runtime's own senders are to a reader. */
const SYSTEM_NAMES: ReadonlyMap<string, string> = new Map([
  ['system/host', 'the host program'],
  ['system/loop', 'the mission loop'],
]);

function emptyAgent(id: string, owner: number, atMs: number): AgentScene {
  return {
    owner,
    id,
    name: SYSTEM_NAMES.get(id) ?? id,
    isSystem: isSystemId(id),
    tier: undefined,
    version: undefined,
    capabilities: [],
    place: undefined,
    node: undefined,
    pid: undefined,
    threadId: undefined,
    group: undefined,
    isolation: undefined,
    status: 'running',
    sinceMs: atMs,
    waiting: 0,
    capacity: undefined,
    restarts: 0,
    intensity: undefined,
    retryAtMs: undefined,
    parked: undefined,
    sent: 0,
    handled: 0,
    failed: 0,
    inHand: undefined,
    begun: 0,
    progress: undefined,
    lastError: undefined,
    lastSeenMs: atMs,
    taint: [],
    perSecond: Array.from({ length: AGENT_RATE_SECONDS }, () => 0),
    second: 0,
  };
}

/** The name of a place at its own node. */
export const nameAtNode = (place: string): string => place.slice(place.lastIndexOf('/') + 1);

/** What a place is, by its name. */
function kindOfPlace(place: string): string {
  const id = nameAtNode(place);
  if (id.startsWith('process-')) return 'process';
  if (id.startsWith('worker')) return 'worker';
  return ['host', 'control', 'relay', 'journal', 'peers'].includes(id) ? id : 'place';
}

const emptyTotals = (): Totals => ({
  owner: 0,
  events: 0,
  sent: 0,
  settled: 0,
  refused: 0,
  handled: 0,
  rejected: 0,
  expired: 0,
  deadLettered: 0,
  toolCalls: 0,
  modelCalls: 0,
});

const zeros = (): number[] => Array.from({ length: RATE_SECONDS }, () => 0);

const emptyRates = (): Rates => ({ owner: 0, second: 0, sent: zeros(), settled: zeros(), failed: zeros() });

const emptySpending = (): SpendingScene => ({
  owner: 0,
  tokens: 0,
  costUsd: 0,
  tokenLimit: undefined,
  costLimit: undefined,
  isTold: false,
  points: [],
});
