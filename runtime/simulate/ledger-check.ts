import type { Cell } from '../cell/cell.ts';
import { distance } from '../mailbox/flow-marks.ts';
import type { InFlow } from '../mailbox/in-flow.ts';
import type { Mail } from '../mailbox/mail.ts';
import { COUNT } from '../observe/thread-counters.ts';
import type { Conservation } from '../protocol/conservation.ts';
import type { ThreadNode } from '../thread/thread-node.ts';
import type { CellThread } from '../cell/cell-thread.ts';
import type { Check } from './invariants.ts';

/** What the counters of all threads that ever were add up to. */
export type Totals = Omit<Conservation, 'inFlight' | 'holds'>;

/**
 * Watches what the runtime promises of every envelope: that none is lost or counted twice, that `once` is not begun
 * twice, that the envelopes of one sender are begun in their order, that mailboxes keep their bounds.
 */
export class LedgerCheck {
  readonly violations: string[] = [];
  readonly #counters = new Set<Float64Array>();
  readonly #places = new Set<ThreadNode>();
  /** Of each flow into a place, the last envelope begun and all that were settled while its thread lived. */
  readonly #lives = new WeakMap<CellThread, Map<string, Life>>();
  /** Every envelope that a handler was called with and may not be called with again. */
  readonly #begunOnce = new Set<string>();
  /** Envelopes that a handler was called with, any number of times. */
  begun = 0;

  add(node: ThreadNode): void {
    this.#counters.add(node.counters);
    this.#places.add(node);
    this.#lives.set(node, new Map());
  }

  /** The thread of the place is gone; what it has counted stays. */
  remove(node: ThreadNode): void {
    this.#places.delete(node);
  }

  began(cell: Cell, mail: Mail): void {
    this.begun += 1;
    const { thread, row } = cell;
    const key = keyOf(thread, mail);
    if (!cell.isRetry(mail)) {
      if (this.#begunOnce.has(key))
        this.#violated(`${row.id} has begun twice on ${mail.id}, which is delivered once`);
      this.#begunOnce.add(key);
    }
    const life = this.#lifeOf(thread, mail);
    // Who waits for an answer may be given what comes out of turn: the call-backs of its own asks.
    if (cell.inHand > cell.definition.concurrency) life.outOfTurn.add(mail.sequence);
    if (life.outOfTurn.has(mail.sequence)) return;
    if (life.begun !== undefined && distance(mail.sequence, life.begun) < 0)
      this.#violated(
        `${row.id} has begun on ${mail.id} of ${mail.sender} after a later one of the same sender`,
      );
    else life.begun = mail.sequence;
  }

  settled(node: ThreadNode, mail: Mail): void {
    const { settled } = this.#lifeOf(node, mail);
    if (settled.has(mail.sequence)) this.#violated(`${mail.id} for ${mail.recipient} has two outcomes`);
    settled.add(mail.sequence);
    // Each number once: those far behind can only come again by a mistake that the counters show too.
    if (settled.size > MOST_REMEMBERED) settled.delete(settled.values().next().value as number);
  }

  get totals(): Totals {
    const sum = (at: number): number => {
      let total = 0;
      for (const counters of this.#counters) total += counters[at] as number;
      return total;
    };
    return {
      accepted: sum(COUNT.accepted),
      handled: sum(COUNT.handled),
      rejected: sum(COUNT.rejected),
      expired: sum(COUNT.expired),
      deadLettered: sum(COUNT.deadLettered),
    };
  }

  get outcomes(): number {
    const { handled, rejected, expired, deadLettered } = this.totals;
    return handled + rejected + expired + deadLettered;
  }

  /** Nothing has more outcomes than were accepted, and no flow holds more than its recipient's mailbox takes. */
  check(): void {
    const { accepted } = this.totals;
    if (this.outcomes > accepted)
      this.#violated(`${accepted} envelopes were accepted and have ${this.outcomes} outcomes`);
    for (const node of this.#places) for (const cell of node.cells()) this.#checkBounds(cell);
  }

  /** Nothing is in flight any more: every accepted envelope has its outcome. */
  checkSettled(): void {
    const { accepted } = this.totals;
    if (this.outcomes !== accepted)
      this.#violated(
        `${accepted} envelopes were accepted, ${this.outcomes} have an outcome, and nothing is in flight`,
      );
  }

  #checkBounds(cell: Cell): void {
    const capacity = cell.row.profile.mailboxCapacity;
    if (cell.waiting <= capacity) return;
    const counts = new Map<InFlow | undefined, number>();
    for (const { flow } of cell.mails()) counts.set(flow, (counts.get(flow) ?? 0) + 1);
    for (const count of counts.values())
      if (count > capacity)
        this.#violated(
          `${cell.row.id} holds ${count} envelopes of one sender's thread and may hold ${capacity}`,
        );
  }

  #lifeOf(thread: CellThread, mail: Mail): Life {
    const flows = this.#lives.get(thread) as Map<string, Life>;
    const flow = mail.flow as InFlow;
    const key = `${flow.incarnation}/${flow.flow}`;
    const known = flows.get(key);
    if (known !== undefined) return known;
    const life: Life = { begun: undefined, outOfTurn: new Set(), settled: new Set() };
    flows.set(key, life);
    return life;
  }

  #violated(sentence: string): void {
    if (!this.violations.includes(sentence)) this.violations.push(sentence);
  }
}

interface Life {
  begun: number | undefined;
  readonly outOfTurn: Set<number>;
  readonly settled: Set<number>;
}

const MOST_REMEMBERED = 4_096;

/** An envelope's place in what its sender's thread sent to this agent: what no other has. */
function keyOf(thread: CellThread, { flow, sequence }: Mail): string {
  const { incarnation, flow: number } = flow as InFlow;
  return `${incarnation < 0 ? thread.incarnation : incarnation}/${number}/${sequence}`;
}

/** The ledgers of all lives of a process, each of which adds up by itself. */
export class ProcessLedgers implements Check {
  readonly #all: LedgerCheck[] = [];

  /** A ledger for a process that begins. */
  open(): LedgerCheck {
    const ledger = new LedgerCheck();
    this.#all.push(ledger);
    return ledger;
  }

  /** What all lives add up to; what was in flight when a process was killed has no outcome among these. */
  get totals(): Totals {
    const sum = { accepted: 0, handled: 0, rejected: 0, expired: 0, deadLettered: 0 };
    for (const { totals } of this.#all)
      for (const count of Object.keys(sum) as (keyof Totals)[]) sum[count] += totals[count];
    return sum;
  }

  get begun(): number {
    return this.#all.reduce((sum, { begun }) => sum + begun, 0);
  }

  get violations(): readonly string[] {
    return this.#all.flatMap(({ violations }) => violations);
  }

  check(): void {
    this.#all.at(-1)?.check();
  }

  checkSettled(): void {
    this.#all.at(-1)?.checkSettled();
  }
}
