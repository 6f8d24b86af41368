import { type Mail, NO_ASK, REPLY } from '../mailbox/mail.ts';
import { distance, type FlowSlab, slabIndexOf } from '../mailbox/flow-marks.ts';
import type { OutFlow } from '../mailbox/out-flow.ts';
import { COUNT } from '../observe/thread-counters.ts';
import { type ErrorData, errorToData, notSerialisable, reasonOf } from '../protocol/errors.ts';
import { findUnserialisable } from '../protocol/json.ts';
import type { Clock } from '../protocol/seams.ts';
import type { Taint } from '../protocol/taint.ts';
import {
  type BatchSink,
  type Outgoing,
  STRUCTURED,
  structuredKind,
  TAINTED,
  SendingNames,
  BatchWriter,
  type Introductions,
  BatchReader,
} from './batch.ts';
import type { Port } from './port.ts';

/** Envelopes that may be posted before the other side has taken them in; one post may go beyond it. */
const CREDIT_WINDOW = 1_024;
/** Envelopes that are taken in before a waiting sender is woken. */
const WAKE_EVERY = 256;
/** Mails of one post. */
const MAX_BATCH = 256;
/** Chunks of streams in one post: the reader of a fast one reads while more of it is written. */
const MAX_CHUNKS = 16;
/** Mails of one post if they are large. */
const MAX_LARGE = 128;
/** Mails with more characters of JSON than this are large. */
const LARGE = 1_024;
/** Mails that may be encoded before there is credit for them. */
const MAX_ENCODED = 2_048;
/** How long the other side may take in nothing before its credit no longer holds posts back. */
const PATIENCE_MS = 100;

// The words of one side's half of the credit memory. The other side sets the flags, but for `RESTS`.
/** How many envelopes this side has taken in. */
const TAKEN_IN = 0;
/** Flag: the other side waits for credit. */
const IS_STARVED = 1;
/** Flag: the other side waits for room in a mailbox. */
const WANTS_ROOM = 2;
/** Flag: this side blocks until a post arrives. */
const RESTS = 3;
const SIDE_WORDS = 4;

export const newCreditMemory = (): SharedArrayBuffer => new SharedArrayBuffer(2 * SIDE_WORDS * 4);

/** One end of a link. `place` and `incarnation` are those of the other end. */
export interface LinkEnd {
  readonly place: string;
  readonly incarnation: number;
  readonly port: Port;
  readonly credit: SharedArrayBuffer;
  /** Which half of the credit memory this end writes. */
  readonly side: 0 | 1;
}

/** What a link uses of its thread. */
export interface LinkDeps {
  readonly outbox: { slab(index: number): FlowSlab };
  readonly table: { readonly version: number };
  readonly clock: Pick<Clock, 'monotonicMs'>;
  readonly counters: Float64Array;
}

/**
 * A direct connection to another thread: collects what goes there, posts it in batches, and takes in what comes.
 *
 * The size of a batch follows the asks in flight: a decayed peak, which each header tells the other side. A batch that held a
 * whole window of asks would make the two threads take turns.
 */
export class Link {
  readonly place: string;
  readonly incarnation: number;
  /** Asks from here that wait for an answer from there. */
  asksInFlight = 0;
  /** The other side's peak of asks in flight, for the size of batches of answers. */
  remotePeak = 1;
  #peak = 1;
  readonly #queue = new OutgoingQueue();
  /** Batches that wait for credit, before everything in the queue. */
  readonly #encoded: Encoded[] = [];
  #encodedMails = 0;
  #isLarge = false;
  #posted = 0;
  #starvedAtMs: number | undefined;
  readonly #port: Port;
  readonly #credit: Int32Array;
  readonly #side: 0 | 1;
  readonly #outbox: LinkDeps['outbox'];
  readonly #table: LinkDeps['table'];
  readonly #clock: LinkDeps['clock'];
  readonly #counters: Float64Array;
  readonly #names = new SendingNames();
  readonly #writer = new BatchWriter(this.#names);
  readonly #reader = new BatchReader();
  readonly #slabsSent = new Set<number>();
  #isClosed = false;

  constructor(
    { place, incarnation, port, credit, side }: LinkEnd,
    { outbox, table, clock, counters }: LinkDeps,
  ) {
    this.place = place;
    this.incarnation = incarnation;
    this.#port = port;
    this.#credit = new Int32Array(credit);
    this.#side = side;
    this.#outbox = outbox;
    this.#table = table;
    this.#clock = clock;
    this.#counters = counters;
  }

  /** Whether nothing waits to be posted. */
  get isDrained(): boolean {
    return this.#queue.isEmpty && this.#encoded.length === 0;
  }

  /** Envelopes collected here and not posted yet. */
  get queued(): number {
    return this.#queue.mailCount + this.#encodedMails;
  }

  get #mostMails(): number {
    return this.#isLarge ? MAX_LARGE : MAX_BATCH;
  }

  sendMail(flow: OutFlow, mail: Mail): void {
    const count = this.#queue.mail(flow, mail);
    if (mail.ask === NO_ASK) {
      if (count % this.#mostMails === 0) this.flush();
      return;
    }
    this.asksInFlight += 1;
    if (this.asksInFlight > this.#peak) this.#peak = this.asksInFlight;
    if (count % batchSize(this.#peak) === 0) this.flush();
  }

  sendReply(ask: number, kind: number, payload: unknown, isStructured: boolean, taint?: Taint): void {
    const plainKind = isStructured && kind !== REPLY.empty ? structuredKind(kind) : kind;
    const count =
      taint === undefined
        ? this.#queue.reply(ask, plainKind, payload)
        : this.#queue.reply(ask, plainKind + TAINTED, [taint, payload]);
    if (count >= (kind === REPLY.chunk ? MAX_CHUNKS : batchSize(this.remotePeak))) this.flush();
  }

  sendCancel(envelopeId: string): void {
    this.#queue.cancel(envelopeId);
  }

  sendPull(ask: number, count: number): void {
    this.#queue.pull(ask, count);
  }

  /** Posts what is collected, as far as the other side's credit reaches. True when nothing is left. */
  flush(): boolean {
    const queue = this.#queue;
    if (this.#isClosed || this.isDrained) return true;
    let room = this.#room();
    if (this.#isOverdue(room)) room = Number.POSITIVE_INFINITY;
    while (this.#encoded.length > 0 && room > 0) {
      const next = this.#encoded.shift() as Encoded;
      const count = next.outgoing.mails.length;
      this.#encodedMails -= count;
      room -= count;
      this.#post(next);
    }
    if (this.#encoded.length > 0) room = 0;
    while (!queue.isEmpty) {
      if (queue.mailCount > 0 && room <= 0 && !queue.hasNotices) {
        this.#encodeAhead();
        return this.#awaitCredit();
      }
      const batch = queue.take(Math.min(Math.max(room, 0), this.#mostMails));
      room -= batch.mails.length;
      this.#encode(batch, (encoded) => this.#post(encoded));
    }
    return this.#encoded.length === 0 || this.#awaitCredit();
  }

  /** Encodes mail that waits for credit, while it is in the processor's cache. Large mail waits unencoded: else it would exist twice. */
  #encodeAhead(): void {
    const queue = this.#queue;
    while (!this.#isLarge && queue.mailCount >= MAX_BATCH && this.#encodedMails < MAX_ENCODED)
      this.#encode(queue.take(MAX_BATCH), (encoded) => {
        this.#encoded.push(encoded);
        this.#encodedMails += encoded.outgoing.mails.length;
      });
  }

  /** Decodes one post of the other side. Returns how many mails and replies it held. */
  read(data: unknown, sink: BatchSink): number {
    return this.#reader.read(data, sink);
  }

  /** The next post of the other side that is already here, taken out of turn. */
  take(): { message: unknown } | undefined {
    return this.#port.take();
  }

  /** Gives back the credit of `count` envelopes that this side has taken in. */
  tookIn(count: number): void {
    const at = this.#side * SIDE_WORDS;
    const before = this.#credit[at + TAKEN_IN] as number;
    const after = (before + count) | 0;
    Atomics.store(this.#credit, at + TAKEN_IN, after);
    if (
      (before & ~(WAKE_EVERY - 1)) !== (after & ~(WAKE_EVERY - 1)) &&
      Atomics.load(this.#credit, at + IS_STARVED) === 1
    ) {
      Atomics.store(this.#credit, at + IS_STARVED, 0);
      this.#port.post(0);
    }
  }

  /** From now on a post of the other side ends a `rest`. */
  expect(): void {
    Atomics.store(this.#credit, this.#side * SIDE_WORDS + RESTS, 1);
  }

  /** Blocks this thread for at most `ms`, until the other side has posted something since `expect`. */
  rest(ms: number): void {
    Atomics.wait(this.#credit, this.#side * SIDE_WORDS + RESTS, 1, ms);
  }

  /** Asks the other side to wake this one when it settles mail from here. */
  wantRoom(): void {
    Atomics.store(this.#credit, (1 - this.#side) * SIDE_WORDS + WANTS_ROOM, 1);
  }

  /** Wakes the other side if it waits for room: mail was settled here. */
  tellOfRoom(): void {
    const at = this.#side * SIDE_WORDS + WANTS_ROOM;
    if (Atomics.load(this.#credit, at) === 0 || this.#isClosed) return;
    Atomics.store(this.#credit, at, 0);
    this.#port.post(0);
  }

  /** Stops posting, because the other side is gone. What it had posted can still be read. Returns the mail that was left. */
  retire(): Pick<Outgoing, 'flows' | 'mails'> {
    this.#isClosed = true;
    const left = [
      ...this.#encoded.splice(0).map(({ outgoing }) => outgoing),
      this.#queue.take(Number.POSITIVE_INFINITY),
    ];
    this.#encodedMails = 0;
    return { flows: left.flatMap(({ flows }) => flows), mails: left.flatMap(({ mails }) => mails) };
  }

  close(): void {
    this.retire();
    this.#port.close();
  }

  /**
   * Says whether the other side has taken in nothing for so long that it counts as stuck. Then its credit is ignored: unposted
   * mail would keep all that this thread did from being committed. The mailboxes bound how much goes there.
   */
  #isOverdue(room: number): boolean {
    if (room > 0) {
      this.#starvedAtMs = undefined;
      return false;
    }
    this.#starvedAtMs ??= this.#clock.monotonicMs();
    return this.#clock.monotonicMs() - this.#starvedAtMs >= PATIENCE_MS;
  }

  #room(): number {
    const at = (1 - this.#side) * SIDE_WORDS;
    return CREDIT_WINDOW - distance(this.#posted, Atomics.load(this.#credit, at + TAKEN_IN));
  }

  /** Asks the other side to wake this one; true when credit came while asking and everything is posted. */
  #awaitCredit(): boolean {
    const at = (1 - this.#side) * SIDE_WORDS;
    Atomics.store(this.#credit, at + IS_STARVED, 1);
    return this.#room() >= WAKE_EVERY ? this.flush() : false;
  }

  #post({ message, outgoing: { flows, mails } }: Encoded): void {
    // First the post, then the marks: mail that is marked as sent has left this thread, whenever it is ended.
    this.#port.post(message);
    this.#rouse();
    this.#posted = (this.#posted + mails.length) | 0;
    if (mails.length > 0) {
      let first = 0;
      for (let at = 0; at < mails.length; at++) {
        if ((flows[at] as OutFlow).mark((mails[at] as Mail).sequence)) first += 1;
      }
      this.#countPosted(first);
    }
  }

  /** `first`: how many of the mails were not posted before. */
  #countPosted(first: number): void {
    const counters = this.#counters;
    counters[COUNT.accepted] = (counters[COUNT.accepted] as number) + first;
    counters[COUNT.batchesSent] = (counters[COUNT.batchesSent] as number) + 1;
  }

  /** Ends the other side's rest. */
  #rouse(): void {
    const at = (1 - this.#side) * SIDE_WORDS + RESTS;
    if (Atomics.load(this.#credit, at) === 0) return;
    Atomics.store(this.#credit, at, 0);
    Atomics.notify(this.#credit, at, 1);
  }

  /** Passes the encoded posts to `give`: one, or several in order if it is too much for one message. */
  #encode(outgoing: Outgoing, give: (encoded: Encoded) => void): void {
    this.#peak = Math.max(this.asksInFlight, this.#peak - Math.max(1, this.#peak >> 4), 1);
    const message = this.#messageOf(outgoing);
    if (message === undefined) {
      for (const half of halvesOf(outgoing)) this.#encode(half, give);
      return;
    }
    this.#names.written();
    if (outgoing.mails.length > 0)
      this.#isLarge = typeof message !== 'string' || message.length > outgoing.mails.length * LARGE;
    give({ message, outgoing });
  }

  /** The message; undefined if everything can be carried, but not in one: a string has at most half a gigabyte. */
  #messageOf(outgoing: Outgoing): unknown {
    const news: News = { flows: [], introduced: [], slabs: [] };
    for (const flow of outgoing.flows) if (!flow.isIntroduced) this.#introduce(flow, outgoing, news);
    const header = { tableVersion: this.#table.version, peak: this.#peak };
    const write = (): unknown => this.#writer.write(outgoing, header, news);
    try {
      const message = write();
      if (typeof message !== 'string') structuredClone(message);
      return message;
    } catch {
      withoutUncarriable(outgoing);
    }
    try {
      return write();
    } catch (error) {
      if (outgoing.mails.length + outgoing.replyAsks.length < 2) {
        giveUp(outgoing, error);
        return write();
      }
      for (const flow of news.introduced) flow.isIntroduced = false;
      for (const [index] of news.slabs) this.#slabsSent.delete(index);
      return undefined;
    }
  }

  #introduce(flow: OutFlow, outgoing: Outgoing, news: News): void {
    flow.isIntroduced = true;
    news.introduced.push(flow);
    const index = slabIndexOf(flow.flow);
    const first = outgoing.mails[outgoing.flows.indexOf(flow)] as Mail;
    news.flows.push([flow.flow, flow.slot, flow.lane, (first.sequence - 1) | 0, index]);
    if (this.#slabsSent.has(index)) return;
    this.#slabsSent.add(index);
    news.slabs.push([index, this.#outbox.slab(index).memory]);
  }
}

/** A batch as it was collected, and as the message to post. */
interface Encoded {
  readonly outgoing: Outgoing;
  readonly message: unknown;
}

/** Introductions in a batch, and the flows that they introduce. */
interface News extends Introductions {
  readonly flows: number[][];
  readonly introduced: OutFlow[];
  readonly slabs: [number, SharedArrayBuffer][];
}

/** How many asks or answers make a batch when `peak` asks are in flight. */
function batchSize(peak: number): number {
  return peak < 8 ? 1 : Math.min(MAX_BATCH, peak >> 2);
}

/** Replaces whatever cannot be carried by the reason: a mail becomes a tombstone, an answer an error. */
function withoutUncarriable(outgoing: Outgoing): void {
  for (const mail of outgoing.mails) {
    const { payload, extras } = mail;
    const extrasFault = uncarriable('metadata', extras?.unknown, false);
    const fault = extrasFault ?? uncarriable('payload', payload, extras?.structured === true);
    if (fault === undefined) continue;
    mail.tombstone = fault;
    mail.payload = null;
    if (extrasFault !== undefined) mail.extras = undefined;
  }
  for (let at = 0; at < outgoing.replyPayloads.length; at++) {
    const kind = outgoing.replyKinds[at] as number;
    const given = outgoing.replyPayloads[at];
    const [taint, payload] = kind >= TAINTED ? (given as [Taint, unknown]) : [undefined, given];
    const fault = uncarriable('answer', payload, (kind & STRUCTURED) !== 0);
    if (fault === undefined) continue;
    outgoing.replyKinds[at] = taint === undefined ? REPLY.error : REPLY.error + TAINTED;
    outgoing.replyPayloads[at] = taint === undefined ? fault : [taint, fault];
  }
}

/** Replaces the only mail or answer: it looked as if it could be carried, and cannot. */
function giveUp({ mails: [mail], replyKinds, replyPayloads }: Outgoing, error: unknown): void {
  const fault = errorToData(notSerialisable('payload', reasonOf(error)));
  if (mail !== undefined) {
    mail.tombstone = fault;
    mail.payload = null;
    mail.extras = undefined;
  }
  replyKinds.fill(REPLY.error);
  replyPayloads.fill(fault);
}

function uncarriable(
  root: 'payload' | 'metadata' | 'answer',
  value: unknown,
  isStructured: boolean,
): ErrorData | undefined {
  try {
    if (isStructured) structuredClone(value);
    else JSON.stringify(value);
    return undefined;
  } catch (error) {
    const { path, kind } = (isStructured ? undefined : findUnserialisable(value, root)) ?? {
      path: root,
      kind: reasonOf(error),
    };
    return errorToData(notSerialisable(path, kind));
  }
}

/** Collects what a link posts next. Mail may have to wait for credit; the rest goes with the next post. */
export class OutgoingQueue {
  #flows: OutFlow[] = [];
  #mails: Mail[] = [];
  /** Index of the first mail that is not taken yet. */
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

  /** Whether something is there that needs no credit. */
  get hasNotices(): boolean {
    return this.#replyAsks.length > 0 || this.#cancels.length > 0 || this.#pulls.length > 0;
  }

  /** Adds a mail; returns how many wait now. */
  mail(flow: OutFlow, mail: Mail): number {
    this.#flows.push(flow);
    return this.#mails.push(mail) - this.#from;
  }

  /** Adds a reply; returns how many wait now. */
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

/** Two posts that together hold the same, in the same order. */
function halvesOf(outgoing: Outgoing): readonly [Outgoing, Outgoing] {
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
