import { distance, flowBase, MARK, slabIndexOf } from '../mailbox/flow-marks.ts';
import { InFlow } from '../mailbox/in-flow.ts';
import { type Lane, type Mail, NO_ASK } from '../mailbox/mail.ts';
import { TRAFFIC } from '../observe/traffic-ring.ts';
import { errorToData, notHere } from '../protocol/errors.ts';
import type { Taint } from '../protocol/taint.ts';
import type { BatchSink } from '../link/batch.ts';
import type { Link } from '../link/link.ts';
import type { ThreadNode } from './thread-node.ts';

/** Asks in flight that are few: see `isTalk`. */
const FEW = 8;

/** What comes in from one other thread: its flows, as it introduces them, and everything on them. */
export class Inbound implements BatchSink {
  readonly link: Link;
  /** Mails taken in since the last credit was given back. */
  taken = 0;
  /** There were asks or answers in the last post. */
  hasAsks = false;
  /** The other thread is gone, and everything it posted is here. */
  isClosed = false;
  readonly #node: ThreadNode;
  readonly #flows: InFlow[] = [];
  readonly #slabs = new Map<number, Int32Array>();
  readonly #onData: (data: unknown) => void;
  #isStale = false;

  constructor(node: ThreadNode, link: Link, onData: (data: unknown) => void) {
    this.#node = node;
    this.link = link;
    this.#onData = onData;
  }

  /** Few asks go to and fro: the next message depends on the last one. */
  get isTalk(): boolean {
    const { asksInFlight, remotePeak } = this.link;
    return this.hasAsks && asksInFlight < FEW && remotePeak < FEW;
  }

  /** Reads the next post, if it is here already. */
  take(): boolean {
    if (this.isClosed) return false;
    const next = this.link.take();
    if (next === undefined) return false;
    this.#onData(next.message);
    return true;
  }

  /** Reads the next post; blocks this thread until it is here, at most so long. */
  await(ms: number): boolean {
    this.link.expect();
    // Whatever is posted from here on ends the rest.
    if (this.take()) return true;
    this.link.rest(ms);
    return this.take();
  }

  header(tableVersion: number, peak: number): void {
    this.hasAsks = false;
    const { table, router } = this.#node;
    this.#isStale = tableVersion < table.version;
    if (tableVersion > table.version) router.sawVersion(tableVersion);
    this.link.remotePeak = peak;
  }

  introduce(
    flow: number,
    slot: number,
    lane: number,
    received: number,
    slab: SharedArrayBuffer | undefined,
  ): void {
    const index = slabIndexOf(flow);
    if (slab !== undefined) this.#slabs.set(index, new Int32Array(slab));
    const words = this.#slabs.get(index) as Int32Array;
    const inFlow = new InFlow(this.link.incarnation, flow, slot, lane as Lane, words, flowBase(flow));
    inFlow.received = received;
    this.#flows[flow] = inFlow;
  }

  mail(flowNumber: number, mail: Mail): void {
    const node = this.#node;
    const flow = this.#flows[flowNumber] as InFlow;
    mail.sequence = flow.receive();
    mail.flow = flow;
    this.taken += 1;
    if (mail.ask !== NO_ASK) this.hasAsks = true;
    node.log.traffic.note(TRAFFIC.received, mail, node.turns.nowMs, undefined);
    const cell = node.cellOf(flow.slot);
    if (cell === undefined) return node.refuseUnheld(mail, errorToData(notHere(mail.recipient, node.id)));
    if (this.#isStale && mail.tombstone === undefined) mail.tombstone = cell.judgeAgain(mail);
    cell.deliver(mail, flow.lane);
  }

  reply(ask: number, kind: number, payload: unknown, taint?: Taint): void {
    this.hasAsks = true;
    this.#node.asks.answer(ask, kind, payload, taint);
  }

  cancel(envelopeId: string): void {
    this.#node.noteCancelled(envelopeId);
  }

  pull(ask: number, count: number): void {
    this.#node.windows.find(this.link.incarnation, ask)?.pull(count);
  }

  /**
   * The other thread is gone and everything it posted is here: marks what it did not come to mark, and sees to it that
   * this thread's death would not be the end of its mail.
   */
  closeBooks(): InFlow[] {
    const { outbox } = this.#node;
    for (const flow of this.#flows) {
      if (flow === undefined) continue;
      const { words, base, received } = flow;
      if (distance(received, words[base + MARK.sent] as number) > 0) words[base + MARK.sent] = received;
    }
    const known = new Set(this.#flows.filter((flow) => flow !== undefined));
    const unheard: string[] = [];
    for (const cell of this.#node.cells()) {
      for (const mail of cell.mails()) {
        const { flow } = mail;
        if (flow === undefined || !known.has(flow)) continue;
        // Who asked is dead; one that tries again sends it again, under the same id. Over a channel it was told, not asked.
        const isAsked = mail.ask !== NO_ASK && mail.extras?.channel?.act !== 'data';
        if (isAsked && mail.extras?.derived !== true) unheard.push(mail.id);
        if (mail.name >= 0) continue;
        const sender = this.#node.table.get(mail.sender)?.slot ?? -1;
        outbox.safeguard(mail, flow.incarnation, flow.flow, sender, cell.isRetry(mail) || mail.kept > 0);
      }
    }
    for (const id of unheard) this.#node.cancel(id);
    return [...known];
  }
}
