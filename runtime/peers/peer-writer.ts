import type { A2AChannel } from '../channels/a2a-channel.ts';
import { WrittenPayload } from '../channels/written-envelope.ts';
import { Fifo } from '../mailbox/fifo.ts';
import { SCHEMA_VERSION } from '../protocol/envelope.ts';
import { notSerialisable } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json.ts';
import type { Clock, NewId } from '../protocol/seams.ts';
import { MAX_MESSAGES, type PeerMessage, PEERS_ID } from './peer-message.ts';

/** Messages that go together take no more than this, or than a frame has room for, unless one alone does. */
const MAX_BATCH_BYTES = 65_536;
/** Envelopes that are not acknowledged yet; messages wait beyond them, and then go together. */
const MAX_UNDER_WAY = 32;
/** With so many under way, messages that fill no envelope wait for others, but no longer than so many milliseconds. */
const BUSY_UNDER_WAY = 2;
const LINGER_MS = 1;

export interface PeerWriterDeps {
  readonly clock: Pick<Clock, 'now' | 'setTimer'>;
  readonly newId: NewId;
  /** The largest message that the channel carries, in bytes. */
  readonly maxBytes: number;
  /** Something was not delivered and never will be: what the other end was told has a gap. */
  readonly onGap: (reason: string) => void;
}

/** A message as JSON. `bytes`: with what stands before it in a list. */
interface Waiting {
  readonly json: string;
  readonly bytes: number;
}

/**
 * Writes messages to a channel in the order in which they are given: all of one turn together, and in few envelopes when there is
 * much to say.
 */
export class PeerWriter {
  readonly #channel: A2AChannel;
  readonly #deps: PeerWriterDeps;
  readonly #maxBatchBytes: number;
  readonly #waiting = new Fifo<Waiting>();
  #waitingBytes = 0;
  #underWay = 0;
  #cancelLinger: (() => void) | undefined;
  #isPlanned = false;
  #isOver = false;
  #sequence = 0;

  constructor(channel: A2AChannel, deps: PeerWriterDeps) {
    this.#channel = channel;
    this.#deps = deps;
    this.#maxBatchBytes = Math.min(MAX_BATCH_BYTES, deps.maxBytes - ']'.length);
  }

  /** Messages that are not acknowledged. */
  get backlog(): number {
    return this.#waiting.length + this.#underWay;
  }

  /** Throws NOT_SERIALISABLE for what JSON cannot say, or what no frame has room for. */
  write(message: PeerMessage): void {
    const fault = findUnserialisable(message, message.type);
    if (fault !== undefined) throw notSerialisable(fault.path, fault.kind);
    const json = JSON.stringify(message);
    const bytes = Buffer.byteLength(json);
    if (bytes > this.#deps.maxBytes)
      throw notSerialisable(message.type, `${bytes} bytes, at most ${this.#deps.maxBytes}`);
    const waiting = { json, bytes: bytes + ','.length };
    this.#waiting.push(waiting);
    this.#waitingBytes += waiting.bytes;
    this.#plan();
  }

  /** Writes nothing more. */
  end(): void {
    this.#isOver = true;
    this.#cancelLinger?.();
  }

  #plan(): void {
    if (this.#isPlanned) return;
    this.#isPlanned = true;
    queueMicrotask(() => {
      this.#isPlanned = false;
      this.#sendAll();
    });
  }

  #sendAll(): void {
    while (this.#mayWrite) {
      if (this.#underWay >= BUSY_UNDER_WAY && !this.#fillsOne) return this.#linger();
      this.#sendBatch();
    }
  }

  get #mayWrite(): boolean {
    return !this.#isOver && this.#waiting.length > 0 && this.#underWay < MAX_UNDER_WAY;
  }

  get #fillsOne(): boolean {
    return this.#waitingBytes >= this.#maxBatchBytes || this.#waiting.length >= MAX_MESSAGES;
  }

  #linger(): void {
    this.#cancelLinger ??= this.#deps.clock.setTimer(LINGER_MS, () => {
      this.#cancelLinger = undefined;
      if (this.#mayWrite) this.#sendBatch();
    });
  }

  #sendBatch(): void {
    this.#cancelLinger?.();
    this.#cancelLinger = undefined;
    const messages: string[] = [];
    let bytes = 0;
    for (let next = this.#waiting.peek(); next !== undefined; next = this.#waiting.peek()) {
      if (messages.length > 0 && bytes + next.bytes > this.#maxBatchBytes) break;
      this.#waiting.shift();
      messages.push(next.json);
      bytes += next.bytes;
      if (messages.length === MAX_MESSAGES) break;
    }
    this.#waitingBytes -= bytes;
    this.#underWay += 1;
    const sent = this.#channel.send({
      id: this.#deps.newId(),
      schemaVersion: SCHEMA_VERSION,
      sender: PEERS_ID,
      recipient: PEERS_ID,
      type: 'notification',
      timestamp: this.#deps.clock.now(),
      payload: new WrittenPayload(`[${messages.join(',')}]`),
      session: { id: this.#channel.id, sequence: this.#sequence++ },
    });
    sent.then(
      () => {
        this.#underWay -= 1;
        if (this.#waiting.length > 0) this.#plan();
      },
      (error: Error) => {
        if (!this.#isOver) this.#deps.onGap(error.message);
      },
    );
  }
}
