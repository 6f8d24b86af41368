import { Fifo } from '../mailbox/fifo.ts';
import type { InFlow } from '../mailbox/in-flow.ts';
import { LANE, type Lane, type Mail, NO_ASK } from '../mailbox/mail.ts';
import { isSystemId } from '../protocol/policy.ts';
import type { Handling } from './handling.ts';

/** The envelopes that wait for one agent, in three lanes: whose turn it is, and who may be taken in between. */
export class CellMailbox {
  readonly #system = new Fifo<Mail>();
  readonly #user = new Fifo<Mail>();
  readonly #callback = new Fifo<Mail>();
  /** From the user lane, for an actor that runs ahead: nobody is taken before them. */
  #taken: Fifo<Mail> | undefined;
  /** What former processes left, before everything in the user lane. */
  #left: Fifo<Mail> | undefined;
  /** More of it may come: the user lane waits. */
  expectsLeft = false;
  /** How many in the user lane are asks of other agents. */
  #asksOfAgents = 0;

  get length(): number {
    const waiting = this.#system.length + this.#user.length + this.#callback.length;
    return waiting + (this.#taken?.length ?? 0) + (this.#left?.length ?? 0);
  }

  *[Symbol.iterator](): Iterator<Mail> {
    for (const lane of this.#lanes) for (let at = 0; at < lane.length; at++) yield lane.at(at) as Mail;
  }

  /** When the first of those that wait was made; undefined when nobody waits. */
  get oldestMs(): number | undefined {
    const first = this.#lanes.flatMap((lane) => lane.peek()?.timestamp ?? []);
    return first.length === 0 ? undefined : Math.min(...first);
  }

  put(mail: Mail, lane: Lane): void {
    if (mail.wasLeft) {
      this.#left ??= new Fifo();
      this.#left.push(mail);
      return;
    }
    if (lane === LANE.user) {
      this.#user.push(mail);
      if (isAskOfAgent(mail)) this.#asksOfAgents += 1;
    } else if (lane === LANE.callback) this.#callback.push(mail);
    else this.#system.push(mail);
  }

  /** Puts an envelope that was taken in front of all others of its lane, and of those that were taken ahead of them. */
  putBack(mail: Mail): void {
    if (mail.wasLeft) {
      this.#left?.unshift(mail);
      return;
    }
    const { lane } = mail.flow as InFlow;
    if (lane === LANE.user) {
      (this.hasTaken ? (this.#taken as Fifo<Mail>) : this.#user).unshift(mail);
      if (isAskOfAgent(mail)) this.#asksOfAgents += 1;
    } else if (lane === LANE.callback) this.#callback.unshift(mail);
    else this.#system.unshift(mail);
  }

  /** Takes whoever is next when nothing is in hand. */
  take(): Mail | undefined {
    if (this.hasTaken) return this.takeTaken();
    const first = this.#system.shift() ?? this.#callback.shift() ?? this.#left?.shift();
    return first ?? (this.expectsLeft ? undefined : this.#from(this.#user, 0));
  }

  /** Whoever is next of those that others sent may be begun on while others are in hand. */
  get mayBeginNext(): boolean {
    const next = this.#user.peek();
    return next === undefined || (next.flow as InFlow).mayBegin(next.sequence);
  }

  /** Takes whoever is next of those that an actor has taken ahead. */
  takeTaken(): Mail | undefined {
    return this.#taken && this.#from(this.#taken, 0);
  }

  /** Takes who is next for an actor that runs ahead, if that may have it and nobody could come before. */
  takeAhead(mayHave: (mail: Mail) => boolean): Mail | undefined {
    const others = this.#system.length + this.#callback.length + (this.#left?.length ?? 0);
    const next = others > 0 || this.expectsLeft ? undefined : this.#user.peek();
    if (next === undefined || !mayHave(next)) return undefined;
    this.#taken ??= new Fifo();
    this.#taken.push(next);
    return this.#user.shift();
  }

  /** Somebody is in the hands of an actor that runs ahead. */
  get hasTaken(): boolean {
    return this.#taken !== undefined && this.#taken.length > 0;
  }

  /** Everybody whom the actor took ahead and did not come to, youngest first. */
  leftAhead(): Mail[] {
    const left: Mail[] = [];
    const taken = this.#taken;
    while (taken !== undefined && taken.length > 0) left.unshift(this.#from(taken, 0) as Mail);
    return left;
  }

  /** Something may be here for which a handler that waits is interrupted. */
  get mayInterrupt(): boolean {
    return this.#callback.length > 0 || this.#asksOfAgents > 0;
  }

  /** Takes what `handlings` cannot go on without: a call-back that they caused, or an ask of whom they ask. */
  takeBetween(handlings: readonly Handling[]): Mail | undefined {
    const callback = this.#callback;
    for (let at = 0; at < callback.length; at++) {
      const mail = callback.at(at) as Mail;
      if (handlings.some((one) => one.hasCaused(mail))) return callback.removeAt(at);
    }
    if (this.#asksOfAgents === 0) return undefined;
    for (const lane of this.#taken === undefined ? [this.#user] : [this.#taken, this.#user]) {
      for (let at = 0; at < lane.length; at++) {
        const mail = lane.at(at) as Mail;
        if (isAskOfAgent(mail) && isAwaited(mail.sender, handlings)) return this.#from(lane, at);
      }
    }
    return undefined;
  }

  /** Takes everything out. */
  *drain(): Iterable<Mail> {
    this.#asksOfAgents = 0;
    for (const lane of this.#lanes)
      for (let mail = lane.shift(); mail !== undefined; mail = lane.shift()) yield mail;
  }

  get #lanes(): readonly Fifo<Mail>[] {
    const lanes = [this.#taken, this.#system, this.#left, this.#user, this.#callback];
    return lanes.filter((lane) => lane !== undefined);
  }

  #from(lane: Fifo<Mail>, at: number): Mail | undefined {
    const mail = at === 0 ? lane.shift() : lane.removeAt(at);
    if (this.#asksOfAgents > 0 && mail !== undefined && isAskOfAgent(mail)) this.#asksOfAgents -= 1;
    return mail;
  }
}

export const isAskOfAgent = ({ ask, sender }: Mail): boolean => ask !== NO_ASK && !isSystemId(sender);

/** Says whether one of `handlings` waits for an answer of this agent. */
export const isAwaited = (agentId: string, handlings: readonly Handling[]): boolean =>
  handlings.some((one) => one.waitsForAgent(agentId));
