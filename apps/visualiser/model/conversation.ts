import { field, isRecord, listIn, numberIn, textIn } from './narrow.ts';
import { isSystemId, readTexts, requestOf, type WatchedEvent } from './watched-event.ts';

/** The exact sequence of a conversation. */
export interface Conversation {
  readonly id: string;
  readonly participants: readonly Participant[];
  readonly rows: readonly Row[];
  readonly firstMs: number;
  readonly lastMs: number;
  /** Events that are not shown, because there are too many. */
  readonly leftOut: number;
}

/** Somebody who takes part; `places` are the threads it was heard in, with the node if that is another one. */
export interface Participant {
  readonly id: string;
  readonly isSystem: boolean;
  readonly places: readonly string[];
}

export type Row = ArrowRow | NoteRow;

/**
 * An envelope from one to another.
 *
 * - `attempt`    which time it was begun; from 2 on the row is a retry.
 * - `outcome`    how it ended, or `refused` if it never went.
 * - `isAnswer`   it answers the request before it.
 */
export interface ArrowRow {
  readonly kind: 'arrow';
  readonly atMs: number;
  readonly envelopeId: string;
  readonly from: string;
  readonly to: string;
  readonly messageType: string;
  readonly capability: string | undefined;
  readonly attempt: number;
  readonly isAnswer: boolean;
  readonly receivedAtMs: number | undefined;
  readonly settledAtMs: number | undefined;
  readonly outcome: string | undefined;
  readonly code: string | undefined;
  readonly reason: string | undefined;
  readonly taint: readonly string[] | undefined;
  readonly budget: string | undefined;
  readonly deadlineAtMs: number | undefined;
}

/** Something that happened at one of them; `times` in a row. */
export interface NoteRow {
  readonly kind: 'note';
  readonly atMs: number;
  readonly agentId: string;
  readonly type: string;
  readonly text: string;
  readonly isBad: boolean;
  readonly times: number;
}

/** What a server says of an envelope, with its payload redacted. */
export interface RedactedEnvelope {
  readonly id: string;
  readonly budget: string | undefined;
  readonly deadlineAtMs: number | undefined;
  readonly taint: readonly string[] | undefined;
  /** All of it, as text to be shown. */
  readonly text: string;
}

const RANKS: Readonly<Record<string, number>> = {
  'message-sent': 0,
  'routing-decision': 1,
  'message-received': 2,
  'envelope-settled': 4,
};
const rankOf = ({ type }: WatchedEvent): number => RANKS[type] ?? 3;

/** Events of one conversation, in the order they were recorded in, as a sequence. */
export function conversationOf(id: string, events: readonly WatchedEvent[], leftOut = 0): Conversation {
  const sequence = new Sequence();
  // Between places only times compare; of one moment, an envelope is sent before it is taken.
  const sorted = events
    .map((event, at) => ({ event, at }))
    .sort(
      (one, other) =>
        one.event.timestamp - other.event.timestamp ||
        rankOf(one.event) - rankOf(other.event) ||
        one.at - other.at,
    );
  for (const { event } of sorted) sequence.take(event);
  const times = sorted.map(({ event }) => event.timestamp);
  return {
    id,
    participants: sequence.participants(),
    rows: sequence.rows(),
    firstMs: times[0] ?? 0,
    lastMs: times.at(-1) ?? 0,
    leftOut,
  };
}

type Writable<T> = { -readonly [field in keyof T]: T[field] };

class Sequence {
  readonly #rows: (Writable<ArrowRow> | Writable<NoteRow>)[] = [];
  readonly #arrows = new Map<string, Writable<ArrowRow>>();
  readonly #places = new Map<string, Set<string>>();

  rows(): readonly Row[] {
    return this.#rows;
  }

  participants(): readonly Participant[] {
    return [...this.#places].map(([id, places]) => ({ id, isSystem: isSystemId(id), places: [...places] }));
  }

  take(event: WatchedEvent): void {
    switch (event.type) {
      case 'message-sent':
        this.#sent(event);
        return;
      case 'routing-decision':
        this.#routed(event);
        return;
      case 'message-received':
        this.#received(event);
        return;
      case 'envelope-settled':
        this.#settled(event);
        return;
      case 'dead-letter':
        this.#ended(event, 'dead-lettered');
        return;
      default:
        this.#note(event);
    }
  }

  #sent(event: WatchedEvent): void {
    const { envelopeId } = event;
    if (envelopeId === undefined) return;
    this.#at(event.sender, event);
    const known = this.#arrows.get(keyOf(event));
    if (known === undefined) this.#draw(event);
    else known.atMs = Math.min(known.atMs, event.timestamp);
  }

  #draw(event: WatchedEvent, attempt = 1): Writable<ArrowRow> {
    const { envelopeId = '', sender = '', recipient = '', messageType = '', timestamp } = event;
    const to = event.targetAgentId ?? recipient;
    this.#join(sender);
    this.#join(to);
    const row: Writable<ArrowRow> = {
      kind: 'arrow',
      atMs: timestamp,
      envelopeId,
      from: sender,
      to,
      messageType,
      capability: event.capability,
      attempt,
      isAnswer: requestOf(envelopeId) !== undefined,
      receivedAtMs: undefined,
      settledAtMs: undefined,
      outcome: event.errorCode === undefined ? undefined : 'refused',
      code: event.errorCode,
      reason: event.reason,
      taint: event.taint,
      budget: undefined,
      deadlineAtMs: event.deadlineAtMs,
    };
    this.#rows.push(row);
    this.#arrows.set(keyOf(event), row);
    return row;
  }

  /** Where it went, or why it did not go. */
  #routed(event: WatchedEvent): void {
    const { targetAgentId, recipient, errorCode, success } = event;
    if (event.envelopeId === undefined) return;
    const isToOne = recipient !== '*';
    const row = this.#arrows.get(keyOf(event)) ?? this.#draw(event);
    if (errorCode !== undefined || success === false) {
      Object.assign(row, { outcome: 'refused', code: errorCode, reason: event.reason });
      return;
    }
    row.taint ??= event.taint;
    if (isToOne && targetAgentId !== undefined && row.to !== targetAgentId) {
      const named = row.to;
      this.#join(targetAgentId);
      row.to = targetAgentId;
      this.#leave(named);
    }
  }

  #received(event: WatchedEvent): void {
    if (event.envelopeId === undefined) return;
    const to = event.targetAgentId ?? event.recipient;
    this.#at(to, event);
    const first = this.#arrows.get(keyOf(event)) ?? this.#draw(event);
    const row = first.receivedAtMs === undefined ? first : this.#draw(event, first.attempt + 1);
    row.receivedAtMs = event.timestamp;
    row.taint ??= event.taint;
    if (event.recipient === '*' && to !== undefined && to !== '*' && row.to === '*') {
      // A broadcast is one arrow to each that takes it.
      this.#leave('*');
      this.#join(to);
      row.to = to;
      this.#arrows.delete(keyOf(event));
      this.#arrows.set(`${event.envelopeId} ${to}`, row);
    }
  }

  #settled(event: WatchedEvent): void {
    this.#ended(event, event.outcome ?? 'handled');
  }

  #ended(event: WatchedEvent, outcome: string): void {
    const { envelopeId, timestamp, errorCode, reason } = event;
    if (envelopeId === undefined) return;
    const id = event.targetAgentId ?? event.recipient ?? '';
    const row =
      this.#arrows.get(`${envelopeId} ${id}`) ?? this.#arrows.get(keyOf(event)) ?? this.#draw(event);
    row.settledAtMs = timestamp;
    row.outcome = row.outcome === 'dead-lettered' || row.outcome === 'refused' ? row.outcome : outcome;
    row.code ??= errorCode;
    row.reason ??= reason;
  }

  #note(event: WatchedEvent): void {
    const agentId = event.agentId ?? event.targetAgentId ?? event.recipient ?? event.sender;
    if (agentId === undefined) return;
    this.#at(agentId, event);
    if (event.type === 'error' && event.envelopeId !== undefined) this.#blame(event);
    const text = noteText(event);
    const last = this.#rows.at(-1);
    if (
      last?.kind === 'note' &&
      last.agentId === agentId &&
      last.type === event.type &&
      event.type === 'progress'
    ) {
      Object.assign(last, { text, times: last.times + 1 });
      return;
    }
    const isBad = event.errorCode !== undefined || event.success === false;
    this.#rows.push({
      kind: 'note',
      atMs: event.timestamp,
      agentId,
      type: event.type,
      text,
      isBad,
      times: 1,
    });
  }

  /** An error is the reason of how its envelope ends. */
  #blame(event: WatchedEvent): void {
    const row = this.#arrows.get(keyOf(event));
    if (row === undefined || event.outcome === undefined) return;
    row.code ??= event.errorCode;
    row.reason ??= event.reason;
  }

  #at(id: string | undefined, { place, node }: WatchedEvent): void {
    if (id === undefined) return;
    this.#join(id);
    if (place !== undefined) this.#places.get(id)?.add(node === undefined ? place : `${node} ${place}`);
  }

  #join(id: string): void {
    if (!this.#places.has(id)) this.#places.set(id, new Set());
  }

  /** Somebody whom no arrow names any more takes no part: a capability that was asked for, or everybody. */
  #leave(id: string): void {
    const isNamed = this.#rows.some((row) => row.kind === 'arrow' && (row.from === id || row.to === id));
    if (!isNamed || id === '*') this.#places.delete(id);
  }
}

/** An envelope to everybody is looked for by its id alone until somebody takes it. */
const keyOf = ({ envelopeId = '' }: WatchedEvent): string => envelopeId;

function noteText(event: WatchedEvent): string {
  const { type, reason, toolName, model, duration, fraction, tokens, costUsd, errorCode } = event;
  const took = duration === undefined ? '' : ` in ${Math.round(duration)} ms`;
  if (type === 'tool-invocation')
    return `tool ${toolName ?? '?'}${took}${event.success === false ? ' failed' : ''}`;
  if (type === 'model-call') {
    const spent = [
      tokens === undefined ? '' : `${tokens} tokens`,
      costUsd === undefined ? '' : `$${costUsd}`,
    ];
    return [`model ${model ?? '?'}${took}`, ...spent.filter((one) => one !== '')].join(', ');
  }
  if (type === 'progress') {
    const percent = fraction === undefined ? '' : `${Math.round(fraction * 100)} %`;
    return [percent, reason ?? ''].filter((one) => one !== '').join(' ');
  }
  if (type === 'error') return [errorCode ?? 'error', reason ?? ''].join(' ').trim();
  if (type === 'machine-step')
    return `${event.machine ?? 'machine'}: ${event.from ?? ''} → ${event.to ?? ''}`;
  return reason ?? type;
}

/** What a server's answer holds of envelopes, by their ids. */
export function readEnvelopes(value: unknown): ReadonlyMap<string, RedactedEnvelope> {
  const list = isRecord(value) ? listIn(value, 'envelopes', readEnvelope, 5_000) : [];
  return new Map(list.map((envelope) => [envelope.id, envelope]));
}

const MAX_TEXT = 32_768;

function readEnvelope(value: unknown): RedactedEnvelope | undefined {
  if (!isRecord(value)) return undefined;
  const id = textIn(value, 'id');
  if (id === undefined) return undefined;
  const metadata = isRecord(value['metadata']) ? value['metadata'] : {};
  return {
    id,
    budget: budgetText(metadata['budget']),
    deadlineAtMs: numberIn(metadata, 'deadlineAtMs'),
    taint: readTexts(metadata['taint']),
    text: JSON.stringify(value, undefined, 2).slice(0, MAX_TEXT),
  };
}

function budgetText(value: unknown): string | undefined {
  if (!isRecord(value)) return undefined;
  const { tokens, costUsd, hops } = {
    ...field('tokens', numberIn(value, 'tokens')),
    ...field('costUsd', numberIn(value, 'costUsd')),
    ...field('hops', numberIn(value, 'hops')),
  };
  const parts = [
    tokens === undefined ? '' : `${tokens} tokens`,
    costUsd === undefined ? '' : `$${costUsd}`,
    hops === undefined ? '' : `${hops} hops`,
  ].filter((one) => one !== '');
  return parts.length === 0 ? undefined : parts.join(', ');
}

/** The conversation with what its envelopes say of budget, deadline and taint. */
export function withEnvelopes(
  conversation: Conversation,
  envelopes: ReadonlyMap<string, RedactedEnvelope>,
): Conversation {
  if (envelopes.size === 0) return conversation;
  const rows = conversation.rows.map((row) => {
    const found = row.kind === 'arrow' ? envelopes.get(row.envelopeId) : undefined;
    if (row.kind !== 'arrow' || found === undefined) return row;
    const { budget, deadlineAtMs = row.deadlineAtMs, taint = row.taint } = found;
    return { ...row, budget, deadlineAtMs, taint };
  });
  return { ...conversation, rows };
}
