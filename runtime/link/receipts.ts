import type { Mail } from '../mailbox/mail.ts';
import type { OutFlow } from '../mailbox/out-flow.ts';
import type { Clock } from '../protocol/seams.ts';

/** How often it is looked whether something is settled, milliseconds, as long as somebody waits for it. */
const LOOK_MS = 5;

interface Awaited {
  readonly flow: OutFlow;
  readonly sequence: number;
  readonly done: () => void;
}

/**
 * Tells whoever wants to know when what was sent from this thread is settled. Nobody posts that: the marks of the flows say so.
 */
export class Receipts {
  readonly #clock: Pick<Clock, 'setTimer'>;
  /** Not accepted yet. */
  readonly #expected = new Map<Mail, () => void>();
  #awaited: Awaited[] = [];
  #stop: (() => void) | undefined;

  constructor(clock: Pick<Clock, 'setTimer'>) {
    this.#clock = clock;
  }

  /** Mail that is sent and not settled. */
  get size(): number {
    return this.#expected.size + this.#awaited.length;
  }

  /** Calls `done` once `mail`, which is about to be sent, is settled. */
  expect(mail: Mail, done: () => void): void {
    this.#expected.set(mail, done);
  }

  /** It was not sent. */
  forget(mail: Mail): void {
    this.#expected.delete(mail);
  }

  /** It has its place in this flow. */
  sent(flow: OutFlow, mail: Mail): void {
    if (this.#expected.size === 0) return;
    const done = this.#expected.get(mail);
    if (done === undefined) return;
    this.#expected.delete(mail);
    this.#awaited.push({ flow, sequence: mail.sequence, done });
    this.#stop ??= this.#clock.setTimer(LOOK_MS, () => this.#look());
  }

  close(): void {
    this.#stop?.();
    this.#expected.clear();
    this.#awaited = [];
  }

  #look(): void {
    this.#stop = undefined;
    const awaited = this.#awaited;
    this.#awaited = [];
    const settled: Awaited[] = [];
    for (const one of awaited) (one.flow.isSettled(one.sequence) ? settled : this.#awaited).push(one);
    for (const { done } of settled) done();
    if (this.#awaited.length > 0) this.#stop ??= this.#clock.setTimer(LOOK_MS, () => this.#look());
  }
}
