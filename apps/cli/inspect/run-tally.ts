import {
  conversationIdOf,
  nameIn,
  requestOf,
  type Scene,
  SceneFold,
  type TraceHeader,
  type WatchedEvent,
  waitsOf,
} from '@orrery/visualiser/model';

/** Somebody who waited for an answer; `ended` says how it ended, if it did. */
export interface PastWait {
  readonly waiter: string;
  readonly awaited: string;
  readonly capability: string | undefined;
  readonly conversationId: string | undefined;
  readonly sinceMs: number;
  readonly ms: number;
  readonly ended: string | undefined;
}

/** The same thing that went wrong, so many times; `text` is that of the first time. */
export interface Mishap {
  readonly kind: string;
  readonly code: string | undefined;
  readonly text: string;
  readonly agentId: string | undefined;
  readonly conversationId: string | undefined;
  readonly firstMs: number;
  lastMs: number;
  times: number;
}

/** A conversation in a list. */
export interface Heard {
  readonly id: string;
  readonly firstMs: number;
  lastMs: number;
  events: number;
  wrong: number;
}

const MOST_WAITS = 10;
const MOST_MISHAPS = 200;
const MOST_CONVERSATIONS = 20_000;

/** What happened in a run, kept while its trace is read. It stays of one size, however long the run is. */
export class RunTally {
  readonly #fold: SceneFold;
  readonly #waits: PastWait[] = [];
  readonly #mishaps = new Map<string, Mishap>();
  readonly #conversations = new Map<string, Heard>();
  #firstMs: number | undefined;
  #unlisted = 0;

  constructor(header?: TraceHeader) {
    this.#fold = SceneFold.begin(header);
  }

  get scene(): Scene {
    return this.#fold.scene;
  }

  /** When the first event was; undefined before it. */
  get firstMs(): number | undefined {
    return this.#firstMs;
  }

  /** Things that went wrong and are of no kind of `mishaps`, for there are too many. */
  get unlisted(): number {
    return this.#unlisted;
  }

  /** What went wrong, the most serious first. */
  get mishaps(): readonly Mishap[] {
    return [...this.#mishaps.values()].sort(
      (one, other) => rankOf(one) - rankOf(other) || one.firstMs - other.firstMs,
    );
  }

  /** The conversations, those with most trouble first. */
  get conversations(): readonly Heard[] {
    return [...this.#conversations.values()].sort(
      (one, other) => other.wrong - one.wrong || other.events - one.events,
    );
  }

  /** Who waited, or still waits, the longest first. */
  get longestWaits(): readonly PastWait[] {
    const open = waitsOf(this.scene).map(({ waiter, awaited, capability, conversationId, sinceMs }) => {
      const ms = this.scene.atMs - sinceMs;
      return { waiter, awaited, capability, conversationId, sinceMs, ms, ended: undefined };
    });
    return [...this.#waits, ...open].sort((one, other) => other.ms - one.ms).slice(0, MOST_WAITS);
  }

  take(event: WatchedEvent): void {
    this.#firstMs ??= event.timestamp;
    this.#endWait(event);
    this.#fold.apply({ kind: 'event', event });
    const wrong = wrongOf(event, this.scene);
    if (wrong !== undefined) this.#note(wrong, event);
    this.#hear(event, wrong !== undefined);
  }

  /** Keeps how long somebody waited, when that ends: with the outcome of the request, or with its answer. */
  #endWait({ type, envelopeId, timestamp, outcome, errorCode }: WatchedEvent): void {
    if (envelopeId === undefined) return;
    const answered = type === 'message-sent' ? requestOf(envelopeId) : undefined;
    const isEnd = type === 'envelope-settled' || type === 'dead-letter';
    const id = answered ?? (isEnd ? envelopeId : undefined);
    const request = id === undefined ? undefined : this.scene.inFlight.get(id);
    if (request === undefined || request.isAnswered) return;
    if (request.messageType !== 'request' && request.messageType !== 'stream-start') return;
    const ms = timestamp - request.sentAtMs;
    if (this.#waits.length >= MOST_WAITS && ms <= (this.#waits.at(-1)?.ms ?? 0)) return;
    const { sender: waiter, recipient: awaited, capability, conversationId, sentAtMs: sinceMs } = request;
    const ending =
      answered !== undefined || outcome === 'handled' ? 'answered' : (outcome ?? 'dead-lettered');
    const ended = errorCode === undefined ? ending : `${ending} ${errorCode}`;
    this.#waits.push({ waiter, awaited, capability, conversationId, sinceMs, ms, ended });
    this.#waits.sort((one, other) => other.ms - one.ms);
    this.#waits.length = Math.min(this.#waits.length, MOST_WAITS);
  }

  #note({ kind, text, agentId }: Wrong, event: WatchedEvent): void {
    const { errorCode: code, timestamp } = event;
    const key = JSON.stringify([kind, code, agentId]);
    const known = this.#mishaps.get(key);
    if (known !== undefined) {
      known.times += 1;
      known.lastMs = timestamp;
      return;
    }
    if (this.#mishaps.size >= MOST_MISHAPS) {
      this.#unlisted += 1;
      return;
    }
    this.#mishaps.set(key, {
      ...{ kind, code, text, agentId, conversationId: conversationIdOf(event) },
      ...{ firstMs: timestamp, lastMs: timestamp, times: 1 },
    });
  }

  #hear(event: WatchedEvent, isWrong: boolean): void {
    const id = conversationIdOf(event);
    if (id === undefined) return;
    const { timestamp } = event;
    let known = this.#conversations.get(id);
    if (known === undefined) {
      if (this.#conversations.size >= MOST_CONVERSATIONS) this.#forget();
      known = { id, firstMs: timestamp, lastMs: timestamp, events: 0, wrong: 0 };
      this.#conversations.set(id, known);
    }
    known.events += 1;
    known.lastMs = Math.max(known.lastMs, timestamp);
    if (isWrong) known.wrong += 1;
  }

  /** Forgets the half of the conversations that is the least worth telling. */
  #forget(): void {
    const kept = this.conversations.slice(0, MOST_CONVERSATIONS / 2);
    this.#conversations.clear();
    for (const one of kept) this.#conversations.set(one.id, one);
  }
}

interface Wrong {
  readonly kind: string;
  readonly text: string;
  readonly agentId: string | undefined;
}

const RANKS = ['gave up', 'parked', 'thread died', 'task', 'crash', 'dead letter', 'security', 'watchdog'];

function rankOf({ kind }: Mishap): number {
  const at = RANKS.indexOf(kind);
  return at < 0 ? RANKS.length : at;
}

/** Types of events of which each tells of something wrong, and what that is called. */
const WRONG: Readonly<Record<string, string>> = {
  'agent-failed': 'gave up',
  'agent-parked': 'parked',
  'agent-crashed': 'crash',
  'place-died': 'thread died',
  'dead-letter': 'dead letter',
  error: 'error',
  watchdog: 'watchdog',
  fault: 'fault',
};
/** Types of events that tell of something wrong unless they say `success`. */
const WRONG_UNLESS_DONE: ReadonlySet<string> = new Set(['warning', 'journal', 'history', 'peer-negotiated']);

/** What is wrong by an event; undefined if nothing is. */
function wrongOf(event: WatchedEvent, scene: Scene): Wrong | undefined {
  const { type, agentId, targetAgentId, recipient, reason, errorCode, success, step, task } = event;
  const text = reason ?? errorCode ?? type;
  const name = nameIn(scene, agentId ?? targetAgentId ?? recipient ?? '');
  if (type === 'routing-decision') {
    if (errorCode === undefined && success !== false) return undefined;
    const kind = event.security === true ? 'security' : 'refusal';
    const to = targetAgentId ?? recipient;
    const sender = nameIn(scene, event.sender ?? 'somebody');
    return {
      kind,
      text: `${sender} may not send to ${nameIn(scene, to ?? 'somebody')}: ${text}`,
      agentId: to,
    };
  }
  if (type === 'mission')
    return step === 'task-failed' || step === 'task-blocked'
      ? { kind: 'task', text: `${task ?? 'a task'} ${step.slice('task-'.length)}: ${text}`, agentId }
      : undefined;
  if (type === 'dead-letter') {
    const to = targetAgentId ?? recipient;
    return { kind: 'dead letter', text: `to ${nameIn(scene, to ?? 'nobody')}: ${text}`, agentId: to };
  }
  const kind = Object.hasOwn(WRONG, type) ? WRONG[type] : undefined;
  if (kind !== undefined) return { kind, text: name === '' ? text : `${name}: ${text}`, agentId };
  if (WRONG_UNLESS_DONE.has(type) && success !== true)
    return { kind: type, text, agentId: agentId ?? targetAgentId };
  return event.security === true ? { kind: 'security', text, agentId } : undefined;
}
