import type { MachineDrawing } from 'orrery/machines';
import {
  type Conversation,
  groupedTroubles,
  Recording,
  type RedactedEnvelope,
  readDrawing,
  readEnvelopes,
  rowText,
  type Scene,
  SEQUENCE,
  sentenceOf,
  sequenceHead,
  sequenceRow,
  sequenceSize,
  sequenceMermaid,
  sequenceSvg,
  troublesOf,
  type WatchedEvent,
  type WatchState,
  waitsOf,
  withEnvelopes,
} from '../model/index.ts';
import type {
  Body,
  ClockLook,
  ConversationLook,
  GraphLook,
  Look,
  Moment,
  Query,
  RowDetail,
  SourceLook,
  SummaryLook,
  TimeLook,
} from './look.ts';
import { agentLook } from './look-agent.ts';
import { graphLook, type Sight, systemLook } from './look-system.ts';
import { fieldText, timeLook } from './look-time.ts';
import { troubleLook, workLook } from './look-work.ts';
import { proofOf, type StreamStatus, WatchStream } from './watch-stream.ts';

/** What the recorder has of the world; a test gives others. */
export interface RecorderDeps {
  readonly fetch: (path: string, init: RequestInit) => Promise<Response>;
  readonly setTimer: (callback: () => void, ms: number) => () => void;
  readonly now: () => number;
}

/** How the replay of a dead letter went. */
export interface ReplayAnswer {
  readonly accepted: boolean;
  readonly text: string;
}

const DENSITY_PARTS = 200;
const MAX_SUMMARY_TROUBLES = 6;
/** How long a machine of a live team is shown before another one may be. */
const SHOWN_MS = 3_000;
const MAX_CONVERSATIONS = 1_000;
/** Bytes that are read of a trace before others get their turn. */
const READ_AT_ONCE = 512 * 1024;

/** What is open in place of the live team. */
interface OpenTrace {
  readonly recording: Recording;
  readonly name: string;
  readonly bytes: number;
  read: number;
  isOpening: boolean;
}

/**
 * Has the recording, live or of a trace, and answers what a page wants to see of it. It lives in a worker: a page never holds
 * more than what it shows.
 */
export class Recorder {
  readonly #deps: RecorderDeps;
  #token: string | undefined;
  #stream: WatchStream | undefined;
  #status: StreamStatus | undefined;
  #live: Recording | undefined;
  #trace: OpenTrace | undefined;
  #shown: { readonly key: string | undefined; readonly atMs: number } = { key: undefined, atMs: 0 };
  #drawnAgents: ReadonlySet<string> = new Set();
  #gaps = 0;
  #newestMs = 0;
  #recent: { readonly atMs: number; readonly count: number }[] = [];
  readonly #drawings = new Map<string, MachineDrawing>();
  readonly #envelopes = new Map<string, ReadonlyMap<string, RedactedEnvelope>>();
  #density: { changes: number; counts: readonly number[]; recording: Recording | undefined } = {
    changes: -1,
    counts: [],
    recording: undefined,
  };
  #conversation: { key: string; value: Conversation } | undefined;

  /** `bundled` are the system's own machines, for traces that do not bring theirs. */
  constructor(deps: RecorderDeps, bundled: readonly MachineDrawing[]) {
    this.#deps = deps;
    for (const drawing of bundled) this.#drawings.set(` ${drawing.id}`, drawing);
  }

  /** `token`: '' tries without. */
  connect(token: string): void {
    this.#stream?.stop();
    this.#token = token;
    this.#stream = new WatchStream(token, {
      fetch: this.#deps.fetch,
      setTimer: this.#deps.setTimer,
      onStatus: (status) => {
        // Whoever has no token yet has not given a wrong one.
        const isAsked = token === '' && status.state === 'wrong-token';
        this.#status = isAsked ? undefined : status;
      },
      onState: (state, isFirst) => this.#takeState(state, isFirst),
      onEvents: (events) => this.#takeEvents(events),
    });
    this.#stream.start();
  }

  disconnect(): void {
    this.#stream?.stop();
    this.#stream = undefined;
  }

  /** Opens a trace in place of the live team, and reads it in pieces. */
  async openTrace(file: Blob, name: string): Promise<void> {
    const { recording, reader } = Recording.ofTrace();
    const trace: OpenTrace = { recording, name, bytes: file.size, read: 0, isOpening: true };
    this.#trace = trace;
    for (let at = 0; at < file.size; at += READ_AT_ONCE) {
      const piece = await file.slice(at, at + READ_AT_ONCE).arrayBuffer();
      // Another one was opened, or none is wanted any more.
      if (this.#trace !== trace) return;
      reader.push(new Uint8Array(piece));
      trace.read = Math.min(file.size, at + READ_AT_ONCE);
    }
    reader.end();
    trace.isOpening = false;
  }

  backToLive(): void {
    this.#trace = undefined;
  }

  look(query: Query, moment: Moment): Look {
    const recording = this.#recording();
    const scene = this.#sceneAt(recording, moment);
    const waits = waitsOf(scene);
    const troubles = troublesOf(scene, waits);
    const sight: Sight = { scene, waits, troubles };
    return {
      source: this.#source(scene),
      clock: this.#clock(recording, scene, moment),
      summary: summaryOf(sight),
      body: this.#body(query, sight, recording, moment.kind === 'follow' && this.#trace === undefined),
    };
  }

  /** The look and a key that stands for it; nothing if the key is known already: then there is nothing new to see. */
  lookIfChanged(
    query: Query,
    moment: Moment,
    knownKey: string,
  ): { readonly look: Look; readonly key: string } | undefined {
    const { changes } = this.#recording();
    const half = this.#trace === undefined ? Math.floor(this.#deps.now() / 500) : 0;
    const opened =
      this.#trace === undefined ? '' : `${this.#trace.name} ${this.#trace.read} ${this.#trace.isOpening}`;
    const key = JSON.stringify([query, moment, changes, opened, half, this.#status, this.#envelopes.size]);
    return key === knownKey ? undefined : { look: this.look(query, moment), key };
  }

  /** The position of the next entry, or of the one before, that is worth stopping at. */
  step(from: number, by: 1 | -1): number {
    const recording = this.#recording();
    return Math.min(recording.length, Math.max(recording.first, from + by));
  }

  drawing(machine: string, agentId: string | undefined): MachineDrawing | undefined {
    const headed = this.#trace?.recording.header?.machines ?? [];
    return (
      headed.find((one) => one.id === machine && one.agentId === agentId) ??
      headed.find((one) => one.id === machine) ??
      this.#drawings.get(`${agentId ?? ''} ${machine}`) ??
      this.#drawings.get(` ${machine}`) ??
      // An agent's logic may be known by its agent alone.
      headed.find((one) => one.agentId !== undefined && one.agentId === agentId && machine === agentId)
    );
  }

  /** What there is to know of one row of a conversation. */
  async rowDetail(conversationId: string, at: number, moment: Moment): Promise<RowDetail | undefined> {
    const recording = this.#recording();
    const until = this.#sceneAt(recording, moment).position;
    const row = recording.conversation(conversationId, until)?.rows[at];
    if (row === undefined) return undefined;
    const fields = Object.entries(row)
      .filter(([name, value]) => value !== undefined && name !== 'kind')
      .map(([name, value]) => [name, fieldText(value)] as const);
    if (row.kind === 'note') return { title: rowText(row), fields, envelope: undefined, why: undefined };
    if (this.#trace !== undefined)
      return { title: rowText(row), fields, envelope: undefined, why: 'A trace holds no payloads.' };
    const envelopes = await this.#fetchEnvelopes(conversationId);
    const envelope = envelopes?.get(row.envelopeId)?.text;
    const why = envelope === undefined ? 'The team has this envelope no more.' : undefined;
    return { title: rowText(row), fields, envelope, why };
  }

  /** A conversation for a file. */
  exportConversation(id: string, as: 'svg' | 'mermaid'): string | undefined {
    const found = this.#conversationAt(id, this.#recording().length);
    if (found === undefined) return undefined;
    return as === 'svg' ? sequenceSvg(found) : sequenceMermaid(found);
  }

  async replay(deadLetterId: string, unlock: string): Promise<ReplayAnswer> {
    if (this.#token === undefined) return { accepted: false, text: 'No team is connected.' };
    try {
      const response = await this.#deps.fetch(
        `/watch/dead-letters/${encodeURIComponent(deadLetterId)}/replay`,
        {
          method: 'POST',
          headers: { ...proofOf(this.#token), 'x-orrery-unlock': unlock },
        },
      );
      if (response.ok) return { accepted: true, text: 'It was sent again.' };
      return {
        accepted: false,
        text: REPLAY_REFUSALS.get(response.status) ?? `The team answered ${response.status}.`,
      };
    } catch (error) {
      return { accepted: false, text: error instanceof Error ? error.message : String(error) };
    }
  }

  #recording(): Recording {
    if (this.#trace !== undefined) return this.#trace.recording;
    this.#live ??= Recording.live();
    return this.#live;
  }

  #sceneAt(recording: Recording, moment: Moment): Scene {
    if (moment.kind === 'follow') return recording.latest;
    return recording.sceneAt(moment.kind === 'time' ? recording.positionAtMs(moment.atMs) : moment.position);
  }

  #body(query: Query, sight: Sight, recording: Recording, isFollowing: boolean): Body {
    switch (query.view) {
      case 'system':
        return systemLook(sight, query);
      case 'graph':
        return this.#graphLook(sight);
      case 'agent':
        return agentLook(sight, recording, query.id);
      case 'conversations': {
        const { text, window } = query;
        const first = Math.max(0, window.first);
        const found = recording.conversations({ text, max: MAX_CONVERSATIONS });
        const conversations = found.slice(first, first + window.count);
        return {
          view: 'conversations',
          conversations,
          first,
          found: found.length,
          total: recording.conversationCount,
        };
      }
      case 'conversation':
        return this.#conversationLook(query, sight.scene);
      case 'work':
        return workLook(sight);
      case 'trouble':
        return troubleLook(sight);
      case 'time':
        return this.#timeLook(sight.scene, recording, isFollowing);
    }
  }

  /** Of a live team that is followed, the same machine is shown for a while: else nobody could look at it. */
  #timeLook(scene: Scene, recording: Recording, isFollowing: boolean): TimeLook {
    if (!isFollowing) return timeLook(scene, recording);
    const isDue = this.#deps.now() - this.#shown.atMs > SHOWN_MS;
    const look = timeLook(scene, recording, { isFollowing, ...(isDue ? {} : { key: this.#shown.key }) });
    if (isDue) this.#shown = { key: look.machine?.key, atMs: this.#deps.now() };
    return look;
  }

  #graphLook(sight: Sight): GraphLook {
    const look = graphLook(sight, this.#drawnAgents);
    this.#drawnAgents = new Set(look.nodes.map(({ id }) => id));
    return look;
  }

  #conversationAt(id: string, position: number): Conversation | undefined {
    const recording = this.#recording();
    const key = JSON.stringify([id, position, this.#trace?.name ?? '', this.#envelopes.get(id)?.size ?? 0]);
    if (this.#conversation?.key === key) return this.#conversation.value;
    const found = recording.conversation(id, position);
    if (found === undefined) return undefined;
    const value = withEnvelopes(found, this.#envelopes.get(id) ?? new Map());
    this.#conversation = { key, value };
    return value;
  }

  #conversationLook(
    { id, window }: Query & { readonly view: 'conversation' },
    { position }: Scene,
  ): ConversationLook {
    const found = this.#conversationAt(id, position);
    if (found !== undefined && this.#trace === undefined && !this.#envelopes.has(id))
      void this.#fetchEnvelopes(id);
    const first = Math.max(0, window.first);
    const rows = found?.rows.slice(first, first + window.count) ?? [];
    return {
      view: 'conversation',
      id,
      isKnown: found !== undefined,
      participants: found?.participants ?? [],
      width: found === undefined ? SEQUENCE.left : sequenceSize(found).width,
      head: found === undefined ? [] : sequenceHead(found),
      rows: rows.map((row, at) => ({
        at: first + at,
        drawing: sequenceRow(found as Conversation, row, first + at),
        text: rowText(row),
        envelopeId: row.kind === 'arrow' ? row.envelopeId : undefined,
        isBad: row.kind === 'note' ? row.isBad : row.outcome !== undefined && row.outcome !== 'handled',
      })),
      first,
      total: found?.rows.length ?? 0,
      leftOut: found?.leftOut ?? 0,
      firstMs: found?.firstMs ?? 0,
      lastMs: found?.lastMs ?? 0,
      troubles:
        found?.rows.filter(
          (row) => row.kind === 'arrow' && row.outcome !== undefined && row.outcome !== 'handled',
        ).length ?? 0,
    };
  }

  /** What the team has of a conversation's envelopes; undefined if it does not answer. */
  async #fetchEnvelopes(id: string): Promise<ReadonlyMap<string, RedactedEnvelope> | undefined> {
    this.#envelopes.set(id, this.#envelopes.get(id) ?? new Map());
    const value = await this.#fetchJson(`/watch/conversations/${encodeURIComponent(id)}`);
    if (value === undefined) return this.#envelopes.get(id);
    const envelopes = readEnvelopes(value);
    this.#envelopes.set(id, envelopes);
    if (this.#envelopes.size > 50)
      for (const first of this.#envelopes.keys()) {
        this.#envelopes.delete(first);
        break;
      }
    return envelopes;
  }

  async #fetchJson(path: string): Promise<unknown> {
    try {
      const response = await this.#deps.fetch(path, {
        headers: proofOf(this.#token ?? ''),
      });
      return response.ok ? ((await response.json()) as unknown) : undefined;
    } catch {
      return undefined;
    }
  }

  #takeState(state: WatchState, isFirst: boolean): void {
    this.#live ??= Recording.live();
    if (isFirst) {
      // What came before the connection was lost is there already.
      const missed = state.recent.filter(({ timestamp }) => timestamp > this.#newestMs);
      if (this.#live.length > 0) this.#gaps += 1;
      this.#takeEvents(missed);
      void this.#fetchDrawings();
    }
    this.#live.appendState({ ...state, recent: [] });
  }

  #takeEvents(events: readonly WatchedEvent[]): void {
    this.#live ??= Recording.live();
    this.#live.appendEvents(events);
    for (const { timestamp } of events) if (timestamp > this.#newestMs) this.#newestMs = timestamp;
    this.#recent.push({ atMs: this.#deps.now(), count: events.length });
  }

  async #fetchDrawings(): Promise<void> {
    const value = await this.#fetchJson('/watch/machines');
    const list =
      typeof value === 'object' && value !== null
        ? (value as { readonly machines?: unknown }).machines
        : undefined;
    if (!Array.isArray(list)) return;
    for (const one of list) {
      const drawing = readDrawing(one);
      if (drawing !== undefined) this.#drawings.set(`${drawing.agentId ?? ''} ${drawing.id}`, drawing);
    }
  }

  #source({ leftOut, about, canUnlock }: Scene): SourceLook {
    const trace = this.#trace;
    const hasLive = this.#status !== undefined;
    const common = { leftOut, name: about.name, gaps: this.#gaps, hasLive };
    if (trace !== undefined) {
      const { recording, name, bytes, read, isOpening } = trace;
      return {
        ...common,
        kind: 'trace',
        state: isOpening ? 'opening' : 'opened',
        text: isOpening ? `Opening ${name}` : `Opened ${name}`,
        eventsPerSecond: 0,
        dropped: 0,
        canUnlock: false,
        trace: {
          name,
          fraction: bytes === 0 ? 1 : read / bytes,
          isOpening,
          events: recording.length,
          faults: recording.faults,
          leftOutLines: recording.leftOutLines,
        },
      };
    }
    const status = this.#status;
    return {
      ...common,
      kind: hasLive ? 'live' : 'none',
      state: status?.state ?? 'none',
      text: statusText(status),
      eventsPerSecond: this.#eventsPerSecond(),
      dropped: this.#live?.first ?? 0,
      canUnlock: canUnlock && status?.state === 'connected',
      trace: undefined,
    };
  }

  /** The mean of the last five seconds. */
  #eventsPerSecond(): number {
    const since = this.#deps.now() - 5_000;
    this.#recent = this.#recent.filter(({ atMs }) => atMs >= since);
    return this.#recent.reduce((sum, { count }) => sum + count, 0) / 5;
  }

  #clock(recording: Recording, { position, atMs, startedAtMs }: Scene, moment: Moment): ClockLook {
    return {
      first: recording.first,
      length: recording.length,
      position,
      atMs: moment.kind === 'time' ? Math.max(atMs, moment.atMs) : atMs,
      firstMs: recording.firstMs,
      lastMs: recording.lastMs,
      startedAtMs: startedAtMs === 0 ? recording.firstMs : startedAtMs,
      isFollowing: moment.kind === 'follow',
      density: this.#densityOf(recording),
    };
  }

  /** Counted anew when there is a twentieth more. */
  #densityOf(recording: Recording): readonly number[] {
    const { changes, counts, recording: counted } = this.#density;
    if (counted === recording && recording.changes < changes * 1.05 + 1) return counts;
    this.#density = { changes: recording.changes, counts: recording.density(DENSITY_PARTS), recording };
    return this.#density.counts;
  }
}

const REPLAY_REFUSALS: ReadonlyMap<number, string> = new Map([
  [401, 'The token is not right.'],
  [403, 'The unlock token is not right: nothing was sent.'],
  [404, 'The team has this letter no more.'],
  [409, 'This letter cannot be sent again.'],
]);

function summaryOf({ scene, waits, troubles }: Sight): SummaryLook {
  return {
    sentence: sentenceOf(scene, waits, troubles),
    name: scene.about.name,
    troubles: groupedTroubles(troubles.filter(({ level }) => level !== 'note')).slice(
      0,
      MAX_SUMMARY_TROUBLES,
    ),
    bad: troubles.filter(({ level }) => level === 'bad').length,
    warnings: troubles.filter(({ level }) => level === 'warning').length,
  };
}

function statusText(status: StreamStatus | undefined): string {
  switch (status?.state) {
    case undefined:
      return 'Not connected to a team';
    case 'connecting':
      return 'Connecting';
    case 'connected':
      return 'Connected';
    case 'reconnecting':
      return `Connecting again, try ${status.attempt}: ${status.reason}`;
    case 'wrong-token':
      return 'The token is not right';
    case 'may-not-watch':
      return 'This token may not watch the team';
    case 'stopped':
      return 'Disconnected';
  }
}
