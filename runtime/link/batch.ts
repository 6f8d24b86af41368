import {
  askGeneration,
  askName,
  askSlot,
  Mail,
  type MailExtras,
  NO_ASK,
  NO_SLOT,
  REPLY,
} from '../mailbox/mail.ts';
import type { Taint } from '../protocol/taint.ts';
import type { PathHop } from '../protocol/envelope.ts';
import type { OutFlow } from '../mailbox/out-flow.ts';
import { invalidEnvelope, isOrreryError, type OrreryError, reasonOf } from '../protocol/errors.ts';

// How envelopes and answers cross between threads. Many go as JSON in columns, with a dictionary of strings; one goes flat.
// Payloads that JSON cannot carry go beside it by structured clone.

/** Added to a mail's type or a reply's kind: the payload is undefined. */
export const UNDEFINED = 16;
/** Added to a mail's type or a reply's kind: the payload crosses by structured clone. */
export const STRUCTURED = 32;
/** Added to a reply's kind: the payload is a pair of taint and value. */
export const TAINTED = 64;

/** First item of a post that is one mail. */
export const FLAT_MAIL = -1;
/** First item of a post that is one answer. */
export const FLAT_REPLY = -2;
/** First item of a post that holds columns. */
export const FULL = 0;

/** The mail has no correlation id of its own to write: it has none, or that of its context. */
export const NO_CORRELATION = 0;
/** The mail's correlation id is its own id. */
export const OWN_ID = 1;

/** Receives a decoded batch: one call for each item, in the order in which they were sent. */
export interface BatchSink {
  header(tableVersion: number, peak: number): void;
  introduce(
    flow: number,
    slot: number,
    lane: number,
    received: number,
    slab: SharedArrayBuffer | undefined,
  ): void;
  mail(flow: number, mail: Mail): void;
  reply(ask: number, kind: number, payload: unknown, taint?: Taint): void;
  cancel(envelopeId: string): void;
  pull(ask: number, count: number): void;
}

/** The kind of a reply whose payload crosses by structured clone. */
export const structuredKind = (kind: number): number => kind + STRUCTURED;

/**
 * One property of the mails of a batch. Most have the same value in all of them: such a column is that one value.
 *
 * Values that are arrays or objects are never taken to be the same.
 */
export class Column<Value> {
  #values: Value[] | undefined;
  #first: Value | undefined;
  #count = 0;

  push(value: Value): void {
    const count = this.#count++;
    if (this.#values !== undefined) this.#values.push(value);
    else if (count === 0 && typeof value !== 'object') this.#first = value;
    else if (value !== this.#first) {
      const values = new Array<Value>(count).fill(this.#first as Value);
      values.push(value);
      this.#values = values;
    }
  }

  /** Returns what was pushed, or the one value that all have, and empties the column. */
  take(): Value[] | Value | undefined {
    const taken = this.#values ?? this.#first;
    this.#values = undefined;
    this.#first = undefined;
    this.#count = 0;
    return taken;
  }

  /** Returns what was pushed, one value for each, and empties the column. */
  takeAll(): Value[] {
    const values = this.#values ?? new Array<Value>(this.#count).fill(this.#first as Value);
    this.take();
    return values;
  }
}

/** The value at a position of a taken column. */
export const entry = (column: unknown, at: number): unknown => (Array.isArray(column) ? column[at] : column);

/** Contexts that a link remembers. */
const CONTEXTS = 512;
/** Contexts that one batch may name for the first time. */
const NEW_CONTEXTS = 256;
/** Strings that a link remembers. */
const STRINGS = 65_536;

/** A context with its number: `[number, correlation id, delegation path]`. */
export type NamedContext = readonly [number, string, readonly PathHop[]];

/**
 * The numbers under which one side of a link sends strings, extras and contexts, so that each crosses once. A context is the
 * conversation and path that all mail of one handler has in common. Number 0 means none.
 */
export class SendingNames {
  readonly #strings = new Map<string, number>();
  readonly #extras = new WeakMap<MailExtras, number>();
  readonly #contexts = new Map<readonly PathHop[], number>();
  readonly #kept: { readonly correlationId: string; readonly path: readonly PathHop[] }[] = [];
  #nextContext = 0;
  #newStrings: string[] = [];
  #newContexts: NamedContext[] = [];

  /** The number of `text`, or `text` itself if there is no number left. */
  string(text: string | undefined): number | string {
    if (text === undefined) return 0;
    const known = this.#strings.get(text);
    if (known !== undefined) return known;
    if (this.#strings.size >= STRINGS) return text;
    const number = this.#strings.size + 1;
    this.#strings.set(text, number);
    this.#newStrings.push(text);
    return number;
  }

  /** The number of these extras: few mails have any, and those often the same. */
  extras(extras: MailExtras): number | string {
    const known = this.#extras.get(extras);
    if (known !== undefined) return known;
    const number = this.string(JSON.stringify(extras));
    if (typeof number === 'number') this.#extras.set(extras, number);
    return number;
  }

  /** The number of the mail's correlation id and path; 0 when they have to be written out. */
  context({ path, correlationId }: Mail): number {
    if (path === undefined || correlationId === undefined) return 0;
    const known = this.#contexts.get(path);
    if (known !== undefined) {
      if (this.#kept[known]?.correlationId !== correlationId) return 0;
      if (!this.#mayBeReplaced(known)) return known + 1;
    }
    if (this.#newContexts.length === NEW_CONTEXTS) return 0;
    const at = this.#nextContext;
    this.#nextContext = (at + 1) % CONTEXTS;
    const replaced = this.#kept[at];
    if (replaced !== undefined && this.#contexts.get(replaced.path) === at)
      this.#contexts.delete(replaced.path);
    this.#kept[at] = { correlationId, path };
    this.#contexts.set(path, at);
    this.#newContexts.push([at + 1, correlationId, path]);
    return at + 1;
  }

  /**
   * Says whether this batch could still give the number to another context. The other side reads all names of a batch before
   * its first mail. So a context that the batch uses keeps its number to the end of it, or gets a new one now.
   */
  #mayBeReplaced(at: number): boolean {
    const ahead = (at - this.#nextContext + CONTEXTS) % CONTEXTS;
    return ahead < NEW_CONTEXTS - this.#newContexts.length;
  }

  /** The strings and contexts named since the last written batch; 0 if there are none. */
  get added(): readonly [readonly string[], readonly NamedContext[]] | 0 {
    if (this.#newStrings.length === 0 && this.#newContexts.length === 0) return 0;
    return [this.#newStrings, this.#newContexts];
  }

  /** Notes that the batch with these names will be posted, before every later one with mails. */
  written(): void {
    if (this.#newStrings.length > 0) this.#newStrings = [];
    if (this.#newContexts.length > 0) this.#newContexts = [];
  }
}

/** The strings, extras and contexts that the other side of a link has numbered. */
export class ReceivedNames {
  readonly #strings: (string | undefined)[] = [undefined];
  readonly #extras: (MailExtras | undefined)[] = [];
  readonly #contexts: NamedContext[] = [];

  add([strings, contexts]: readonly [readonly string[], readonly NamedContext[]]): void {
    for (const text of strings) this.#strings.push(text);
    for (const context of contexts) this.#contexts[context[0]] = context;
  }

  string(named: number | string): string | undefined {
    return typeof named === 'string' ? named : this.#strings[named];
  }

  extras(named: number | string): MailExtras {
    if (typeof named === 'string') return JSON.parse(named) as MailExtras;
    this.#extras[named] ??= Object.freeze(JSON.parse(this.#strings[named] as string) as MailExtras);
    return this.#extras[named];
  }

  context(number: number): NamedContext {
    return this.#contexts[number] as NamedContext;
  }
}

/** Everything that a link sends in one post. Replies and pulls are parallel arrays. */
export interface Outgoing {
  readonly flows: readonly OutFlow[];
  readonly mails: readonly Mail[];
  readonly replyAsks: readonly number[];
  readonly replyKinds: number[];
  readonly replyPayloads: unknown[];
  readonly cancels: readonly string[];
  readonly pulls: readonly number[];
}

/** The beginning of every post. */
interface BatchHeader {
  readonly tableVersion: number;
  readonly peak: number;
}

/** Flows that the other side does not know yet, and the memories of their marks by index. */
export interface Introductions {
  readonly flows: readonly (readonly number[])[];
  readonly slabs: readonly (readonly [number, SharedArrayBuffer])[];
}

/** Writes the batches of one thread. It reuses its columns for the next batch. */
export class BatchWriter {
  readonly #names: SendingNames;
  #clones: unknown[] = [];
  /** Payloads that the journal has already written as JSON. */
  #texts = '';
  readonly #runs = new Column<number>();
  readonly #flows = new Column<number>();
  readonly #types = new Column<number>();
  readonly #origins = new Column<number | string>();
  readonly #keys = new Column<number | string>();
  readonly #senders = new Column<number | string>();
  readonly #recipients = new Column<number | string>();
  readonly #contexts = new Column<number>();
  readonly #correlations = new Column<number | string>();
  readonly #paths = new Column<unknown>();
  readonly #times = new Column<number | string>();
  readonly #deadlines = new Column<number | string>();
  readonly #capabilities = new Column<number | string>();
  readonly #askSlots = new Column<number>();
  readonly #askGenerations = new Column<number>();
  readonly #extras = new Column<unknown>();

  constructor(names: SendingNames) {
    this.#names = names;
  }

  /** Encodes what is collected. Throws when a payload cannot be carried. */
  write(outgoing: Outgoing, header: BatchHeader, { flows, slabs }: Introductions): unknown {
    const { mails, replyAsks, cancels, pulls } = outgoing;
    this.#clones = [];
    this.#texts = '';
    const isOne =
      flows.length === 0 &&
      cancels.length === 0 &&
      pulls.length === 0 &&
      mails.length + replyAsks.length === 1;
    let body: unknown[];
    if (isOne && mails.length === 1) body = this.#flatMail(outgoing, header);
    // A flat reply has no room for the names of a batch that could not be posted.
    else if (isOne && this.#names.added === 0) body = this.#flatReply(outgoing, header);
    else {
      const mailColumns = mails.length === 0 ? 0 : this.#mailColumns(outgoing);
      const replyColumns = replyAsks.length === 0 ? 0 : this.#replyColumns(outgoing);
      body = [
        FULL,
        header.tableVersion,
        header.peak,
        this.#names.added,
        flows.length === 0 ? 0 : flows,
        mailColumns,
        replyColumns,
        cancels.length === 0 ? 0 : cancels,
        pulls.length === 0 ? 0 : pulls,
      ];
    }
    const json = this.#texts === '' ? JSON.stringify(body) : withLast(JSON.stringify(body), this.#texts);
    return this.#clones.length === 0 && slabs.length === 0 ? json : [json, this.#clones, slabs];
  }

  #flatMail({ flows, mails }: Outgoing, { tableVersion, peak }: BatchHeader): unknown[] {
    const names = this.#names;
    const mail = mails[0] as Mail;
    const context = names.context(mail);
    const body = [
      FLAT_MAIL,
      tableVersion,
      peak,
      (flows[0] as OutFlow).flow,
      typeOf(mail),
      this.#originOf(mail),
      mail.key,
      names.string(mail.sender),
      names.string(mail.recipient),
      context,
      context === 0 ? correlationOf(mail) : NO_CORRELATION,
      context === 0 ? (mail.path ?? 0) : 0,
      mail.timestamp,
      deadlineOf(mail, mail.timestamp),
      names.string(mail.capability),
      askSlot(mail.ask),
      askGeneration(mail.ask),
      this.#extrasOf(mail),
      mail.text === undefined ? this.#payloadOf(mail) : 0,
    ];
    const { added } = names;
    if (mail.kept !== 0) body.push(added, mail.kept);
    else if (added !== 0) body.push(added);
    if (mail.text !== undefined) {
      this.#texts = mail.text;
      mail.text = undefined;
    }
    return body;
  }

  #flatReply(outgoing: Outgoing, { tableVersion, peak }: BatchHeader): unknown[] {
    const ask = outgoing.replyAsks[0] as number;
    const kind = outgoing.replyKinds[0];
    const payload = this.#replyPayload(outgoing, 0);
    return [FLAT_REPLY, tableVersion, peak, askSlot(ask), askGeneration(ask), kind, payload];
  }

  #mailColumns({ flows, mails }: Outgoing): unknown[] {
    const first = mails[0] as Mail;
    const firstSerial = typeof first.key === 'number' ? first.key - 1 : 0;
    const payloads = new Array<unknown>(mails.length);
    let texts = 0;
    let serial = firstSerial;
    let isAsked = false;
    let isKept = false;
    let run = 0;
    let previous = first;
    let recipient = this.#names.string(first.recipient);
    for (let at = 0; at < mails.length; at++) {
      const mail = mails[at] as Mail;
      if (mail !== previous && !isAlike(mail, previous)) {
        this.#head(previous, run, first.timestamp);
        run = 0;
      }
      if (mail.recipient !== previous.recipient) recipient = this.#names.string(mail.recipient);
      previous = mail;
      run += 1;
      const { key } = mail;
      this.#flows.push((flows[at] as OutFlow).flow);
      this.#recipients.push(recipient);
      this.#keys.push(typeof key === 'string' ? key : key - serial);
      if (typeof key === 'number') serial = key;
      this.#times.push(since(first.timestamp, mail.timestamp));
      isAsked ||= mail.ask !== NO_ASK;
      isKept ||= mail.kept !== 0;
      if (mail.text === undefined) payloads[at] = this.#payloadOf(mail);
      else texts += 1;
    }
    this.#head(previous, run, first.timestamp);
    if (texts > 0) this.#texts = textOf(mails, payloads);
    return [
      first.timestamp,
      firstSerial,
      this.#runs.takeAll(),
      this.#types.take(),
      this.#origins.take(),
      this.#senders.take(),
      this.#contexts.take(),
      this.#correlations.take(),
      this.#paths.take(),
      this.#deadlines.take(),
      this.#capabilities.take(),
      this.#extras.take(),
      this.#flows.take(),
      this.#recipients.take(),
      this.#keys.take(),
      this.#times.take(),
      isAsked ? mails.map(({ ask }) => askSlot(ask)) : NO_SLOT,
      isAsked ? mails.map(({ ask }) => askGeneration(ask)) : 0,
      texts === 0 ? payloads : 0,
      isKept ? keptNumbers(mails) : 0,
    ];
  }

  /** Writes what a run of mails has in common. */
  #head(mail: Mail, run: number, firstMs: number): void {
    const names = this.#names;
    const context = names.context(mail);
    this.#runs.push(run);
    this.#types.push(typeOf(mail));
    this.#origins.push(this.#originOf(mail));
    this.#senders.push(names.string(mail.sender));
    this.#contexts.push(context);
    // What a run of several shares is not the own id of each, even if it is the last one's.
    const correlation = run === 1 ? correlationOf(mail) : (mail.correlationId ?? NO_CORRELATION);
    this.#correlations.push(context === 0 ? correlation : NO_CORRELATION);
    this.#paths.push(context === 0 ? (mail.path ?? 0) : 0);
    this.#deadlines.push(deadlineOf(mail, firstMs));
    this.#capabilities.push(names.string(mail.capability));
    this.#extras.push(this.#extrasOf(mail));
  }

  #replyColumns(outgoing: Outgoing): unknown[] {
    const { replyAsks, replyKinds } = outgoing;
    const payloads = new Array<unknown>(replyAsks.length);
    for (let at = 0; at < payloads.length; at++) {
      const ask = replyAsks[at] as number;
      this.#askSlots.push(askSlot(ask));
      this.#askGenerations.push(askGeneration(ask));
      this.#types.push(replyKinds[at] as number);
      payloads[at] = this.#replyPayload(outgoing, at);
    }
    return [this.#askSlots.take(), this.#askGenerations.take(), this.#types.take(), payloads];
  }

  #payloadOf(mail: Mail): unknown {
    if (mail.extras?.structured !== true) return mail.payload;
    return this.#clones.push(mail.payload) - 1;
  }

  #replyPayload({ replyKinds, replyPayloads }: Outgoing, at: number): unknown {
    const payload = replyPayloads[at];
    return ((replyKinds[at] as number) & STRUCTURED) === 0 ? payload : this.#clones.push(payload) - 1;
  }

  /** The number of the mail's origin; 0 if the key is the id itself. */
  #originOf({ key, origin }: Mail): number | string {
    return typeof key === 'string' ? 0 : this.#names.string(origin);
  }

  /** Extras, attempts and tombstone; 0 for the many that have none. */
  #extrasOf({ extras, attempts, tombstone }: Mail): unknown {
    if (attempts > 0 || tombstone !== undefined) return { ...extras, attempts, tombstone };
    if (extras === undefined) return 0;
    return isShared(extras) ? this.#names.extras(extras) : extras;
  }
}

/** All payloads as JSON. Where a mail has the text already, that is used and dropped. */
function textOf(mails: readonly Mail[], payloads: readonly unknown[]): string {
  const texts = mails.map((mail, at) => {
    const { text } = mail;
    mail.text = undefined;
    return text ?? JSON.stringify(payloads[at]) ?? 'null';
  });
  return `[${texts.join(',')}]`;
}

/** The numbers in the journal, each as its distance to the one before; 0 for a mail that is not kept there. */
function keptNumbers(mails: readonly Mail[]): number[] {
  let last = 0;
  return mails.map(({ kept }) => {
    if (kept === 0) return 0;
    const distance = kept - last;
    last = kept;
    return distance;
  });
}

/** A list as JSON with one more item, which is JSON. */
const withLast = (json: string, item: string): string => `${json.slice(0, -1)},${item}]`;

function typeOf(mail: Mail): number {
  if (mail.payload === undefined) return mail.type + UNDEFINED;
  return mail.extras?.structured === true ? mail.type + STRUCTURED : mail.type;
}

/** A time as its distance to `fromMs`; as a text if adding the distance would not give it back. */
function since(fromMs: number, atMs: number): number | string {
  const distanceMs = atMs - fromMs;
  return fromMs + distanceMs === atMs ? distanceMs : String(atMs);
}

/** The deadline as its distance to `fromMs`; 0 without one. */
function deadlineOf({ deadlineAtMs }: Mail, fromMs: number): number | string {
  if (deadlineAtMs === 0) return 0;
  return deadlineAtMs === fromMs ? String(deadlineAtMs) : since(fromMs, deadlineAtMs);
}

/** Says whether two mails differ in no more than flow, recipient, id, time, ask and payload. */
const isAlike = (mail: Mail, other: Mail): boolean =>
  mail.sender === other.sender &&
  mail.path === other.path &&
  mail.correlationId === other.correlationId &&
  mail.capability === other.capability &&
  mail.deadlineAtMs === other.deadlineAtMs &&
  mail.extras === other.extras &&
  mail.type === other.type &&
  mail.origin === other.origin &&
  typeof mail.key === typeof other.key &&
  (mail.payload === undefined) === (other.payload === undefined) &&
  mail.attempts === other.attempts &&
  mail.tombstone === other.tombstone;

function correlationOf(mail: Mail): number | string {
  if (mail.correlationId === undefined) return NO_CORRELATION;
  return mail.beginsConversation ? OWN_ID : mail.correlationId;
}

/** Frozen extras are shared by many mails: see `sharedExtras` of the mail maker. */
const isShared = (extras: MailExtras): boolean => Object.isFrozen(extras);

/** A small number, or the text it stands for. */
type Named = number | string;
type Added = readonly [readonly string[], readonly NamedContext[]];

/** Reads the batches that a link receives. */
export class BatchReader {
  readonly #names = new ReceivedNames();

  /**
   * Decodes one post into calls of `sink`. Returns how many mails and replies it held. Throws INVALID_ENVELOPE if it is no
   * batch.
   */
  read(data: unknown, sink: BatchSink): number {
    try {
      if (typeof data === 'string') return this.#readBody(JSON.parse(data) as unknown[], [], [], sink);
      const [json, clones, slabs] = data as [string, unknown[], [number, SharedArrayBuffer][]];
      return this.#readBody(JSON.parse(json) as unknown[], clones, slabs, sink);
    } catch (error) {
      throw isOrreryError(error) ? error : unreadable(reasonOf(error), error);
    }
  }

  #readBody(
    body: unknown[],
    clones: readonly unknown[],
    slabs: readonly [number, SharedArrayBuffer][],
    sink: BatchSink,
  ): number {
    sink.header(body[1] as number, body[2] as number);
    if (body[0] === FLAT_REPLY) {
      const ask = askName(body[3] as number, body[4] as number);
      answer(ask, body[5] as number, body[6], clones, sink);
      return 1;
    }
    if (body[0] === FLAT_MAIL) {
      if (body[19] !== undefined && body[19] !== 0) this.#names.add(body[19] as Added);
      this.#flatMail(body, clones, sink);
      return 1;
    }
    if (body[3] !== 0) this.#names.add(body[3] as Added);
    if (body[4] !== 0) introduceAll(body[4] as number[][], slabs, sink);
    let count = 0;
    if (body[5] !== 0) count += this.#mails(body[5] as unknown[], body[9] as unknown[], clones, sink);
    if (body[6] !== 0) count += replies(body[6] as unknown[], clones, sink);
    if (body[7] !== 0) for (const id of body[7] as string[]) sink.cancel(id);
    if (body[8] !== 0) {
      const pulls = body[8] as number[];
      for (let at = 0; at < pulls.length; at += 2) sink.pull(pulls[at] as number, pulls[at + 1] as number);
    }
    return count;
  }

  #flatMail(body: unknown[], clones: readonly unknown[], sink: BatchSink): void {
    const timestamp = body[12] as number;
    const mail = this.#mail(
      body[4] as number,
      body[5] as Named,
      body[6] as Named,
      body[7] as Named,
      body[8] as Named,
      body[9] as number,
      body[10] as Named,
      body[11] as PathHop[] | 0,
      timestamp,
      deadlineFrom(timestamp, body[13] as Named),
      body[14] as Named,
      askName(body[15] as number, body[16] as number),
      body[17],
      body.length > 21 ? body[21] : body[18],
      clones,
    );
    if (body[20] !== undefined) mail.kept = body[20] as number;
    sink.mail(body[3] as number, mail);
  }

  #mails(columns: unknown[], kept: unknown[], clones: readonly unknown[], sink: BatchSink): number {
    const fromMs = columns[0] as number;
    const runs = columns[2] as number[];
    const payloads = columns[18] === 0 ? kept : (columns[18] as unknown[]);
    let number = 0;
    let serial = columns[1] as number;
    let at = 0;
    for (let head = 0; head < runs.length; head++) {
      const length = runs[head] as number;
      if (!(length <= payloads.length - at)) throw unreadable('a run is longer than its payloads');
      const type = entry(columns[3], head) as number;
      const origin = entry(columns[4], head) as Named;
      const sender = entry(columns[5], head) as Named;
      const context = entry(columns[6], head) as number;
      const correlation = entry(columns[7], head) as Named;
      const path = entry(columns[8], head) as PathHop[] | 0;
      const deadlineAtMs = deadlineFrom(fromMs, entry(columns[9], head) as Named);
      const capability = entry(columns[10], head) as Named;
      const extras = entry(columns[11], head);
      for (const end = at + length; at < end; at++) {
        const key = entry(columns[14], at) as Named;
        if (typeof key === 'number') serial += key;
        const mail = this.#mail(
          type,
          origin,
          typeof key === 'number' ? serial : key,
          sender,
          entry(columns[13], at) as Named,
          context,
          correlation,
          path,
          after(fromMs, entry(columns[15], at) as Named),
          deadlineAtMs,
          capability,
          askName(entry(columns[16], at) as number, entry(columns[17], at) as number),
          extras,
          payloads[at],
          clones,
        );
        const keptBy = entry(columns[19], at) as number;
        if (keptBy !== 0) mail.kept = number += keptBy;
        sink.mail(entry(columns[12], at) as number, mail);
      }
    }
    return payloads.length;
  }

  #mail(
    type: number,
    origin: Named,
    key: Named,
    sender: Named,
    recipient: Named,
    contextNumber: number,
    correlation: Named,
    path: PathHop[] | 0,
    timestamp: number,
    deadlineAtMs: number,
    capability: Named,
    ask: number,
    extras: unknown,
    payload: unknown,
    clones: readonly unknown[],
  ): Mail {
    const names = this.#names;
    let value = payload;
    let plainType = type;
    if (type >= STRUCTURED) {
      plainType -= STRUCTURED;
      value = clones[payload as number];
    } else if (type >= UNDEFINED) {
      plainType -= UNDEFINED;
      value = undefined;
    }
    const context = contextNumber === 0 ? undefined : names.context(contextNumber);
    const mail = new Mail(
      key,
      names.string(origin) ?? '',
      plainType,
      names.string(sender) as string,
      names.string(recipient) as string,
      typeof correlation === 'string' ? correlation : context?.[1],
      timestamp,
      value,
      names.string(capability),
      deadlineAtMs,
      ask,
      path === 0 ? context?.[2] : path,
      undefined,
    );
    if (correlation === OWN_ID) mail.correlationId = mail.id;
    if (typeof extras === 'object')
      applyExtras(mail, extras as MailExtras & { attempts?: number; tombstone?: never });
    else if (extras !== 0) mail.extras = names.extras(extras as Named);
    return mail;
  }
}

function replies(columns: unknown[], clones: readonly unknown[], sink: BatchSink): number {
  const payloads = columns[3] as unknown[];
  for (let at = 0; at < payloads.length; at++) {
    const ask = askName(entry(columns[0], at) as number, entry(columns[1], at) as number);
    answer(ask, entry(columns[2], at) as number, payloads[at], clones, sink);
  }
  return payloads.length;
}

function answer(
  ask: number,
  kind: number,
  payload: unknown,
  clones: readonly unknown[],
  sink: BatchSink,
): void {
  if (kind < STRUCTURED) sink.reply(ask, kind, kind === REPLY.empty ? undefined : payload);
  else if (kind < TAINTED) sink.reply(ask, kind - STRUCTURED, clones[payload as number]);
  else {
    const plainKind = kind & ~(TAINTED | STRUCTURED);
    const pair = (kind & STRUCTURED) === 0 ? payload : clones[payload as number];
    const [taint, value] = pair as [Taint, unknown];
    sink.reply(ask, plainKind, plainKind === REPLY.empty ? undefined : value, taint);
  }
}

const unreadable = (reason: string, cause?: unknown): OrreryError =>
  invalidEnvelope(`a batch of another thread: ${reason}`, cause);

const after = (fromMs: number, distance: Named): number =>
  typeof distance === 'string' ? Number(distance) : fromMs + distance;

const deadlineFrom = (timestamp: number, distance: Named): number =>
  distance === 0 ? 0 : after(timestamp, distance);

function introduceAll(
  introductions: readonly number[][],
  slabs: readonly [number, SharedArrayBuffer][],
  sink: BatchSink,
): void {
  for (const [flow, slot, lane, received, slab] of introductions as [
    number,
    number,
    number,
    number,
    number,
  ][]) {
    sink.introduce(flow, slot, lane, received, slabs.find(([index]) => index === slab)?.[1]);
  }
}

function applyExtras(mail: Mail, extras: MailExtras & { attempts?: number; tombstone?: never }): void {
  const { attempts, tombstone, ...rest } = extras;
  mail.attempts = attempts ?? 0;
  mail.tombstone = tombstone;
  mail.extras = Object.keys(rest).length > 0 ? rest : undefined;
}
