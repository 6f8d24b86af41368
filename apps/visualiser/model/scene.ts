import type { Conservation, NextTimer } from 'orrery';
import type { Intensity, StateNode, StatePeer } from './watch-state.ts';
import type { Fact } from './watched-event.ts';

/**
 * What is at one moment, as the events and states before it tell. Times are Unix milliseconds.
 *
 * - `position` how many entries of the recording it has taken in.
 * - `lastEntry` of them, in words.
 * - `waits`    who waits for whom: requests sent and not answered, by their envelopes.
 * - `nodes`    other nodes that are watched too, by their names.
 * - `leftOut`  how many events the server did not send, as it was under load.
 */
export interface Scene {
  readonly position: number;
  readonly atMs: number;
  readonly startedAtMs: number;
  readonly about: About;
  readonly agents: ReadonlyMap<string, Readonly<AgentScene>>;
  readonly places: ReadonlyMap<string, Readonly<PlaceScene>>;
  readonly peers: ReadonlyMap<string, Readonly<StatePeer>>;
  readonly nodes: ReadonlyMap<string, NodeScene>;
  readonly machines: ReadonlyMap<string, Readonly<MachineScene>>;
  readonly inFlight: ReadonlyMap<string, Readonly<InFlight>>;
  readonly edges: ReadonlyMap<string, Readonly<EdgeScene>>;
  readonly proposals: ReadonlyMap<string, Readonly<ProposalScene>>;
  readonly mission: Readonly<MissionScene> | undefined;
  readonly account: Conservation | undefined;
  readonly totals: Readonly<Totals>;
  readonly rates: Readonly<Rates>;
  readonly spending: Readonly<SpendingScene>;
  readonly deadLetters: readonly DeadLetterScene[];
  readonly deadLetterTotal: number;
  readonly security: readonly Note[];
  readonly failures: readonly Note[];
  readonly lives: readonly Note[];
  readonly swarmNotes: readonly Note[];
  readonly leftOut: number;
  readonly canUnlock: boolean;
}

/** What is recorded. */
export interface About {
  readonly name: string;
  readonly node: string;
  readonly root?: string;
  readonly seed?: number;
  readonly orrery?: string;
}

export interface AgentScene {
  owner: number;
  id: string;
  name: string;
  isSystem: boolean;
  tier: number | undefined;
  version: string | undefined;
  capabilities: readonly string[];
  place: string | undefined;
  node: string | undefined;
  pid: number | undefined;
  threadId: number | undefined;
  group: string | undefined;
  isolation: string | undefined;
  status: string;
  sinceMs: number;
  waiting: number;
  capacity: number | undefined;
  restarts: number;
  intensity: Intensity | undefined;
  retryAtMs: number | undefined;
  parked: string | undefined;
  sent: number;
  handled: number;
  failed: number;
  inHand: InHand | undefined;
  /** Envelopes that it has begun and not ended: while it waits, it may take others. */
  begun: number;
  progress: { readonly fraction: number; readonly text: string; readonly atMs: number } | undefined;
  lastError: { readonly atMs: number; readonly code: string; readonly text: string } | undefined;
  lastSeenMs: number;
  taint: readonly string[];
  /** Envelopes that it was done with in each of the last seconds, by `second % length`. */
  perSecond: number[];
  second: number;
}

/** What an agent's handler works at. */
export interface InHand {
  readonly envelopeId: string;
  readonly sender: string;
  readonly messageType: string | undefined;
  readonly capability: string | undefined;
  readonly conversationId: string | undefined;
  readonly sinceMs: number;
}

/** Another node that is watched too. `trouble`: why nothing new is known of it. */
export type NodeScene = Pick<StateNode, 'url' | 'trouble'>;

export interface PlaceScene {
  owner: number;
  id: string;
  kind: string;
  node: string | undefined;
  pid: number | undefined;
  threadId: number | undefined;
  isAlive: boolean;
  sinceMs: number;
  deaths: number;
  leftOut: number;
}

/**
 * An actor that is a state machine.
 *
 * - `state`   the names of the states it is in, as `pending.open` or `a.b c.d`.
 * - `isOver`  it is in a final state, or its agent has it no more.
 */
export interface MachineScene {
  owner: number;
  key: string;
  machine: string;
  actorId: string;
  agentId: string | undefined;
  place: string | undefined;
  parentId: string | undefined;
  state: string;
  sinceMs: number;
  beganAtMs: number;
  isOver: boolean;
  nextTimer: NextTimer | undefined;
  facts: ReadonlyMap<string, Fact>;
  steps: readonly MachineStep[];
  guards: readonly GuardFailure[];
  reassignments: number;
}

export interface MachineStep {
  readonly atMs: number;
  readonly event: string;
  readonly from: string;
  readonly to: string;
}

export interface GuardFailure {
  readonly atMs: number;
  readonly event: string;
  readonly guards: readonly string[];
}

/** An envelope that has no outcome yet. */
export interface InFlight {
  owner: number;
  envelopeId: string;
  /** Of another node, if one told of it first. */
  node: string | undefined;
  sender: string;
  recipient: string;
  messageType: string | undefined;
  capability: string | undefined;
  conversationId: string | undefined;
  sentAtMs: number;
  receivedAtMs: number | undefined;
  attempts: number;
  deadlineAtMs: number | undefined;
  isAnswered: boolean;
  counted: string | undefined;
}

export interface EdgeScene {
  owner: number;
  from: string;
  to: string;
  count: number;
  refused: number;
  lastMs: number;
}

export interface ProposalScene {
  owner: number;
  id: string;
  proposer: string | undefined;
  capability: string | undefined;
  conversationId: string | undefined;
  state: string;
  sinceMs: number;
  beganAtMs: number;
  deadlineAtMs: number | undefined;
  bids: number | undefined;
  assignee: string | undefined;
  notes: readonly Note[];
}

export interface MissionScene {
  owner: number;
  name: string;
  beganAtMs: number;
  endedAtMs: number | undefined;
  success: boolean | undefined;
  reason: string | undefined;
  /** Whose wish it is that nothing is begun; undefined while it goes on. */
  pausedBy: string | undefined;
  /** Nothing told of its tasks: they were guessed from the ids of conversations. */
  isGuessed: boolean;
  tasks: Map<string, TaskScene>;
}

export interface TaskScene {
  readonly id: string;
  readonly title: string | undefined;
  readonly state: string;
  readonly agentId: string | undefined;
  readonly attempts: number;
  readonly sinceMs: number;
  readonly reason: string | undefined;
  readonly gates: readonly GateScene[];
  readonly facts: ReadonlyMap<string, Fact>;
}

export interface GateScene {
  readonly name: string;
  readonly passed: boolean;
  readonly reason: string | undefined;
  readonly atMs: number;
}

export interface Totals {
  owner: number;
  events: number;
  sent: number;
  settled: number;
  refused: number;
  handled: number;
  rejected: number;
  expired: number;
  deadLettered: number;
  toolCalls: number;
  modelCalls: number;
}

/** Counts of the last seconds, by `second % length`; what is older than `second - length` is zero. */
export interface Rates {
  owner: number;
  second: number;
  sent: number[];
  settled: number[];
  failed: number[];
}

export interface SpendingScene {
  owner: number;
  tokens: number;
  costUsd: number;
  tokenLimit: number | undefined;
  costLimit: number | undefined;
  /** The states of the team say what is spent; then calls of models are not added up. */
  isTold: boolean;
  points: readonly SpendingPoint[];
}

export interface SpendingPoint {
  readonly atMs: number;
  readonly tokens: number;
  readonly costUsd: number;
}

export interface DeadLetterScene {
  readonly id: string | undefined;
  /** Where it is kept, if that is another node. */
  readonly node: string | undefined;
  readonly sender: string;
  readonly recipient: string;
  readonly type: string;
  readonly code: string;
  readonly reason: string;
  readonly atMs: number;
  readonly conversationId: string | undefined;
  readonly canReplay: boolean;
}

/** Something that happened and is worth telling, in words. */
export interface Note {
  readonly atMs: number;
  readonly type: string;
  readonly text: string;
  readonly code: string | undefined;
  readonly agentId: string | undefined;
  readonly targetAgentId: string | undefined;
  readonly place: string | undefined;
  readonly conversationId: string | undefined;
  readonly taint: readonly string[] | undefined;
  readonly stack: string | undefined;
  readonly success: boolean | undefined;
}

/** Seconds of which rates are kept: of all, and of each agent. */
export const RATE_SECONDS = 120;
export const AGENT_RATE_SECONDS = 30;

/** The counts of the last `seconds` up to `nowSecond`, oldest first. */
export function lastCounts(
  counts: readonly number[],
  { second, nowSecond, seconds }: { second: number; nowSecond: number; seconds: number },
): number[] {
  const size = counts.length;
  return Array.from({ length: Math.min(seconds, size) }, (_, at) => {
    const asked = nowSecond - Math.min(seconds, size) + 1 + at;
    return asked > second || asked <= second - size || asked < 0 ? 0 : (counts[asked % size] ?? 0);
  });
}

export const machineKey = (machine: string, of: string, actorId: string): string =>
  JSON.stringify([machine, of, actorId]);
