import { askGeneration, askName, askSlot, LAST_GENERATION } from '../mailbox/ask-name.ts';
import type { Mail } from '../mailbox/mail.ts';
import { REPLY } from '../threads/batch-format.ts';
import type { Link } from '../threads/link.ts';
import type { Handling } from './handling.ts';
import type { Timer } from './timer-wheel.ts';

/** One ask of this thread that waits for its answer. */
export abstract class WaitingAsk {
  readonly asked: Mail;
  /** The handling that waits, if one does. */
  readonly owner: Handling | undefined;
  /** Whom it went to. */
  agentId = '';
  /** Where it went; undefined within the thread. */
  link: Link | undefined = undefined;
  timer: Timer | undefined = undefined;
  /** Takes the listener off the asker's own signal. */
  release: (() => void) | undefined = undefined;

  constructor(asked: Mail, owner: Handling | undefined) {
    this.asked = asked;
    this.owner = owner;
  }

  /** The answer, as `REPLY` kinds. Returns true while more is to come. */
  abstract answer(kind: number, payload: unknown): boolean;
  abstract fail(error: Error): void;
}

/** The asks of one thread that wait for an answer. */
export class AskTable {
  readonly #records: (WaitingAsk | undefined)[] = [];
  readonly #generations: number[] = [];
  readonly #free: number[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  open(record: WaitingAsk): number {
    const slot = this.#free.pop() ?? this.#records.length;
    const generation = ((this.#generations[slot] ?? 0) + 1) & LAST_GENERATION;
    this.#generations[slot] = generation;
    this.#records[slot] = record;
    this.#size += 1;
    return askName(slot, generation);
  }

  get(ask: number): WaitingAsk | undefined {
    const slot = askSlot(ask);
    return this.#generations[slot] === askGeneration(ask) ? this.#records[slot] : undefined;
  }

  /** An answer came in; the last one ends the wait. */
  answer(ask: number, kind: number, payload: unknown): void {
    const record = this.get(ask);
    if (record === undefined) return;
    const isLast = kind !== REPLY.progress && kind !== REPLY.chunk;
    if (isLast) this.close(ask);
    record.answer(kind, payload);
  }

  /** Ends the wait; undefined when it is over already. */
  close(ask: number): WaitingAsk | undefined {
    const record = this.get(ask);
    if (record === undefined) return undefined;
    const slot = askSlot(ask);
    this.#records[slot] = undefined;
    this.#free.push(slot);
    this.#size -= 1;
    record.timer?.cancel();
    record.release?.();
    record.owner?.hasAnswer(ask);
    if (record.link !== undefined) record.link.asksInFlight -= 1;
    return record;
  }

  *waiting(): Iterable<[number, WaitingAsk]> {
    for (let slot = 0; slot < this.#records.length; slot++) {
      const record = this.#records[slot];
      if (record !== undefined) yield [askName(slot, this.#generations[slot] as number), record];
    }
  }
}
