import type { EventLoop } from '../protocol/seams.ts';
import type { Outgoing } from '../link/batch.ts';
import { chargeDeaths, isRetry, type Mail, NO_ASK } from '../mailbox/mail.ts';
import type { InFlow } from '../mailbox/in-flow.ts';
import type { OutFlow } from '../mailbox/out-flow.ts';
import { actorDied, errorToData } from '../protocol/errors.ts';
import type { AgentRow } from '../protocol/agent-row.ts';
import { Inbound } from './inbound.ts';
import type { ThreadDeath } from './control-protocol.ts';
import { Link, type LinkEnd } from '../link/link.ts';
import { Listening } from '../link/listening.ts';
import type { ThreadNode } from './thread-node.ts';

/** Posts that are read in one go, so that a thread which never stops posting does not keep this one for ever. */
const MOST_AT_ONCE = 4_096;

/** The links of one place to all others, and what is left of those whose thread is gone. */
export class Links {
  /** Flows whose sender's thread is gone: what they hold counts here. */
  readonly orphans = new Set<InFlow>();
  readonly #node: ThreadNode;
  readonly #onReceivedAll: (incarnation: number, flows: readonly InFlow[]) => void;
  readonly #links = new Map<string, Inbound>();
  readonly #listening: Listening;

  constructor(
    node: ThreadNode,
    loop: EventLoop,
    onReceivedAll: (incarnation: number, flows: readonly InFlow[]) => void,
  ) {
    this.#node = node;
    this.#onReceivedAll = onReceivedAll;
    this.#listening = new Listening({
      clock: node.seams.clock,
      loop,
      flush: () => node.outbox.flushIfPlanned(),
    });
  }

  /** Connects to another thread, and sends what was accepted for its agents before. */
  connect(end: LinkEnd): void {
    this.#open(end);
    if (this.#node.outbox.hasFlows) this.#sendUnsettled(end.place, undefined);
  }

  #open(end: LinkEnd): void {
    const { outbox, table, seams, counters } = this.#node;
    const { place, port } = end;
    const link = new Link(end, { outbox, table, clock: seams.clock, counters });
    const inbound = new Inbound(this.#node, link, (data) => this.#onData(inbound, data));
    this.#links.set(place, inbound);
    port.onMessage((data) => {
      this.#onData(inbound, data);
      if (inbound.isTalk) this.#listening.listenTo(inbound);
    });
    port.onClose(() => this.#onClosed(inbound));
  }

  to(place: string): Link | undefined {
    return this.#links.get(place)?.link;
  }

  /**
   * Connects to the new thread of a place that died, and sends again what its agents had not settled: untouched mail
   * as it was; what was cut off as a tombstone, or another time to a `retry` recipient.
   */
  reconnect(end: LinkEnd, death: ThreadDeath): void {
    const former = this.#links.get(end.place);
    if (former !== undefined) this.#readOut(former);
    this.#open(end);
    this.#sendUnsettled(end.place, death);
  }

  /** `death`: of the thread that may have begun on some of it. */
  #sendUnsettled(place: string, death: ThreadDeath | undefined): void {
    const link = this.to(place) as Link;
    for (const [, waiting] of this.#node.asks.waiting()) {
      if (this.#node.table.get(waiting.agentId)?.place === place) waiting.link = link;
    }
    const rows = new Map<number, AgentRow>();
    for (const row of this.#node.table.rows()) if (row.place === place) rows.set(row.slot, row);
    for (const flow of this.#node.outbox.flowsTo(rows)) {
      const row = rows.get(flow.slot) as AgentRow;
      flow.isIntroduced = false;
      for (const { mail, fate } of flow.unsettledEntries()) {
        if (fate === 'cut-off' && death !== undefined) this.#cutOff(mail, row, flow.flow, death);
        this.#node.outbox.touch(link);
        // The next thread has heard of nothing that was cancelled before it began, and begins on what it gets at once.
        if (this.#node.cancellations.reasonFor(mail) !== undefined) link.sendCancel(mail.id);
        link.sendMail(flow, mail);
        // Whoever asked does not wait any more.
        if (mail.ask !== NO_ASK && this.#node.asks.get(mail.ask) === undefined) link.asksInFlight -= 1;
      }
    }
  }

  /** Takes in all that a dead thread had posted, before its successor says anything. */
  #readOut(inbound: Inbound): void {
    for (let next = inbound.link.take(); next !== undefined; next = inbound.link.take()) {
      if (next.message !== 0) inbound.link.read(next.message, inbound);
    }
    this.#onClosed(inbound);
  }

  disconnect(place: string): void {
    const inbound = this.#links.get(place);
    if (inbound === undefined) return;
    this.#links.delete(place);
    inbound.link.close();
  }

  #cutOff(mail: Mail, row: AgentRow, flow: number, death: ThreadDeath): void {
    if (mail.tombstone !== undefined) return;
    if (!isRetry(mail.extras, row.profile.delivery)) {
      mail.tombstone = {
        ...errorToData(actorDied(row.id, death.reason)),
        ...(death.taint && { taint: death.taint }),
      };
      return;
    }
    const { charge } = death;
    if (charge === undefined || charge.incarnation !== this.#node.incarnation || charge.flow !== flow) return;
    if (charge.sequence === mail.sequence)
      chargeDeaths(mail, mail.attempts + 1, { ...death, agentId: row.id });
  }

  /** Takes in what is here but not told of yet: a thread that was blocked finds its timers due before its messages. */
  readArrived(): void {
    for (const inbound of this.#links.values()) {
      for (let count = 0; count < MOST_AT_ONCE; count++) {
        const next = inbound.link.take();
        if (next === undefined) break;
        this.#onData(inbound, next.message);
      }
    }
  }

  #onData(inbound: Inbound, data: unknown): void {
    this.#node.turns.begin();
    const { link } = inbound;
    if (data === 0) {
      this.#node.outbox.touch(link);
      this.#node.outbox.flush();
      this.#node.room.wake();
      return;
    }
    inbound.taken = 0;
    link.read(data, inbound);
    if (link.remotePeak >= 16 || link.asksInFlight >= 16) this.#drain(inbound);
    if (inbound.taken > 0) link.tookIn(inbound.taken);
    this.#node.room.wake();
    this.#node.turns.runArrived();
  }

  /** Takes more of what is queued already, so that answers and continuations come in batches too. */
  #drain(inbound: Inbound): void {
    const most = Math.min(32, Math.max(inbound.link.remotePeak, inbound.link.asksInFlight) >> 1);
    for (let count = 0; count < most; count++) {
      const next = inbound.link.take();
      if (next === undefined) return;
      if (next.message === 0) this.#node.outbox.touch(inbound.link);
      else inbound.link.read(next.message, inbound);
    }
  }

  #onClosed(inbound: Inbound): void {
    if (this.#node.router.isStopped || inbound.isClosed) return;
    inbound.isClosed = true;
    if (this.#links.get(inbound.link.place) === inbound) this.#links.delete(inbound.link.place);
    this.#hold(inbound.link.retire());
    const flows = inbound.closeBooks();
    for (const flow of flows) this.adopt(flow);
    this.#node.outbox.flush();
    this.#onReceivedAll(inbound.link.incarnation, flows);
  }

  /**
   * Until their agents have a thread again, this one has the only copy of what it had sent to them; unless it is the
   * embedder's, which ends last, it must not stay so. What was not even posted counts as sent from now on.
   */
  #hold(unposted: Pick<Outgoing, 'flows' | 'mails'>): void {
    const { outbox, table, id } = this.#node;
    unposted.mails.forEach((mail, at) => {
      outbox.hold(unposted.flows[at] as OutFlow, mail);
    });
    if (id === 'host') return;
    const homeless = new Map<number, AgentRow>();
    for (const row of table.rows())
      if (row.place !== id && this.to(row.place) === undefined) homeless.set(row.slot, row);
    for (const flow of outbox.flowsTo(homeless))
      for (const { mail } of flow.unsettledEntries()) outbox.hold(flow, mail);
  }

  /** Takes over a flow whose sender's thread is gone. */
  adopt(flow: InFlow): void {
    this.orphans.add(flow);
  }

  /** A flow of a dead thread that this one has taken over. */
  orphan(incarnation: number, flow: number): InFlow | undefined {
    for (const one of this.orphans) if (one.incarnation === incarnation && one.flow === flow) return one;
    return undefined;
  }

  /** The link to the thread that sits in `incarnation`. */
  ofIncarnation(incarnation: number): Link | undefined {
    for (const { link } of this.#links.values()) if (link.incarnation === incarnation) return link;
    return undefined;
  }

  /** Mail was settled here: wakes those who wait for room in a mailbox of this thread, here and elsewhere. */
  tellOfRoom(): void {
    this.#node.room.wake();
    for (const { link } of this.#links.values()) link.tellOfRoom();
  }

  *all(): Iterable<Link> {
    for (const { link } of this.#links.values()) yield link;
  }

  close(): void {
    for (const { link } of this.#links.values()) link.close();
    this.#links.clear();
  }
}
