import type { Mail } from './mail.ts';

const RECORD_WORDS = 18;
const RECORDS = 1_024;
const IN_USE = 0;
const FLOW = 1;
const SEQUENCE = 2;
const TYPE_AND_LENGTH = 3;
const SENDER = 4;
const INCARNATION = 5;
const KEPT = 6;
const KEPT_HIGH = 7;
const ID_AT_BYTE = 32;
const HIGH = 2 ** 32;
const MAX_ID_BYTES = RECORD_WORDS * 4 - ID_AT_BYTE;

/**
 * An envelope that a dead thread held, as its shared record names it.
 *
 * - `incarnation`, `flow` of which flow it is.
 * - `senderSlot`          -1 if its sender has no slot.
 * - `kept`                its number in the journal; 0 if it is not kept there.
 */
export interface NamedMail {
  readonly incarnation: number;
  readonly flow: number;
  readonly sequence: number;
  readonly type: number;
  readonly senderSlot: number;
  readonly kept: number;
  readonly id: string;
}

/**
 * Names of envelopes in shared memory. Envelopes whose only copy is in this thread have one: when the thread dies, each is
 * dead-lettered under its own id. Those that it sent elsewhere and the journal has, too: when both threads die, they are read
 * from the journal. Ids are latin-1, cut at 40 bytes.
 */
export class MailNames {
  readonly #onSlab: (memory: SharedArrayBuffer) => void;
  readonly #slabs: { words: Int32Array; bytes: Uint8Array }[] = [];
  readonly #free: number[] = [];

  constructor(onSlab: (memory: SharedArrayBuffer) => void) {
    this.#onSlab = onSlab;
  }

  /** Writes the record of `mail`; returns its number, which `erase` takes. */
  write(mail: Mail, incarnation: number, flow: number, senderSlot: number): number {
    const record = this.#free.pop() ?? this.#grow();
    const slab = this.#slabs[Math.floor(record / RECORDS)] as { words: Int32Array; bytes: Uint8Array };
    const base = (record % RECORDS) * RECORD_WORDS;
    const { id } = mail;
    const length = Math.min(id.length, MAX_ID_BYTES);
    const from = base * 4 + ID_AT_BYTE;
    for (let at = 0; at < length; at++) slab.bytes[from + at] = id.charCodeAt(at);
    slab.words[base + INCARNATION] = incarnation;
    slab.words[base + FLOW] = flow;
    slab.words[base + SEQUENCE] = mail.sequence;
    slab.words[base + TYPE_AND_LENGTH] = mail.type | (length << 8);
    slab.words[base + SENDER] = senderSlot;
    slab.words[base + KEPT] = mail.kept | 0;
    slab.words[base + KEPT_HIGH] = Math.floor(mail.kept / HIGH);
    slab.words[base + IN_USE] = 1;
    return record;
  }

  erase(record: number): void {
    const slab = this.#slabs[Math.floor(record / RECORDS)] as { words: Int32Array };
    slab.words[(record % RECORDS) * RECORD_WORDS + IN_USE] = 0;
    this.#free.push(record);
  }

  #grow(): number {
    const memory = new SharedArrayBuffer(RECORDS * RECORD_WORDS * 4);
    this.#onSlab(memory);
    const first = this.#slabs.length * RECORDS;
    this.#slabs.push({ words: new Int32Array(memory), bytes: new Uint8Array(memory) });
    for (let record = first + RECORDS - 1; record > first; record--) this.#free.push(record);
    return first;
  }
}

/** Every envelope that a name book's slab names. */
export function readNames(memory: SharedArrayBuffer): NamedMail[] {
  const words = new Int32Array(memory);
  const bytes = Buffer.from(memory);
  const named: NamedMail[] = [];
  for (let record = 0; record < RECORDS; record++) {
    const base = record * RECORD_WORDS;
    if (words[base + IN_USE] !== 1) continue;
    const typeAndLength = words[base + TYPE_AND_LENGTH] as number;
    const from = base * 4 + ID_AT_BYTE;
    named.push({
      incarnation: words[base + INCARNATION] as number,
      flow: words[base + FLOW] as number,
      sequence: words[base + SEQUENCE] as number,
      type: typeAndLength & 0xff,
      senderSlot: words[base + SENDER] as number,
      kept: (words[base + KEPT_HIGH] as number) * HIGH + ((words[base + KEPT] as number) >>> 0),
      id: bytes.toString('latin1', from, from + (typeAndLength >> 8)),
    });
  }
  return named;
}
