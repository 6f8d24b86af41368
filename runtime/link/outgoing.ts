import type { Mail } from '../mailbox/mail.ts';
import type { OutFlow } from '../mailbox/out-flow.ts';

/** Everything a link has to say in one post; the parts of a reply, and of a pull, lie side by side. */
export interface Outgoing {
  readonly flows: readonly OutFlow[];
  readonly mails: readonly Mail[];
  readonly replyAsks: readonly number[];
  readonly replyKinds: number[];
  readonly replyPayloads: unknown[];
  readonly cancels: readonly string[];
  readonly pulls: readonly number[];
}

/** What a link collects between two posts. Mail may have to wait for credit; the rest goes with the next post. */
export class OutgoingQueue {
  #flows: OutFlow[] = [];
  #mails: Mail[] = [];
  /** Mails before this one are taken. */
  #from = 0;
  #replyAsks: number[] = [];
  #replyKinds: number[] = [];
  #replyPayloads: unknown[] = [];
  #cancels: string[] = [];
  #pulls: number[] = [];

  /** Mails that wait. */
  get mailCount(): number {
    return this.#mails.length - this.#from;
  }

  get replyCount(): number {
    return this.#replyAsks.length;
  }

  get isEmpty(): boolean {
    return this.mailCount === 0 && !this.hasNotices;
  }

  /** There is something that needs no credit. */
  get hasNotices(): boolean {
    return this.#replyAsks.length > 0 || this.#cancels.length > 0 || this.#pulls.length > 0;
  }

  /** Returns how many mails wait. */
  mail(flow: OutFlow, mail: Mail): number {
    this.#flows.push(flow);
    return this.#mails.push(mail) - this.#from;
  }

  /** Returns how many replies wait. */
  reply(ask: number, kind: number, payload: unknown): number {
    this.#replyKinds.push(kind);
    this.#replyPayloads.push(payload);
    return this.#replyAsks.push(ask);
  }

  cancel(envelopeId: string): void {
    this.#cancels.push(envelopeId);
  }

  pull(ask: number, count: number): void {
    this.#pulls.push(ask, count);
  }

  /** Takes at most `most` mails, and everything else. */
  take(most: number): Outgoing {
    const outgoing = {
      ...this.#takeMails(most),
      replyAsks: this.#replyAsks,
      replyKinds: this.#replyKinds,
      replyPayloads: this.#replyPayloads,
      cancels: this.#cancels,
      pulls: this.#pulls,
    };
    if (this.#replyAsks.length > 0) {
      this.#replyAsks = [];
      this.#replyKinds = [];
      this.#replyPayloads = [];
    }
    if (this.#cancels.length > 0) this.#cancels = [];
    if (this.#pulls.length > 0) this.#pulls = [];
    return outgoing;
  }

  #takeMails(most: number): Pick<Outgoing, 'flows' | 'mails'> {
    const from = this.#from;
    const end = Math.min(this.#mails.length, from + most);
    if (end < this.#mails.length) {
      const taken = { flows: this.#flows.slice(from, end), mails: this.#mails.slice(from, end) };
      this.#from = end;
      if (end * 2 > this.#mails.length) this.#closeRanks();
      return taken;
    }
    const taken = { flows: this.#flows, mails: this.#mails };
    if (from > 0) {
      taken.flows = taken.flows.slice(from);
      taken.mails = taken.mails.slice(from);
    }
    this.#from = 0;
    if (this.#mails.length > 0) {
      this.#flows = [];
      this.#mails = [];
    }
    return taken;
  }

  #closeRanks(): void {
    this.#flows = this.#flows.slice(this.#from);
    this.#mails = this.#mails.slice(this.#from);
    this.#from = 0;
  }
}

/** Two posts that say the same, one after the other. */
export function halvesOf(outgoing: Outgoing): readonly [Outgoing, Outgoing] {
  const { flows, mails, replyAsks, replyKinds, replyPayloads, cancels, pulls } = outgoing;
  const mail = mails.length >> 1;
  const reply = replyAsks.length >> 1;
  return [
    {
      flows: flows.slice(0, mail),
      mails: mails.slice(0, mail),
      replyAsks: replyAsks.slice(0, reply),
      replyKinds: replyKinds.slice(0, reply),
      replyPayloads: replyPayloads.slice(0, reply),
      cancels,
      pulls,
    },
    {
      flows: flows.slice(mail),
      mails: mails.slice(mail),
      replyAsks: replyAsks.slice(reply),
      replyKinds: replyKinds.slice(reply),
      replyPayloads: replyPayloads.slice(reply),
      cancels: [],
      pulls: [],
    },
  ];
}
