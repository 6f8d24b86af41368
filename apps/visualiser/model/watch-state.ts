import {
  capped,
  field,
  flagIn,
  isRecord,
  listIn,
  momentIn,
  numberIn,
  textIn,
  type Untrusted,
} from './narrow.ts';
import type { Conservation, NextTimer } from 'orrery';
import type { MissionBoard, WatchedBudget, WatchedLetter } from 'orrery/gateway';
import {
  type Fact,
  machineIdOf,
  readEvent,
  readFacts,
  readTexts,
  readTimer,
  type WatchedEvent,
} from './watched-event.ts';

/** What the whole team is at one moment, as a server of `/watch/state` says it. */
export interface WatchState {
  readonly nowMs: number;
  readonly node: string;
  readonly name: string;
  readonly orrery: string;
  readonly startedAtMs: number;
  readonly canUnlock: boolean;
  readonly agents: readonly StateAgent[];
  readonly places: readonly StatePlace[];
  readonly peers: readonly StatePeer[];
  readonly account: Conservation | undefined;
  readonly deadLetters: { readonly total: number; readonly last: readonly WatchedLetter[] };
  readonly mission: StateMission | undefined;
  readonly nodes: readonly StateNode[];
  /** The last events before it, in order. */
  readonly recent: readonly WatchedEvent[];
}

export interface StateAgent {
  readonly id: string;
  readonly name?: string;
  readonly version?: string;
  readonly tier?: number;
  readonly capabilities: readonly string[];
  readonly place?: string;
  readonly node?: string;
  readonly pid?: number;
  readonly threadId?: number;
  readonly status?: string;
  readonly waiting?: number;
  readonly capacity?: number;
  readonly restarts?: number;
  readonly intensity?: Intensity;
  readonly lastError?: string;
  readonly retryAtMs?: number;
  readonly group?: string;
  readonly isolation?: string;
  readonly parked?: string;
  readonly actors?: readonly StateActor[];
}

/** How many restarts its supervisor has seen of how many it allows within that time. */
export interface Intensity {
  readonly restarts: number;
  readonly maxRestarts: number;
  readonly withinMs: number;
}

export interface StateActor {
  readonly id: string;
  readonly machine: string;
  readonly state: string;
  readonly sinceMs?: number;
  readonly nextTimer?: NextTimer;
  readonly facts?: ReadonlyMap<string, Fact>;
  readonly children: readonly StateActor[];
}

export interface StatePlace {
  readonly id: string;
  readonly kind: string;
  readonly pid?: number;
  readonly threadId?: number;
}

export interface StatePeer {
  readonly node: string;
  readonly status: string;
  readonly sinceMs?: number;
  readonly tier?: number;
  readonly transport?: string;
  readonly address?: string;
  readonly roundTripMs?: number;
  readonly agents: readonly string[];
  readonly asked?: number;
  readonly served?: number;
}

/** Another node that is watched too. `trouble`: why nothing new is known of it. */
export interface StateNode {
  readonly url: string;
  readonly node?: string;
  readonly trouble?: string;
  readonly agents: readonly StateAgent[];
  readonly places: readonly StatePlace[];
}

export interface StateMission {
  readonly name: string;
  readonly pausedBy?: string;
  readonly tasks: MissionBoard['tasks'];
  readonly tokens?: WatchedBudget;
  readonly costUsd?: WatchedBudget;
}

const MAX_AGENTS = 20_000;
const MAX_DEPTH = 6;

/** The state of a team as far as it can be read; undefined if it is none. */
export function readState(value: unknown): WatchState | undefined {
  if (!isRecord(value) || value['format'] !== 'orrery-watch' || value['version'] !== 1) return undefined;
  const nowMs = momentIn(value, 'nowMs');
  if (nowMs === undefined) return undefined;
  const letters = isRecord(value['deadLetters']) ? value['deadLetters'] : {};
  return {
    nowMs,
    node: textIn(value, 'node') ?? 'this node',
    name: textIn(value, 'name') ?? 'a team',
    orrery: textIn(value, 'orrery') ?? '',
    startedAtMs: momentIn(value, 'startedAtMs') ?? nowMs,
    canUnlock: value['canUnlock'] === true,
    agents: listIn(value, 'agents', readAgent, MAX_AGENTS),
    places: listIn(value, 'places', readPlace),
    peers: listIn(value, 'peers', readPeer),
    account: readAccount(value['account']),
    deadLetters: {
      total: numberIn(letters, 'total') ?? 0,
      last: listIn(letters, 'last', readDeadLetter, 200),
    },
    mission: readMission(value['mission']),
    nodes: listIn(value, 'nodes', readNode, 64),
    recent: listIn(value, 'recent', readEvent),
  };
}

function readAgent(value: unknown): StateAgent | undefined {
  if (!isRecord(value)) return undefined;
  const id = textIn(value, 'id');
  if (id === undefined) return undefined;
  return {
    id,
    ...texts(value, ['name', 'version', 'place', 'node', 'status', 'isolation']),
    ...numbers(value, ['tier', 'pid', 'threadId', 'waiting', 'capacity', 'restarts', 'retryAtMs']),
    ...field('lastError', textIn(value, 'lastError', 2_000)),
    ...field('intensity', readIntensity(value['supervision'])),
    ...field('group', isRecord(value['supervision']) ? textIn(value['supervision'], 'group') : undefined),
    ...field('parked', isRecord(value['parked']) ? textIn(value['parked'], 'reason', 2_000) : undefined),
    capabilities: readTexts(value['capabilities']) ?? [],
    ...(Array.isArray(value['actors'])
      ? { actors: listIn(value, 'actors', (one) => readActor(one, 0)) }
      : {}),
  };
}

function readIntensity(value: unknown): Intensity | undefined {
  if (!isRecord(value)) return undefined;
  const maxRestarts = numberIn(value, 'maxRestarts');
  const withinMs = numberIn(value, 'withinMs');
  if (maxRestarts === undefined || withinMs === undefined) return undefined;
  return { restarts: numberIn(value, 'restarts') ?? 0, maxRestarts, withinMs };
}

function readActor(value: unknown, depth: number): StateActor | undefined {
  if (!isRecord(value) || depth > MAX_DEPTH) return undefined;
  const id = textIn(value, 'id');
  const machine = textIn(value, 'machine');
  const state = textIn(value, 'state');
  if (id === undefined || machine === undefined || state === undefined) return undefined;
  return {
    id,
    machine: machineIdOf(machine),
    state,
    ...numbers(value, ['sinceMs']),
    ...field('nextTimer', readTimer(value['nextTimer'])),
    ...field('facts', readFacts(value['facts'])),
    children: listIn(value, 'children', (one) => readActor(one, depth + 1)),
  };
}

function readPlace(value: unknown): StatePlace | undefined {
  if (!isRecord(value)) return undefined;
  const id = textIn(value, 'id');
  if (id === undefined) return undefined;
  return { id, kind: textIn(value, 'kind') ?? 'worker', ...numbers(value, ['pid', 'threadId']) };
}

function readPeer(value: unknown): StatePeer | undefined {
  if (!isRecord(value)) return undefined;
  const node = textIn(value, 'node');
  if (node === undefined) return undefined;
  return {
    node,
    status: textIn(value, 'status') ?? 'unknown',
    ...texts(value, ['transport', 'address']),
    ...numbers(value, ['sinceMs', 'tier', 'roundTripMs', 'asked', 'served']),
    agents: readTexts(value['agents']) ?? [],
  };
}

function readNode(value: unknown): StateNode | undefined {
  if (!isRecord(value)) return undefined;
  const url = textIn(value, 'url');
  if (url === undefined) return undefined;
  return {
    url,
    ...texts(value, ['node']),
    ...field('trouble', textIn(value, 'trouble', 2_000)),
    agents: listIn(value, 'agents', readAgent, MAX_AGENTS),
    places: listIn(value, 'places', readPlace),
  };
}

function readAccount(value: unknown): Conservation | undefined {
  if (!isRecord(value)) return undefined;
  const of = (name: string): number => numberIn(value, name) ?? 0;
  return {
    accepted: of('accepted'),
    handled: of('handled'),
    rejected: of('rejected'),
    expired: of('expired'),
    deadLettered: of('deadLettered'),
    inFlight: of('inFlight'),
    holds: value['holds'] !== false,
  };
}

function readDeadLetter(value: unknown): WatchedLetter | undefined {
  if (!isRecord(value)) return undefined;
  return {
    ...field('id', textIn(value, 'id')),
    sender: textIn(value, 'sender') ?? '',
    recipient: textIn(value, 'recipient') ?? '',
    type: textIn(value, 'type') ?? '',
    code: textIn(value, 'code') ?? '',
    reason: textIn(value, 'reason', 2_000) ?? '',
    atMs: momentIn(value, 'atMs') ?? 0,
    canReplay: value['canReplay'] === true,
  };
}

function readMission(value: unknown): StateMission | undefined {
  if (!isRecord(value)) return undefined;
  const budget = isRecord(value['budget']) ? value['budget'] : {};
  return {
    name: textIn(value, 'name') ?? 'a mission',
    ...texts(value, ['pausedBy']),
    tasks: listIn(value, 'tasks', readTask),
    ...field('tokens', readSpending(budget['tokens'])),
    ...field('costUsd', readSpending(budget['costUsd'])),
  };
}

function readTask(value: unknown): MissionBoard['tasks'][number] | undefined {
  if (!isRecord(value)) return undefined;
  const id = textIn(value, 'id');
  if (id === undefined) return undefined;
  return {
    id,
    ...texts(value, ['title', 'agentId']),
    state: textIn(value, 'state') ?? 'waiting',
    attempts: numberIn(value, 'attempts') ?? 0,
    gates: listIn(value, 'gates', (gate) => {
      if (!isRecord(gate)) return undefined;
      const name = textIn(gate, 'name');
      const passed = flagIn(gate, 'passed');
      if (name === undefined || passed === undefined) return undefined;
      return { name, passed, ...field('reason', textIn(gate, 'reason', 2_000)) };
    }),
  };
}

function readSpending(value: unknown): WatchedBudget | undefined {
  if (!isRecord(value)) return undefined;
  const spent = numberIn(value, 'spent');
  return spent === undefined ? undefined : { spent, ...field('limit', numberIn(value, 'limit')) };
}

function texts<K extends string>(value: Untrusted, names: readonly K[]): { readonly [name in K]?: string } {
  const found: { [name in K]?: string } = {};
  for (const name of names) {
    const text = value[name];
    if (typeof text === 'string') found[name] = capped(text, 256);
  }
  return found;
}

function numbers<K extends string>(value: Untrusted, names: readonly K[]): { readonly [name in K]?: number } {
  const found: { [name in K]?: number } = {};
  for (const name of names) {
    const number = numberIn(value, name);
    if (number !== undefined) found[name] = number;
  }
  return found;
}
