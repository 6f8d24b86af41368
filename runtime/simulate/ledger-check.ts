import type { Cell } from '../cell/cell.ts';
import { distance } from '../mailbox/flow-marks.ts';
import type { InFlow } from '../mailbox/in-flow.ts';
import type { Mail } from '../mailbox/mail.ts';
import { COUNT } from '../observe/thread-counters.ts';
import type { Conservation } from '../protocol/conservation.ts';
import type { ThreadNode } from '../thread/thread-node.ts';
import type { CellThread } from '../cell/cell-thread.ts';
import type { Check } from './invariants.ts';

/** The sums of the counters of all threads, dead ones included. */
export type Totals = Omit<Conservation, 'inFlight' | 'holds'>;

/**
 * Checks the promises about envelopes in one life of the process: none is lost or counted twice, `once` is begun once, the
 * envelopes of one sender are begun in order, and mailboxes stay within their capacity.
 */
export class LedgerCheck {
  readonly violations: string[] = [];
  readonly #counters = new Set<Float64Array>();
  readonly #places = new Set<ThreadNode>();
  /** By place and flow: the last envelope begun, and those settled while its thread lived. */
  readonly #lives = new WeakMap<CellThread, Map<string, Life>>();
  /** Keys of `once` envelopes that were begun. */
  readonly #begunOnce = new Set<string>();
  /** How many times handlers have begun an envelope. */
  begun = 0;

  add(node: ThreadNode): void {
    this.#counters.add(node.counters);
    this.#places.add(node);
    this.#lives.set(node, new Map());
  }

  /** Removes a place whose thread has ended. Its counters stay. */
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
    // An agent that waits for an answer may get call-backs of its own asks out of order.
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
    // Bounded: a repetition of an older one shows in the counters too.
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

  /** Checks that there are no more outcomes than accepted envelopes, and that no mailbox exceeds its capacity. */
  check(): void {
    const { accepted } = this.totals;
    if (this.outcomes > accepted)
      this.#violated(`${accepted} envelopes were accepted and have ${this.outcomes} outcomes`);
    for (const node of this.#places) for (const cell of node.cells()) this.#checkBounds(cell);
  }

  /** Checks, when nothing is in flight, that every accepted envelope has an outcome. */
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

/** The key of an envelope: its flow and sequence, which no other has. */
function keyOf(thread: CellThread, { flow, sequence }: Mail): string {
  const { incarnation, flow: number } = flow as InFlow;
  return `${incarnation < 0 ? thread.incarnation : incarnation}/${number}/${sequence}`;
}

/** The ledgers of all lives of the process. Each is checked by itself. */
export class ProcessLedgers implements Check {
  readonly #all: LedgerCheck[] = [];

  /** Opens the ledger of a new process. */
  open(): LedgerCheck {
    const ledger = new LedgerCheck();
    this.#all.push(ledger);
    return ledger;
  }

  /** The sums over all lives. Envelopes in flight when a process was killed are accepted, and have no outcome here. */
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
