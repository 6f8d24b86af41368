import { createHash } from 'node:crypto';
import type { SystemEvent } from '../protocol/system-event.ts';

/** The fields of an event that are hashed: codes and ids, but no sentences, which may change between versions. */
const HASHED = [
  'type',
  'place',
  'agentId',
  'envelopeId',
  'sender',
  'recipient',
  'messageType',
  'correlationId',
  'capability',
  'targetAgentId',
  'outcome',
  'errorCode',
  'success',
  'attempt',
  'fraction',
  'channelId',
  'channelStatus',
] as const satisfies readonly (keyof SystemEvent)[];

const CHARACTERS_AT_ONCE = 65_536;

/** Records the events of a simulation in order, with a hash over them. */
export class TraceRecorder {
  readonly events: SystemEvent[] = [];
  readonly #hash = createHash('sha256');
  readonly #keeps: boolean;
  #text = '';

  constructor(keeps: boolean) {
    this.#keeps = keeps;
  }

  /** Adds an event. `atMs` is the virtual time, finer than the event's timestamp. */
  add(event: SystemEvent, atMs: number): void {
    if (this.#keeps) this.events.push(event);
    let text = `${Math.round(atMs * 1_000)}`;
    for (const field of HASHED) text += `|${event[field] ?? ''}`;
    this.#text += `${text}\n`;
    if (this.#text.length < CHARACTERS_AT_ONCE) return;
    this.#hash.update(this.#text);
    this.#text = '';
  }

  /** The hash of all events so far. */
  hash(): string {
    return this.#hash.copy().update(this.#text).digest('hex');
  }
}
