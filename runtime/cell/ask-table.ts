import { askGeneration, askName, askSlot, LAST_GENERATION } from '../mailbox/ask-name.ts';
import { REPLY } from '../mailbox/reply.ts';
import type { Taint } from '../protocol/taint.ts';
import type { WaitingAsk } from './waiting-ask.ts';

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

  /** An answer came in, perhaps from outside; the last one ends the wait. */
  answer(ask: number, kind: number, payload: unknown, taint?: Taint): void {
    const record = this.get(ask);
    if (record === undefined) return;
    if (taint !== undefined) record.tainted(taint, kind);
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
