import { durationText } from './durations.ts';
import type { AgentScene, InFlight, Scene, TaskScene } from './scene.ts';
import { orderFor, taskState } from './task-state.ts';

/**
 * Something that is wrong or may become so, in a sentence.
 *
 * - `level`   `bad`: it is broken now. `warning`: it may need somebody. `note`: worth knowing.
 * - `sinceMs`, `untilMs` Unix milliseconds, if they are known.
 */
export interface Trouble {
  readonly key: string;
  readonly level: 'bad' | 'warning' | 'note';
  readonly kind: string;
  readonly text: string;
  readonly sinceMs: number | undefined;
  readonly untilMs: number | undefined;
  readonly agentId: string | undefined;
  readonly conversationId: string | undefined;
}

/** Who waits for whom. */
export interface Wait {
  readonly envelopeId: string;
  readonly waiter: string;
  readonly awaited: string;
  readonly capability: string | undefined;
  readonly conversationId: string | undefined;
  readonly sinceMs: number;
  readonly untilMs: number | undefined;
  /** It is being worked at; else it is in the mailbox. */
  readonly isBegun: boolean;
  readonly attempts: number;
}

/** A wait of this many milliseconds is worth a line; one of that many a warning. */
const LONG_WAIT_MS = 5_000;
const VERY_LONG_WAIT_MS = 30_000;
/** Nothing was heard of it for so long. */
const QUIET_MS = 10_000;
/** An agent that has not been heard of for so long while it works may be stuck. */
const STALLED_MS = 30_000;
/** What happened longer ago is not the trouble of this moment. */
const RECENT_MS = 60_000;
const FULL = 0.8;

const WAITED_FOR: ReadonlySet<string> = new Set(['request', 'stream-start']);

/** Who waits for whom, the longest first. */
export function waitsOf(scene: Scene): readonly Wait[] {
  const waits: Wait[] = [];
  for (const one of scene.inFlight.values()) if (isWait(one)) waits.push(waitOf(one));
  return waits.sort((one, other) => one.sinceMs - other.sinceMs);
}

const isWait = ({ messageType, isAnswered }: InFlight): boolean =>
  !isAnswered && messageType !== undefined && WAITED_FOR.has(messageType);

const waitOf = (one: InFlight): Wait => ({
  envelopeId: one.envelopeId,
  waiter: one.sender,
  awaited: one.recipient,
  capability: one.capability,
  conversationId: one.conversationId,
  sinceMs: one.sentAtMs,
  untilMs: one.deadlineAtMs,
  isBegun: one.receivedAtMs !== undefined,
  attempts: one.attempts,
});

const LEVELS = { bad: 0, warning: 1, note: 2 } as const;

/** What is wrong, the worst first. */
export function troublesOf(scene: Scene, waits: readonly Wait[] = waitsOf(scene)): readonly Trouble[] {
  const found = [
    ...agentTroubles(scene),
    ...placeTroubles(scene),
    ...circles(scene, waits),
    ...waitTroubles(scene, waits),
    ...missionTroubles(scene),
    ...letterTroubles(scene),
    ...noteTroubles(scene),
    ...nodeTroubles(scene),
    ...peerTroubles(scene),
    ...accountTroubles(scene),
  ];
  return found.sort(
    (one, other) => LEVELS[one.level] - LEVELS[other.level] || (other.sinceMs ?? 0) - (one.sinceMs ?? 0),
  );
}

type Said = Pick<Trouble, 'key' | 'level' | 'kind' | 'text'> & Partial<Trouble>;

const trouble = (said: Said): Trouble => ({
  sinceMs: undefined,
  untilMs: undefined,
  agentId: undefined,
  conversationId: undefined,
  ...said,
});

export const nameIn = (scene: Scene, id: string): string => scene.agents.get(id)?.name ?? id;

function agentTroubles(scene: Scene): Trouble[] {
  return [...scene.agents.values()].flatMap((agent) => {
    const found = [statusTrouble(agent), stalledTrouble(scene, agent), fullTrouble(agent), taintNote(agent)];
    return found.filter((one) => one !== undefined);
  });
}

function statusTrouble(agent: AgentScene): Trouble | undefined {
  const { id, name, status, sinceMs, lastError, parked, restarts } = agent;
  const about = { key: `status ${id}`, agentId: id, sinceMs };
  const why = lastError === undefined ? '' : `: ${lastError.text}`;
  if (status === 'failed')
    return trouble({
      ...about,
      level: 'bad',
      kind: 'gave up',
      text: `${name} gave up${restarts === 0 ? '' : ` after ${restarts} restarts`}${why}`,
    });
  if (status === 'parked')
    return trouble({
      ...about,
      level: 'bad',
      kind: 'parked',
      text: `${name} is parked: ${parked ?? 'its code cannot go on with its state'}`,
    });
  if (status === 'restarting')
    return trouble({
      ...about,
      level: 'warning',
      kind: 'restarting',
      text: `${name} is being started again${why}`,
    });
  return undefined;
}

function stalledTrouble(scene: Scene, agent: AgentScene): Trouble | undefined {
  const { id, name, inHand, lastSeenMs, status, isSystem } = agent;
  if (inHand === undefined || isSystem || status !== 'running') return undefined;
  const quietMs = scene.atMs - Math.max(lastSeenMs, inHand.sinceMs);
  if (quietMs < STALLED_MS) return undefined;
  // Whoever waits for somebody else is not stuck itself.
  for (const one of scene.inFlight.values()) if (one.sender === id && isWait(one)) return undefined;
  return trouble({
    key: `stalled ${id}`,
    level: 'warning',
    kind: 'stalled',
    text: `${name} works at ${inHand.capability ?? inHand.messageType ?? 'an envelope'} and has said nothing for ${durationText(quietMs)}`,
    sinceMs: inHand.sinceMs,
    agentId: id,
    conversationId: inHand.conversationId,
  });
}

function fullTrouble({ id, name, waiting, capacity }: AgentScene): Trouble | undefined {
  if (capacity === undefined || capacity <= 0 || waiting < capacity * FULL) return undefined;
  return trouble({
    key: `full ${id}`,
    level: waiting >= capacity ? 'bad' : 'warning',
    kind: 'mailbox',
    text: `The mailbox of ${name} is ${waiting >= capacity ? 'full' : 'nearly full'}: ${waiting} of ${capacity}`,
    agentId: id,
  });
}

function taintNote({ id, name, taint }: AgentScene): Trouble | undefined {
  if (taint.length === 0) return undefined;
  const text = `${name} holds text from outside (tainted): ${taint.join(', ')}`;
  return trouble({ key: `taint ${id}`, level: 'note', kind: 'taint', text, agentId: id });
}

const placeTroubles = (scene: Scene): Trouble[] =>
  [...scene.places.values()]
    .filter(({ isAlive }) => !isAlive)
    .map(({ id, sinceMs }) =>
      trouble({
        key: `place ${id}`,
        level: 'bad',
        kind: 'thread',
        text: `The thread ${id} died and is not back`,
        sinceMs,
      }),
    );

/** Agents that wait for each other in a circle get no further by themselves. */
function circles(scene: Scene, waits: readonly Wait[]): Trouble[] {
  const next = new Map<string, Wait>();
  for (const wait of waits) if (!next.has(wait.waiter)) next.set(wait.waiter, wait);
  const done = new Set<string>();
  const found: Trouble[] = [];
  for (const start of next.keys()) {
    const path: string[] = [];
    for (let at: string | undefined = start; at !== undefined && !done.has(at); at = next.get(at)?.awaited) {
      const before = path.indexOf(at);
      if (before >= 0) {
        const circle = path.slice(before);
        const sinceMs = Math.max(...circle.map((id) => next.get(id)?.sinceMs ?? 0));
        // For a moment everybody may ask everybody: call-backs are answered while one waits.
        if (scene.atMs - sinceMs > LONG_WAIT_MS)
          found.push(
            trouble({
              key: `circle ${circle.join(' ')}`,
              level: 'bad',
              kind: 'circle of waits',
              text: `${[...circle, circle[0] ?? ''].map((id) => nameIn(scene, id)).join(' waits for ')}`,
              sinceMs,
              agentId: circle[0],
            }),
          );
        break;
      }
      path.push(at);
    }
    for (const id of path) done.add(id);
  }
  return found;
}

function waitTroubles(scene: Scene, waits: readonly Wait[]): Trouble[] {
  return waits.flatMap((wait) => {
    const ms = scene.atMs - wait.sinceMs;
    if (ms < LONG_WAIT_MS) return [];
    const over = wait.untilMs !== undefined && wait.untilMs < scene.atMs;
    const what = wait.capability === undefined ? '' : ` (${wait.capability})`;
    return [
      trouble({
        key: `wait ${wait.envelopeId}`,
        level: over || (ms >= VERY_LONG_WAIT_MS && isQuiet(scene, wait.awaited)) ? 'warning' : 'note',
        kind: 'wait',
        text: `${nameIn(scene, wait.waiter)} has waited ${durationText(ms)} for ${nameIn(scene, wait.awaited)}${what}`,
        sinceMs: wait.sinceMs,
        untilMs: wait.untilMs,
        agentId: wait.awaited,
        conversationId: wait.conversationId,
      }),
    ];
  });
}

/** Whoever says how far it is does not keep others waiting for nothing. */
function isQuiet(scene: Scene, agentId: string): boolean {
  const agent = scene.agents.get(agentId);
  return agent === undefined || scene.atMs - agent.lastSeenMs >= QUIET_MS;
}

function missionTroubles({ mission }: Scene): Trouble[] {
  if (mission === undefined) return [];
  const paused =
    mission.pausedBy === undefined
      ? []
      : [
          trouble({
            key: 'paused',
            level: 'warning',
            kind: 'mission',
            text: `The mission is paused by ${mission.pausedBy}: 'orrery continue' has it go on`,
          }),
        ];
  const tasks = [...mission.tasks.values()].flatMap((task) => {
    const order = orderFor(task);
    if (order !== undefined) return [heldTrouble(task, order)];
    const { level, says } = taskState(task.state);
    if (says === undefined || (level !== 'bad' && level !== 'warning')) return [];
    const why = task.reason === undefined ? '' : `: ${task.reason}`;
    return [
      trouble({
        key: `task ${task.id}`,
        level,
        kind: 'task',
        text: `The task ${task.id} ${says}${why}`,
        sinceMs: task.sinceMs,
        agentId: task.agentId,
      }),
    ];
  });
  return [...paused, ...tasks];
}

const heldTrouble = ({ id, sinceMs, agentId }: TaskScene, order: string): Trouble =>
  trouble({
    key: `task ${id}`,
    level: 'warning',
    kind: 'held',
    text: `The task ${id} waits until somebody approves it: '${order}'`,
    sinceMs,
    agentId,
  });

/** Dead letters of one reason to one agent are one trouble. */
function letterTroubles(scene: Scene): Trouble[] {
  const groups = new Map<string, { count: number; last: Scene['deadLetters'][number] }>();
  for (const letter of scene.deadLetters) {
    if (letter.atMs < scene.atMs - RECENT_MS) continue;
    const key = `${letter.code} ${letter.recipient}`;
    groups.set(key, { count: (groups.get(key)?.count ?? 0) + 1, last: letter });
  }
  return [...groups].map(([key, { count, last }]) =>
    trouble({
      key: `letter ${key}`,
      level: 'warning',
      kind: 'dead letter',
      text: `${count === 1 ? 'A letter' : `${count} letters`} to ${nameIn(scene, last.recipient)} reached nobody: ${last.reason || last.code}`,
      sinceMs: last.atMs,
      agentId: last.recipient,
      conversationId: last.conversationId,
    }),
  );
}

/** The last security events and failures, each text once. */
function noteTroubles(scene: Scene): Trouble[] {
  const found = new Map<string, Trouble>();
  const add = (kind: string, level: Trouble['level'], notes: Scene['security']): void => {
    for (const note of notes) {
      if (note.atMs < scene.atMs - RECENT_MS) continue;
      const { atMs: sinceMs, agentId, conversationId, place } = note;
      // Of a thread that hangs only the event says which one it is.
      const text = note.type === 'watchdog' && place !== undefined ? `${place}: ${note.text}` : note.text;
      const key = `${kind} ${agentId ?? ''} ${text}`;
      found.set(key, trouble({ key, level, kind, text, sinceMs, agentId, conversationId }));
    }
  };
  add('security', 'warning', scene.security);
  add(
    'failure',
    'warning',
    scene.failures.filter((note) => !scene.security.includes(note)),
  );
  return [...found.values()].sort((one, other) => (other.sinceMs ?? 0) - (one.sinceMs ?? 0)).slice(0, 50);
}

const nodeTroubles = (scene: Scene): Trouble[] =>
  [...scene.nodes].flatMap(([node, { trouble: reason }]) => {
    if (reason === undefined) return [];
    const text = `Nothing new is known of the node ${node}: ${reason}`;
    return [trouble({ key: `node ${node}`, level: 'warning', kind: 'node', text })];
  });

const peerTroubles = (scene: Scene): Trouble[] =>
  [...scene.peers.values()].flatMap(({ node, status, sinceMs }) => {
    if (status === 'up') return [];
    const level = status === 'lost' || status === 'revoked' ? 'bad' : 'warning';
    return [
      trouble({ key: `peer ${node}`, level, kind: 'node', text: `The node ${node} is ${status}`, sinceMs }),
    ];
  });

function accountTroubles({ account, leftOut, mission }: Scene): Trouble[] {
  const found: Trouble[] = [];
  if (account?.holds === false)
    found.push(
      trouble({
        key: 'account',
        level: 'bad',
        kind: 'account',
        text: 'The count of envelopes does not add up: some are unaccounted for',
      }),
    );
  if (leftOut > 0)
    found.push(
      trouble({
        key: 'left out',
        level: 'note',
        kind: 'left out',
        text: `${leftOut} events were left out under load: what is shown here is a sample`,
      }),
    );
  if (mission?.success === false)
    found.push(
      trouble({
        key: 'mission',
        level: 'bad',
        kind: 'mission',
        text: `The mission ${mission.name} failed${mission.reason === undefined ? '' : `: ${mission.reason}`}`,
        sinceMs: mission.endedAtMs,
      }),
    );
  return found;
}

/** More of one kind than this are told of together. */
const MANY = 3;

/** The same for a reader with little room: many troubles of one kind and level are one. */
export function groupedTroubles(troubles: readonly Trouble[]): readonly Trouble[] {
  const groups = new Map<string, Trouble[]>();
  for (const one of troubles) {
    const key = `${one.level} ${one.kind}`;
    groups.set(key, [...(groups.get(key) ?? []), one]);
  }
  return [...groups].flatMap(([key, group]) => {
    const [first] = group;
    if (first === undefined || group.length <= MANY) return group;
    const text = `${first.text}; and ${group.length - 1} more like this`;
    return [{ ...first, key, text, agentId: undefined, conversationId: undefined }];
  });
}
