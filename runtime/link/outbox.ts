import type { JournalledFunds } from '../mailbox/journalled-funds.ts';
import {
  type FlowSlab,
  FLOWS_PER_SLAB,
  flowBase,
  newFlowSlab,
  slabIndexOf,
  WINDOW_RECORDS,
} from '../mailbox/flow-marks.ts';
import { CommitLog } from '../mailbox/commit-log.ts';
import type { InFlow, OutcomeCounts } from '../mailbox/in-flow.ts';
import { LANE, type Lane, type Mail } from '../mailbox/mail.ts';
import { MailNames } from '../mailbox/mail-names.ts';
import { OutFlow } from '../mailbox/out-flow.ts';
import { COUNT } from '../observe/thread-counters.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import { type UnitLog, JournalWriter, type Sender, type Sending } from './journal-writer.ts';
import type { Link } from './link.ts';

/** Takes what is sent to it within the thread. */
export interface Recipient {
  /** Says whether it may be given this again after a death. */
  isRetry(mail: Mail): boolean;
  deliver(mail: Mail, lane: Lane): void;
}

export interface OutboxDeps {
  readonly place: string;
  readonly incarnation: number;
  readonly counters: Float64Array;
  readonly commitLog: SharedArrayBuffer;
  readonly recipientIn: (slot: number) => Recipient | undefined;
  /** Mail within this thread is about to be delivered. */
  readonly beginTurn: () => void;
  /** This mail is, to somebody who lives here. */
  readonly received: (mail: Mail) => void;
  /** Mail within this thread whose recipient is hosted here no more. */
  readonly refuse: (mail: Mail) => void;
  readonly linkTo: (place: string) => Link | undefined;
  /** Runs after the code that runs now: posting is put off until then. */
  readonly defer: (run: () => void) => void;
  /** The control thread keeps these memories: they outlive this thread. */
  readonly onFlowSlab: (slab: FlowSlab) => void;
  readonly onNameSlab: (memory: SharedArrayBuffer) => void;
  /** Everything is posted; the marks are about to say so. Gives the number up to which what was told counts then. */
  readonly beforeCommit: () => number;
  /** Something in this thread's mailboxes is settled. */
  readonly afterCommit: () => void;
  /** Gives the control thread a second copy of what only this thread holds. */
  readonly keep: (kept: readonly ReplicatedMail[]) => void;
}

/** A mail for a `retry` recipient whose only copy is in this thread: the control thread keeps a second one. */
export interface ReplicatedMail {
  readonly incarnation: number;
  readonly flow: number;
  readonly mail: Mail;
}

/**
 * What one thread sends: a flow a recipient and lane, bounded and numbered; posted in batches; committed afterwards.
 *
 * `flush` is the order that makes a death harmless: first everything is posted, then the marks say so, and only then is
 * mail within the thread delivered: nobody starts on what a handler sent whose own work may be done again.
 */
export class Outbox {
  readonly #deps: OutboxDeps;
  readonly #flows: [(OutFlow | undefined)[], (OutFlow | undefined)[], (OutFlow | undefined)[]] = [[], [], []];
  readonly #all: OutFlow[] = [];
  readonly #slabs: FlowSlab[] = [];
  #nextFlow = 0;
  readonly #names: MailNames;
  readonly #log: CommitLog;
  #journal: JournalWriter | undefined;
  #fundsOf: (account: number) => JournalledFunds | undefined = () => undefined;
  readonly #dirtyLinks: Link[] = [];
  #dirtyIn: InFlow[] = [];
  #dirtyLocal: OutFlow[] = [];
  #kept: ReplicatedMail[] = [];
  /** Mail for a place without a link, in the order in which it was accepted. */
  #held: { readonly flow: OutFlow; readonly mail: Mail }[] = [];
  /** Pairs of recipient, if there is one, and mail. What is sent within the thread arrives when its sender's work is committed. */
  #undelivered: (Recipient | Mail | undefined)[] = [];
  #settledNames: number[] = [];
  #onCommitted: (() => void)[] = [];
  #told = 0;
  #isFlushPlanned = false;

  constructor(deps: OutboxDeps) {
    this.#deps = deps;
    this.#names = new MailNames(deps.onNameSlab);
    this.#log = new CommitLog(deps.commitLog);
  }

  slab(index: number): FlowSlab {
    return this.#slabs[index] as FlowSlab;
  }

  /** Says whether the recipient takes one more envelope of this thread in this lane. */
  hasRoom(row: AgentRow, lane: Lane): boolean {
    return this.#flow(row, lane).hasRoom(row.profile.mailboxCapacity);
  }

  /**
   * Accepts `mail` for `row`, which has room for it: numbers it, keeps it, and puts it on its way; for a durable recipient
   * when the journal has it, until when `sender` is not done.
   */
  accept(row: AgentRow, lane: Lane, mail: Mail, senderSlot: number, sender?: Sender): void {
    if (this.#journal === undefined || !row.profile.durable) return this.#send(row, lane, mail, senderSlot);
    this.#flow(row, lane).pending += 1;
    this.#limit(mail);
    this.#journal.add({ row, lane, mail, senderSlot, sender });
  }

  /** From now on mail for durable recipients is kept before it is sent. */
  journalIn(log: UnitLog, fundsOf: (account: number) => JournalledFunds | undefined): JournalWriter {
    this.#fundsOf = fundsOf;
    const post = (sending: Sending): void => this.#post(sending);
    this.#journal = new JournalWriter({ log, post, plan: () => this.planFlush() });
    return this.#journal;
  }

  /** What may be spent on a mail that is kept is not more in a later process. */
  #limit(mail: Mail): void {
    const { extras } = mail;
    const funds = extras?.account === undefined ? undefined : this.#fundsOf(extras.account);
    if (funds !== undefined) mail.extras = { ...extras, funds };
  }

  /** Accepts a mail that a former process left for an agent that lives here. */
  acceptLeft(row: AgentRow, mail: Mail): void {
    this.#send(row, LANE.user, mail, -1);
  }

  /** What was to be kept is. */
  #post({ row, lane, mail, senderSlot }: Sending): void {
    const flow = this.#flow(row, lane);
    flow.pending -= 1;
    if (flow.isLocal) mail.text = undefined;
    this.#send(row, lane, mail, senderSlot);
  }

  #send(row: AgentRow, lane: Lane, mail: Mail, senderSlot: number): void {
    const flow = this.#flow(row, lane);
    flow.add(mail);
    if (flow.isLocal) {
      this.#acceptLocal(flow, row, mail, senderSlot);
      return;
    }
    // When this thread and the recipient's die together, the journal has it under that number.
    if (mail.kept > 0) mail.name = this.#names.write(mail, this.#deps.incarnation, flow.flow, senderSlot);
    const link = this.#deps.linkTo(row.place);
    if (link === undefined) {
      this.hold(flow, mail);
      return;
    }
    if (link.isDrained) this.#dirtyLinks.push(link);
    link.sendMail(flow, mail);
    this.planFlush();
  }

  /**
   * Gives the control thread a copy of a mail whose place has no thread. It will be posted to the next one; but what
   * handlers sent that are done must not be in this thread alone until then.
   */
  hold(flow: OutFlow, mail: Mail): void {
    this.#held.push({ flow, mail });
    this.#kept.push({ incarnation: this.#deps.incarnation, flow: flow.flow, mail });
    this.planFlush();
  }

  /** The link will be posted with the next flush. */
  touch(link: Link): void {
    if (link.isDrained) this.#dirtyLinks.push(link);
    this.planFlush();
  }

  /** The flow has outcomes to commit. */
  touchIn(flow: InFlow): void {
    if (flow.isDirty) return;
    flow.isDirty = true;
    this.#dirtyIn.push(flow);
    this.planFlush();
  }

  /** The mail's outcome is known: once that is committed, it needs no name any more. */
  forgetName(mail: Mail): void {
    if (mail.name < 0) return;
    this.#settledNames.push(mail.name);
    mail.name = -1;
  }

  readonly #forgetSettled = (mail: Mail): void => this.forgetName(mail);

  /** Names a mail or, for a `retry` recipient, has a second copy kept: this thread holds its only one. */
  safeguard(mail: Mail, incarnation: number, flow: number, senderSlot: number, isCopied: boolean): void {
    if (isCopied) this.#kept.push({ incarnation, flow, mail });
    else mail.name = this.#names.write(mail, incarnation, flow, senderSlot);
    this.planFlush();
  }

  /**
   * Calls `tell` when everything that was accepted here so far is committed: it comes to the next thread if this one dies.
   * Nothing of it has been begun on by then.
   */
  whenCommitted(tell: () => void): void {
    this.#onCommitted.push(tell);
    this.planFlush();
  }

  planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    this.#deps.defer(this.#flushPlanned);
  }

  readonly #flushPlanned = (): void => {
    this.#isFlushPlanned = false;
    this.flush();
  };

  flushIfPlanned(): void {
    if (this.#isFlushPlanned) this.flush();
  }

  /** Posts everything collected; then, when all of it could be posted, commits. */
  flush(): void {
    const links = this.#dirtyLinks;
    let isAllPosted = true;
    if (links.length > 0) {
      const waiting: Link[] = [];
      for (const link of links) if (!link.flush()) waiting.push(link);
      links.length = 0;
      for (const link of waiting) links.push(link);
      isAllPosted = waiting.length === 0;
    }
    if (!isAllPosted) return;
    if (this.#kept.length > 0) {
      const kept = this.#kept;
      this.#kept = [];
      this.#deps.keep(kept);
      this.#markHeld();
    }
    this.#commit(this.#deps.beforeCommit());
    for (const tell of this.#onCommitted.splice(0)) tell();
    this.#deliver();
    this.#journal?.flush();
  }

  #markHeld(): void {
    const { counters } = this.#deps;
    for (const { flow, mail } of this.#held) {
      if (flow.mark(mail.sequence)) counters[COUNT.accepted] = (counters[COUNT.accepted] as number) + 1;
    }
    this.#held = [];
  }

  /** Lets go of what is settled everywhere; returns how many envelopes are still kept. */
  trim(): number {
    let kept = 0;
    for (const flow of this.#all) kept += flow.isLocal ? 0 : flow.trim();
    return kept;
  }

  /** Something was sent from here, to whomever. */
  get hasFlows(): boolean {
    return this.#all.length > 0;
  }

  /** The recipients' ends of the flows within this thread. */
  *localFlows(): Iterable<InFlow> {
    for (const flow of this.#all) if (flow.isLocal) yield flow.inbound;
  }

  /** The flows to these agents, wherever they live. */
  flowsTo(slots: ReadonlyMap<number, unknown>): OutFlow[] {
    return this.#all.filter((flow) => !flow.isLocal && slots.has(flow.slot));
  }

  /** Mails that wait for the next flush within this thread. */
  get undelivered(): number {
    return this.#undelivered.length / 2;
  }

  #deliver(): void {
    const waiting = this.#undelivered;
    if (waiting.length === 0) return;
    this.#undelivered = [];
    this.#deps.beginTurn();
    for (let at = 0; at < waiting.length; at += 2) {
      const mail = waiting[at + 1] as Mail;
      const recipient = waiting[at] as Recipient | undefined;
      if (recipient === undefined) {
        this.#deps.refuse(mail);
        continue;
      }
      this.#deps.received(mail);
      recipient.deliver(mail, (mail.flow as InFlow).lane);
    }
  }

  /** In one step, unless there are thousands of marks: what is accepted within the thread, and every known outcome. */
  #commit(told: number): void {
    const locals = this.#dirtyLocal;
    const flows = this.#dirtyIn;
    if (locals.length > 0 || flows.length > 0 || told > this.#told) {
      this.#told = told;
      this.#dirtyLocal = [];
      this.#dirtyIn = [];
      const added = { accepted: 0, handled: 0, rejected: 0, expired: 0, deadLettered: 0 };
      for (const flow of locals) {
        if (this.#log.isFull) this.#apply(added);
        added.accepted += flow.commit(this.#log, this.#deps.incarnation);
      }
      for (const flow of flows) {
        if (this.#log.isFull) this.#apply(added);
        flow.commit(this.#log, this.#deps.incarnation, added);
      }
      this.#apply(added);
      if (flows.length > 0) this.#deps.afterCommit();
    }
    if (this.#settledNames.length === 0) return;
    for (const name of this.#settledNames) this.#names.erase(name);
    this.#settledNames = [];
  }

  #apply(added: OutcomeCounts & { accepted: number }): void {
    const { accepted, handled, rejected, expired, deadLettered } = added;
    this.#log.commit(this.#deps.counters, [accepted, handled, rejected, expired, deadLettered], this.#told);
    Object.assign(added, { accepted: 0, handled: 0, rejected: 0, expired: 0, deadLettered: 0 });
  }

  #acceptLocal(flow: OutFlow, row: AgentRow, mail: Mail, senderSlot: number): void {
    flow.uncommitted += 1;
    if (!flow.isDirty) {
      flow.isDirty = true;
      this.#dirtyLocal.push(flow);
    }
    const recipient = this.#deps.recipientIn(row.slot);
    flow.inbound.received = mail.sequence;
    mail.flow = flow.inbound;
    if (recipient !== undefined)
      this.safeguard(
        mail,
        this.#deps.incarnation,
        flow.flow,
        senderSlot,
        recipient.isRetry(mail) || mail.kept > 0,
      );
    this.#undelivered.push(recipient, mail);
  }

  #flow(row: AgentRow, lane: Lane): OutFlow {
    const known = this.#flows[lane][row.slot];
    if (known !== undefined && known.isLocal === (row.place === this.#deps.place) && fits(known, row))
      return known;
    const flow = this.#newFlow(row, lane);
    this.#flows[lane][row.slot] = flow;
    return flow;
  }

  #newFlow(row: AgentRow, lane: Lane): OutFlow {
    const isWindowed = row.profile.concurrency !== undefined;
    const number = this.#numbers(isWindowed ? 1 + WINDOW_RECORDS : 1);
    const index = slabIndexOf(number);
    if (this.#slabs[index] === undefined) {
      const slab = newFlowSlab(index);
      this.#slabs[index] = slab;
      this.#deps.onFlowSlab(slab);
    }
    const { words } = this.#slabs[index] as FlowSlab;
    const flow = new OutFlow(number, row.slot, lane, words, flowBase(number), row.place === this.#deps.place);
    if (isWindowed) flow.openWindow();
    flow.onSettled = this.#forgetSettled;
    this.#all.push(flow);
    return flow;
  }

  /** The first of so many numbers in one slab. */
  #numbers(count: number): number {
    const left = FLOWS_PER_SLAB - (this.#nextFlow % FLOWS_PER_SLAB);
    const first = count > left ? this.#nextFlow + left : this.#nextFlow;
    this.#nextFlow = first + count;
    return first;
  }
}

/** Whether outcomes can be noted in the order in which the recipient settles. */
const fits = ({ isWindowed }: OutFlow, { profile }: AgentRow): boolean =>
  isWindowed || profile.concurrency === undefined;
