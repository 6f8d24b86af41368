import { conversationOf, type Conversation } from './conversation.ts';
import { type Entry, SceneFold, timeOf } from './fold-scene.ts';
import type { Scene } from './scene.ts';
import type { TraceHeader } from './trace-header.ts';
import { TraceEvents, type TraceFault, TraceReader } from './trace-reader.ts';
import type { WatchState } from './watch-state.ts';
import { conversationIdOf, type WatchedEvent } from './watched-event.ts';

/**
 * - `maxLive`        how much of a live team is kept: each event counts 1, a state of the team 1 and as much as it has agents.
 * - `checkpoints`    how many scenes are kept to begin from.
 * - `checkpointEach` entries between two of them, at first.
 */
export interface RecordingOptions {
  readonly maxLive?: number;
  readonly checkpoints?: number;
  readonly checkpointEach?: number;
}

/** A conversation in a list. */
export interface ConversationSummary {
  readonly id: string;
  readonly events: number;
  readonly firstMs: number;
  readonly lastMs: number;
  readonly capability: string | undefined;
  readonly from: string | undefined;
  readonly to: string | undefined;
  readonly troubles: number;
}

interface Known {
  readonly id: string;
  readonly number: number;
  events: number;
  firstMs: number;
  lastMs: number;
  capability: string | undefined;
  from: string | undefined;
  to: string | undefined;
  troubles: number;
}

interface Checkpoint {
  readonly position: number;
  readonly fold: SceneFold;
}

const NONE = 0;
const MAX_CONVERSATIONS = 200_000;

/**
 * All that was recorded of a team, in order: a trace that was opened, or what a live team says, of which the oldest is dropped
 * when it becomes too much.
 *
 * An entry has a number, from `first` to `length - 1`. A scene stands before or after one: `sceneAt(n)` is what is when the first
 * `n` entries have happened.
 */
export class Recording {
  readonly isLive: boolean;
  readonly #maxLive: number;
  readonly #maxCheckpoints: number;
  #each: number;
  #header: TraceHeader | undefined;
  readonly #trace = new TraceEvents();
  #entries: Entry[] = [];
  #dropped = 0;
  #weight = 0;
  #fold: SceneFold;
  #checkpoints: Checkpoint[] = [];
  #cursor: SceneFold | undefined;
  #times = new Float64Array(1_024);
  #conversationNumbers = new Uint32Array(1_024);
  readonly #conversations = new Map<string, Known>();
  #lastNumber = NONE;
  #changes = 0;
  #reader: TraceReader | undefined;

  private constructor(isLive: boolean, options: RecordingOptions) {
    this.isLive = isLive;
    this.#maxLive = options.maxLive ?? 200_000;
    this.#maxCheckpoints = options.checkpoints ?? (isLive ? 64 : 128);
    this.#each = options.checkpointEach ?? 1_000;
    this.#fold = SceneFold.begin();
    this.#checkpoints.push({ position: 0, fold: this.#fold.copy() });
  }

  static live(options: RecordingOptions = {}): Recording {
    return new Recording(true, options);
  }

  /** A recording to be filled from a trace, and the reader that fills it. */
  static ofTrace(options: RecordingOptions = {}): {
    readonly recording: Recording;
    readonly reader: TraceReader;
  } {
    const recording = new Recording(false, options);
    const reader: TraceReader = new TraceReader({
      header: (header) => recording.#takeHeader(header),
      event: (event, line) => {
        recording.#trace.push(line);
        recording.#append({ kind: 'event', event });
      },
    });
    recording.#reader = reader;
    return { recording, reader };
  }

  get header(): TraceHeader | undefined {
    return this.#header;
  }

  /** What could not be read of the trace. */
  get faults(): readonly TraceFault[] {
    return this.#reader?.faults ?? [];
  }

  /** Lines of the trace that were left out. */
  get leftOutLines(): number {
    return this.#reader?.leftOut ?? 0;
  }

  /** The number of the first entry that is still kept: so many were dropped. */
  get first(): number {
    return this.#dropped;
  }

  /** How many entries there were. */
  get length(): number {
    return this.isLive ? this.#dropped + this.#entries.length : this.#trace.length;
  }

  /** Grows with every entry. */
  get changes(): number {
    return this.#changes;
  }

  appendEvents(events: readonly WatchedEvent[]): void {
    for (const event of events) this.#appendLive({ kind: 'event', event });
  }

  appendState(state: WatchState): void {
    this.#appendLive({ kind: 'state', state });
  }

  entryAt(index: number): Entry | undefined {
    if (this.isLive) return this.#entries[index - this.#dropped];
    const event = this.#trace.at(index);
    return event === undefined ? undefined : { kind: 'event', event };
  }

  /** What is now. It stays as it is only until more is appended. */
  get latest(): Scene {
    return this.#fold.scene;
  }

  /** The scene after the first `position` entries, or the nearest that is kept. It stays as it is until the next is asked for. */
  sceneAt(position: number): Scene {
    const to = Math.min(this.length, Math.max(this.#dropped, Math.floor(position)));
    if (to === this.length) return this.#fold.scene;
    const fold = this.#foldBefore(to);
    while (fold.position < to) {
      const entry = this.entryAt(fold.position);
      if (entry === undefined) break;
      fold.apply(entry);
    }
    this.#cursor = fold;
    return fold.scene;
  }

  /** The position after the last entry that had happened by this moment. */
  positionAtMs(atMs: number): number {
    let low = this.#dropped;
    let high = this.length;
    while (low < high) {
      const middle = (low + high) >> 1;
      if (this.timeAt(middle) <= atMs) low = middle + 1;
      else high = middle;
    }
    return low;
  }

  /** By when an entry had happened: never before the ones before it. */
  timeAt(index: number): number {
    return this.#times[index - this.#dropped] ?? 0;
  }

  get firstMs(): number {
    return this.length > this.#dropped ? this.timeAt(this.#dropped) : this.latest.startedAtMs;
  }

  get lastMs(): number {
    return this.length > this.#dropped ? this.timeAt(this.length - 1) : this.latest.atMs;
  }

  /** How many entries happened in each of `parts` equal parts of the time. */
  density(parts: number): number[] {
    const counts = Array.from({ length: parts }, () => 0);
    const from = this.firstMs;
    const span = Math.max(1, this.lastMs - from);
    for (let index = this.#dropped; index < this.length; index++) {
      const part = Math.min(parts - 1, Math.floor(((this.timeAt(index) - from) / span) * parts));
      counts[part] = (counts[part] ?? 0) + 1;
    }
    return counts;
  }

  /** The conversations of which something is kept, those that were heard of last first. */
  conversations({ max = 200, agentId, text = '' }: ConversationQuery = {}): readonly ConversationSummary[] {
    const found: Known[] = [];
    const wanted = text.toLowerCase();
    for (const one of this.#conversations.values()) {
      if (agentId !== undefined && one.from !== agentId && one.to !== agentId) continue;
      if (wanted !== '' && !`${one.id} ${one.capability ?? ''}`.toLowerCase().includes(wanted)) continue;
      found.push(one);
    }
    return found.sort((one, other) => other.lastMs - one.lastMs).slice(0, max);
  }

  get conversationCount(): number {
    return this.#conversations.size;
  }

  /** The exact sequence of a conversation, up to a position; undefined if nothing of it is kept. */
  conversation(id: string, until = this.length): Conversation | undefined {
    const known = this.#conversations.get(id);
    if (known === undefined) return undefined;
    const events: WatchedEvent[] = [];
    let left = 0;
    const end = Math.min(until, this.length) - this.#dropped;
    for (let at = 0; at < end; at++) {
      if (this.#conversationNumbers[at] !== known.number) continue;
      if (events.length >= MAX_EVENTS_OF_ONE) {
        left += 1;
        continue;
      }
      const entry = this.entryAt(at + this.#dropped);
      if (entry?.kind === 'event') events.push(entry.event);
    }
    return conversationOf(id, events, left);
  }

  #takeHeader(header: TraceHeader): void {
    this.#header = header;
    this.#fold = SceneFold.begin(header);
    this.#checkpoints = [{ position: 0, fold: this.#fold.copy() }];
    // What stood before the header, in a broken trace, has happened before it all the same.
    for (let index = 0; index < this.#trace.length; index++) {
      const entry = this.entryAt(index);
      if (entry !== undefined) this.#fold.apply(entry);
    }
  }

  #appendLive(entry: Entry): void {
    this.#entries.push(entry);
    this.#weight += weightOf(entry);
    this.#append(entry);
    if (this.#weight > this.#maxLive) this.#dropOldest();
  }

  #append(entry: Entry): void {
    const at = this.length - 1 - this.#dropped;
    if (at >= this.#times.length) {
      this.#times = grown(this.#times, new Float64Array(at * 2));
      this.#conversationNumbers = grown(this.#conversationNumbers, new Uint32Array(at * 2));
    }
    this.#times[at] = Math.max(timeOf(entry), at === 0 ? 0 : (this.#times[at - 1] ?? 0));
    this.#conversationNumbers[at] = entry.kind === 'event' ? this.#index(entry.event) : NONE;
    this.#fold.apply(entry);
    this.#changes += 1;
    const last = this.#checkpoints.at(-1)?.position ?? 0;
    if (this.#fold.position - last >= this.#each) this.#checkpoint();
  }

  /** Keeps the scene of this moment; of too many, every second one goes. */
  #checkpoint(): void {
    this.#checkpoints.push({ position: this.#fold.position, fold: this.#fold.copy() });
    if (this.#checkpoints.length <= this.#maxCheckpoints) return;
    this.#checkpoints = this.#checkpoints.filter((_, at) => at % 2 === 0);
    this.#each *= 2;
  }

  #foldBefore(position: number): SceneFold {
    const cursor = this.#cursor;
    let best = this.#checkpoints[0];
    for (const one of this.#checkpoints) if (one.position <= position) best = one;
    if (cursor !== undefined && cursor.position <= position && cursor.position >= (best?.position ?? 0))
      return cursor;
    return best?.fold.copy() ?? SceneFold.begin(this.#header);
  }

  /** Drops what is before the checkpoint that leaves enough: scenes before it cannot be made again. */
  #dropOldest(): void {
    const next = this.#checkpoints[Math.max(1, Math.floor(this.#checkpoints.length / 4))];
    if (next === undefined) return;
    const gone = next.position - this.#dropped;
    const kept = this.#entries.slice(gone);
    this.#entries = kept;
    this.#weight = kept.reduce((sum, entry) => sum + weightOf(entry), 0);
    this.#times.copyWithin(0, gone, gone + kept.length);
    this.#conversationNumbers.copyWithin(0, gone, gone + kept.length);
    this.#dropped = next.position;
    this.#checkpoints = this.#checkpoints.filter(({ position }) => position >= next.position);
    if (this.#cursor !== undefined && this.#cursor.position < this.#dropped) this.#cursor = undefined;
    this.#forgetConversations();
  }

  /** Forgets the conversations of which nothing is kept. */
  #forgetConversations(): void {
    const firstMs = this.firstMs;
    for (const [id, { lastMs }] of this.#conversations) if (lastMs < firstMs) this.#conversations.delete(id);
  }

  #index(event: WatchedEvent): number {
    const id = conversationIdOf(event);
    if (id === undefined) return NONE;
    const known = this.#conversations.get(id) ?? this.#enter(id, event);
    if (known === undefined) return NONE;
    known.events += 1;
    known.lastMs = Math.max(known.lastMs, event.timestamp);
    known.capability ??= event.capability;
    known.from ??= event.sender ?? event.agentId;
    known.to ??= event.targetAgentId ?? event.recipient;
    if (isTrouble(event)) known.troubles += 1;
    return known.number;
  }

  #enter(id: string, { timestamp }: WatchedEvent): Known | undefined {
    if (this.#conversations.size >= MAX_CONVERSATIONS) return undefined;
    const known: Known = {
      id,
      number: ++this.#lastNumber,
      events: 0,
      firstMs: timestamp,
      lastMs: timestamp,
      capability: undefined,
      from: undefined,
      to: undefined,
      troubles: 0,
    };
    this.#conversations.set(id, known);
    return known;
  }
}

export interface ConversationQuery {
  readonly max?: number;
  readonly agentId?: string;
  readonly text?: string;
}

/** A conversation with more is shown up to there. */
const MAX_EVENTS_OF_ONE = 20_000;

const isTrouble = ({ errorCode, type, outcome }: WatchedEvent): boolean =>
  errorCode !== undefined || type === 'dead-letter' || (outcome !== undefined && outcome !== 'handled');

function weightOf(entry: Entry): number {
  if (entry.kind === 'event') return 1;
  const { agents, nodes } = entry.state;
  return nodes.reduce((sum, node) => sum + node.agents.length, 1 + agents.length);
}

function grown<T extends Float64Array | Uint32Array>(from: T, into: T): T {
  into.set(from);
  return into;
}
