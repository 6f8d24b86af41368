import type { JournalledFunds } from '../mailbox/journalled-funds.ts';
import {
  type FlowSlab,
  FLOWS_PER_SLAB,
  flowBase,
  newFlowSlab,
  slabIndexOf,
  WINDOW_RECORDS,
} from '../mailbox/flow-marks.ts';
import type { InFlow } from '../mailbox/in-flow.ts';
import { LANE, type Lane, type Mail } from '../mailbox/mail.ts';
import { MailNames } from '../mailbox/mail-names.ts';
import { OutFlow } from '../mailbox/out-flow.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import type { Clock, EventLoop } from '../protocol/seams.ts';
import type { Commits } from './commits.ts';
import { type UnitLog, JournalWriter, type Sender, type Sending } from './journal-writer.ts';
import type { Link } from './link.ts';
import { Receipts } from './receipts.ts';

/** Takes mail that is sent to it within the thread. */
export interface Recipient {
  /** Says whether this mail may be delivered again after a death. */
  isRetry(mail: Mail): boolean;
  deliver(mail: Mail, lane: Lane): void;
}

/** Delivers mail within the thread. */
export interface ThreadDelivery {
  /** Who is hosted here in this slot. */
  recipientIn(slot: number): Recipient | undefined;
  /** Mail is about to be delivered. */
  begin(): void;
  /** Gives the mail to its recipient; without one it is refused. */
  deliver(recipient: Recipient | undefined, mail: Mail): void;
}

/** The control thread, which outlives this one. */
export interface ControlThread {
  /** It keeps the memory of these flows. */
  keepFlows(slab: FlowSlab): void;
  /** It keeps the memory of these names. */
  keepNames(memory: SharedArrayBuffer): void;
  /** It gets a second copy of what only this thread holds. */
  keepCopies(mails: readonly ReplicatedMail[]): void;
}

/** The links of the thread. */
export interface OutboxLinks {
  to(place: string): Link | undefined;
  /** Mail was settled here: wakes those who wait for room in a mailbox of this thread. */
  tellOfRoom(): void;
}

export interface OutboxDeps {
  readonly place: { readonly id: string; readonly incarnation: number };
  readonly links: OutboxLinks;
  readonly delivery: ThreadDelivery;
  readonly commits: Commits;
  readonly control: ControlThread;
  /** Posting is put off until the code that runs now is over; whether something is settled is looked at by the clock. */
  readonly loop: Pick<EventLoop, 'defer'> & Pick<Clock, 'setTimer'>;
}

/** A mail for a `retry` recipient whose only copy is in this thread: the control thread keeps a second one. */
export interface ReplicatedMail {
  readonly incarnation: number;
  readonly flow: number;
  readonly mail: Mail;
}

/**
 * Everything that one thread sends: one flow for each recipient and lane, bounded and numbered. It is posted in batches, and
 * committed afterwards.
 *
 * The order of `flush` makes a death harmless. First everything is posted, then the marks say so, and only then is mail within
 * the thread delivered. So nobody starts on mail of a handler that may have to run again.
 */
export class Outbox {
  readonly #place: string;
  readonly #incarnation: number;
  readonly #links: OutboxLinks;
  readonly #delivery: ThreadDelivery;
  readonly #commits: Commits;
  readonly #control: ControlThread;
  readonly #loop: OutboxDeps['loop'];
  #receipts: Receipts | undefined;
  readonly #flows: [(OutFlow | undefined)[], (OutFlow | undefined)[], (OutFlow | undefined)[]] = [[], [], []];
  readonly #all: OutFlow[] = [];
  readonly #slabs: FlowSlab[] = [];
  #nextFlow = 0;
  readonly #names: MailNames;
  #journal: JournalWriter | undefined;
  #fundsOf: (account: number) => JournalledFunds | undefined = () => undefined;
  readonly #dirtyLinks: Link[] = [];
  #kept: ReplicatedMail[] = [];
  /** Mail for a place without a link, in the order in which it was accepted. */
  readonly #held: { readonly flow: OutFlow; readonly mail: Mail }[] = [];
  /** Pairs of recipient, if there is one, and mail. Mail within the thread is delivered when its sender's work is committed. */
  #undelivered: (Recipient | Mail | undefined)[] = [];
  #settledNames: number[] = [];
  #onCommitted: (() => void)[] = [];
  #isFlushPlanned = false;

  constructor({ place, links, delivery, commits, control, loop }: OutboxDeps) {
    this.#place = place.id;
    this.#incarnation = place.incarnation;
    this.#links = links;
    this.#delivery = delivery;
    this.#commits = commits;
    this.#control = control;
    this.#loop = loop;
    this.#names = new MailNames((memory) => control.keepNames(memory));
  }

  /** Who is told when what is sent from here is settled. */
  get receipts(): Receipts {
    this.#receipts ??= new Receipts(this.#loop);
    return this.#receipts;
  }

  /** How much of what was sent somebody waits for to be settled. */
  get awaited(): number {
    return this.#receipts?.size ?? 0;
  }

  /** Tells nobody any more. */
  close(): void {
    this.#receipts?.close();
  }

  slab(index: number): FlowSlab {
    return this.#slabs[index] as FlowSlab;
  }

  /** Says whether the recipient takes one more envelope of this thread in this lane. */
  hasRoom(row: AgentRow, lane: Lane): boolean {
    return this.#flow(row, lane).hasRoom(row.profile.mailboxCapacity);
  }

  /**
   * Accepts `mail` for `row`, which must have room: numbers it, keeps it, and has it posted. Mail for a durable recipient is
   * posted when the journal has it; `sender` is not done before.
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

  /** Notes what limits a kept mail, so that a later process does not spend more on it. */
  #limit(mail: Mail): void {
    const { extras } = mail;
    const funds = extras?.account === undefined ? undefined : this.#fundsOf(extras.account);
    if (funds !== undefined) mail.extras = { ...extras, funds };
  }

  /** Accepts a mail that a former process left for an agent that lives here. */
  acceptLeft(row: AgentRow, mail: Mail): void {
    this.#send(row, LANE.user, mail, -1);
  }

  /** Posts a mail that the journal has. */
  #post({ row, lane, mail, senderSlot }: Sending): void {
    const flow = this.#flow(row, lane);
    flow.pending -= 1;
    if (flow.isLocal) mail.text = undefined;
    this.#send(row, lane, mail, senderSlot);
  }

  #send(row: AgentRow, lane: Lane, mail: Mail, senderSlot: number): void {
    const flow = this.#flow(row, lane);
    flow.add(mail);
    this.#receipts?.sent(flow, mail);
    if (flow.isLocal) {
      this.#acceptLocal(flow, row, mail, senderSlot);
      return;
    }
    // If this thread and the recipient's die together, the journal has the mail under that number.
    if (mail.kept > 0) mail.name = this.#names.write(mail, this.#incarnation, flow.flow, senderSlot);
    const link = this.#links.to(row.place);
    if (link === undefined) {
      this.hold(flow, mail);
      return;
    }
    if (link.isDrained) this.#dirtyLinks.push(link);
    link.sendMail(flow, mail);
    this.planFlush();
  }

  /**
   * Keeps a mail for a place that has no thread at the moment, and gives the control thread a copy. It is posted to the place's
   * next thread. Until then, mail of a handler that is done must not exist in this thread alone.
   */
  hold(flow: OutFlow, mail: Mail): void {
    this.#held.push({ flow, mail });
    this.#kept.push({ incarnation: this.#incarnation, flow: flow.flow, mail });
    this.planFlush();
  }

  /** Has the link posted with the next flush. */
  touch(link: Link): void {
    if (link.isDrained) this.#dirtyLinks.push(link);
    this.planFlush();
  }

  /** Notes that the flow has outcomes to commit. */
  touchIn(flow: InFlow): void {
    if (this.#commits.settled(flow)) this.planFlush();
  }

  /** Has the mail's name erased once its outcome, which is known, is committed. */
  forgetName(mail: Mail): void {
    if (mail.name < 0) return;
    this.#settledNames.push(mail.name);
    mail.name = -1;
  }

  readonly #forgetSettled = (mail: Mail): void => this.forgetName(mail);

  /** Safeguards a mail whose only copy is here: names it or, for a `retry` recipient, has a second copy kept. */
  safeguard(mail: Mail, incarnation: number, flow: number, senderSlot: number, isCopied: boolean): void {
    if (isCopied) this.#kept.push({ incarnation, flow, mail });
    else mail.name = this.#names.write(mail, incarnation, flow, senderSlot);
    this.planFlush();
  }

  /**
   * Calls `tell` when everything accepted here so far is committed: if this thread dies, the next one gets it. Nobody has begun
   * on any of it by then.
   */
  whenCommitted(tell: () => void): void {
    this.#onCommitted.push(tell);
    this.planFlush();
  }

  planFlush(): void {
    if (this.#isFlushPlanned) return;
    this.#isFlushPlanned = true;
    this.#loop.defer(this.#flushPlanned);
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
      this.#control.keepCopies(kept);
      for (const { flow, mail } of this.#held.splice(0)) this.#commits.markHeld(flow, mail.sequence);
    }
    this.#commit();
    for (const tell of this.#onCommitted.splice(0)) tell();
    this.#deliver();
    this.#journal?.flush();
  }

  /** Drops settled envelopes from all ledgers; returns how many are still kept. */
  trim(): number {
    let kept = 0;
    for (const flow of this.#all) kept += flow.isLocal ? 0 : flow.trim();
    return kept;
  }

  /** Whether anything was ever sent from here. */
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
    this.#delivery.begin();
    for (let at = 0; at < waiting.length; at += 2)
      this.#delivery.deliver(waiting[at] as Recipient | undefined, waiting[at + 1] as Mail);
  }

  /** What is accepted within the thread, and every known outcome. */
  #commit(): void {
    if (this.#commits.commit()) this.#links.tellOfRoom();
    if (this.#settledNames.length === 0) return;
    for (const name of this.#settledNames) this.#names.erase(name);
    this.#settledNames = [];
  }

  #acceptLocal(flow: OutFlow, row: AgentRow, mail: Mail, senderSlot: number): void {
    this.#commits.accepted(flow);
    const recipient = this.#delivery.recipientIn(row.slot);
    flow.inbound.received = mail.sequence;
    mail.flow = flow.inbound;
    if (recipient !== undefined)
      this.safeguard(
        mail,
        this.#incarnation,
        flow.flow,
        senderSlot,
        recipient.isRetry(mail) || mail.kept > 0,
      );
    this.#undelivered.push(recipient, mail);
  }

  #flow(row: AgentRow, lane: Lane): OutFlow {
    const known = this.#flows[lane][row.slot];
    if (known !== undefined && known.isLocal === (row.place === this.#place) && fits(known, row))
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
      this.#control.keepFlows(slab);
    }
    const { words } = this.#slabs[index] as FlowSlab;
    const flow = new OutFlow(number, row.slot, lane, words, flowBase(number), row.place === this.#place);
    if (isWindowed) flow.openWindow();
    flow.onSettled = this.#forgetSettled;
    this.#all.push(flow);
    return flow;
  }

  /** Takes `count` flow numbers in one slab; returns the first. */
  #numbers(count: number): number {
    const left = FLOWS_PER_SLAB - (this.#nextFlow % FLOWS_PER_SLAB);
    const first = count > left ? this.#nextFlow + left : this.#nextFlow;
    this.#nextFlow = first + count;
    return first;
  }
}

/** Whether the flow can note outcomes in the order in which this recipient settles. */
const fits = ({ isWindowed }: OutFlow, { profile }: AgentRow): boolean =>
  isWindowed || profile.concurrency === undefined;
