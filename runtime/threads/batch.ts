import { Mail, type MailExtras } from '../mailbox/mail.ts';
import type { OutFlow } from '../mailbox/out-flow.ts';
import type { PathHop } from '../protocol/envelope.ts';

/**
 * How envelopes and answers cross between threads: JSON in columns with a dictionary of strings, many at a time; flat
 * for one. What JSON cannot say rides beside it by structured clone.
 */

/** What an answer says. `empty` is the value undefined. */
export const REPLY = { value: 0, error: 1, progress: 2, chunk: 3, end: 4, empty: 5 } as const;

/** Added to a mail's type, or to a reply's kind: the payload is undefined, or lies among the clones. */
const UNDEFINED = 16;
const STRUCTURED = 32;

const FLAT_MAIL = -1;
const FLAT_REPLY = -2;
const FULL = 0;

/** Correlation ids: none, the envelope's own id, that of the mail before, or written out. */
const NO_CORRELATION = 0;
const OWN_ID = 1;
/** In the columns of correlation ids and of paths: the same as the mail before. */
const SAME = 2;

/** Everything a link has to say, collected between two posts. */
export interface Outgoing {
  flows: OutFlow[];
  mails: Mail[];
  replyAsks: number[];
  replyKinds: number[];
  replyPayloads: unknown[];
  cancels: string[];
  pulls: number[];
}

export const emptyOutgoing = (): Outgoing => ({
  flows: [],
  mails: [],
  replyAsks: [],
  replyKinds: [],
  replyPayloads: [],
  cancels: [],
  pulls: [],
});

/** What a decoded batch is told to, one call an item, in the order in which it was sent. */
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
  reply(ask: number, kind: number, payload: unknown): void;
  cancel(envelopeId: string): void;
  pull(ask: number, count: number): void;
}

/** The strings that one side has named to the other; index 0 means none. */
export class SendingDictionary {
  readonly #indexes = new Map<string, number>();
  readonly #extras = new WeakMap<MailExtras, number>();
  #added: string[] | undefined;

  /** The index of `text`, or `text` itself when the dictionary is full. */
  encode(text: string | undefined): number | string {
    if (text === undefined) return 0;
    const known = this.#indexes.get(text);
    if (known !== undefined) return known;
    if (this.#indexes.size >= 65_536) return text;
    const index = this.#indexes.size + 1;
    this.#indexes.set(text, index);
    this.#added ??= [];
    this.#added.push(text);
    return index;
  }

  /** The index of what few and often the same mails have beside their payload. */
  encodeExtras(extras: MailExtras): number | string {
    const known = this.#extras.get(extras);
    if (known !== undefined) return known;
    const index = this.encode(JSON.stringify(extras));
    if (typeof index === 'number') this.#extras.set(extras, index);
    return index;
  }

  /** The strings named since the last batch that was posted; 0 without any. */
  get added(): readonly string[] | 0 {
    return this.#added ?? 0;
  }

  /** The batch with the added strings is posted. */
  posted(): void {
    this.#added = undefined;
  }
}

export interface BatchHeader {
  readonly tableVersion: number;
  readonly peak: number;
}

/** Encodes what is collected. `introduce` returns the introductions that the batch's flows still need. */
export function encodeBatch(
  outgoing: Outgoing,
  header: BatchHeader,
  dictionary: SendingDictionary,
  introductions: readonly (readonly number[])[],
  slabs: readonly (readonly [number, SharedArrayBuffer])[],
): unknown {
  const clones: unknown[] = [];
  const { mails, replyAsks } = outgoing;
  let body: unknown[];
  const isPlain = introductions.length === 0 && outgoing.cancels.length === 0 && outgoing.pulls.length === 0;
  const flatMail = isPlain && mails.length === 1 && replyAsks.length === 0;
  const flatReply = isPlain && mails.length === 0 && replyAsks.length === 1;
  if (flatReply) {
    body = flattenReply(outgoing, header, clones);
  } else if (flatMail) {
    body = flattenMail(outgoing.flows[0] as OutFlow, mails[0] as Mail, header, dictionary, clones);
    if (dictionary.added !== 0) body.push(dictionary.added);
  } else {
    const mailColumns = mails.length === 0 ? 0 : columnsOfMails(outgoing, dictionary, clones);
    const replyColumns = replyAsks.length === 0 ? 0 : columnsOfReplies(outgoing, clones);
    body = [
      FULL,
      header.tableVersion,
      header.peak,
      dictionary.added,
      introductions.length === 0 ? 0 : introductions,
      mailColumns,
      replyColumns,
      outgoing.cancels.length === 0 ? 0 : outgoing.cancels,
      outgoing.pulls.length === 0 ? 0 : outgoing.pulls,
    ];
  }
  const json = JSON.stringify(body);
  return clones.length === 0 && slabs.length === 0 ? json : [json, clones, slabs];
}

function flattenMail(
  flow: OutFlow,
  mail: Mail,
  header: BatchHeader,
  dictionary: SendingDictionary,
  clones: unknown[],
): unknown[] {
  return [
    FLAT_MAIL,
    header.tableVersion,
    header.peak,
    flow.flow,
    typeOf(mail),
    mail.id,
    dictionary.encode(mail.sender),
    dictionary.encode(mail.recipient),
    correlationOf(mail),
    mail.timestamp,
    deadlineOf(mail),
    dictionary.encode(mail.capability),
    mail.ask,
    mail.path ?? 0,
    extrasOf(mail, dictionary),
    payloadOf(mail, clones),
  ];
}

const flattenReply = (outgoing: Outgoing, header: BatchHeader, clones: unknown[]): unknown[] => [
  FLAT_REPLY,
  header.tableVersion,
  header.peak,
  outgoing.replyAsks[0],
  outgoing.replyKinds[0],
  replyPayloadOf(outgoing, 0, clones),
];

function columnsOfMails(outgoing: Outgoing, dictionary: SendingDictionary, clones: unknown[]): unknown[] {
  const { mails, flows } = outgoing;
  const count = mails.length;
  const first = mails[0] as Mail;
  const flowColumn = new Array<number>(count);
  const types = new Array<number>(count);
  const ids = new Array<string>(count);
  const senders = new Array<number | string>(count);
  const recipients = new Array<number | string>(count);
  const correlations = new Array<number | string>(count);
  const times = new Array<number | string>(count);
  const deadlines = new Array<number | string>(count);
  const capabilities = new Array<number | string>(count);
  const asks = new Array<number>(count);
  const paths = new Array<readonly PathHop[] | number>(count);
  const extras = new Array<unknown>(count);
  const payloads = new Array<unknown>(count);
  let before: Mail | undefined;
  for (let at = 0; at < count; at++) {
    const mail = mails[at] as Mail;
    flowColumn[at] = (flows[at] as OutFlow).flow;
    types[at] = typeOf(mail);
    ids[at] = mail.id;
    senders[at] = dictionary.encode(mail.sender);
    recipients[at] = dictionary.encode(mail.recipient);
    correlations[at] =
      mail.correlationId !== undefined && mail.correlationId === before?.correlationId
        ? SAME
        : correlationOf(mail);
    times[at] = since(first.timestamp, mail.timestamp);
    deadlines[at] = deadlineOf(mail);
    capabilities[at] = dictionary.encode(mail.capability);
    asks[at] = mail.ask;
    paths[at] = mail.path === undefined ? 0 : mail.path === before?.path ? SAME : mail.path;
    extras[at] = extrasOf(mail, dictionary);
    payloads[at] = payloadOf(mail, clones);
    before = mail;
  }
  return [
    first.timestamp,
    folded(flowColumn),
    folded(types),
    ids,
    folded(senders),
    folded(recipients),
    folded(correlations),
    folded(times),
    folded(deadlines),
    folded(capabilities),
    folded(asks),
    folded(paths),
    folded(extras),
    payloads,
  ];
}

function columnsOfReplies(outgoing: Outgoing, clones: unknown[]): unknown[] {
  const payloads = new Array<unknown>(outgoing.replyAsks.length);
  for (let at = 0; at < payloads.length; at++) payloads[at] = replyPayloadOf(outgoing, at, clones);
  return [outgoing.replyAsks, folded(outgoing.replyKinds), payloads];
}

/** A column whose entries are all the same is written as that one entry. */
function folded<Entry>(column: Entry[]): Entry[] | Entry {
  const first = column[0] as Entry;
  if (Array.isArray(first) || typeof first === 'object') return column;
  for (let at = 1; at < column.length; at++) if (column[at] !== first) return column;
  return first;
}

function typeOf(mail: Mail): number {
  if (mail.payload === undefined) return mail.type + UNDEFINED;
  return mail.extras?.structured === true ? mail.type + STRUCTURED : mail.type;
}

function payloadOf(mail: Mail, clones: unknown[]): unknown {
  if (mail.extras?.structured !== true) return mail.payload;
  return clones.push(mail.payload) - 1;
}

function replyPayloadOf(outgoing: Outgoing, at: number, clones: unknown[]): unknown {
  const payload = outgoing.replyPayloads[at];
  if ((outgoing.replyKinds[at] as number) < STRUCTURED) return payload;
  return clones.push(payload) - 1;
}

/** The kind of a reply whose payload crosses by structured clone. */
export const structuredKind = (kind: number): number => kind + STRUCTURED;

/** Times are written as their distance to another; as they are, in words, where adding that does not give them back. */
function since(fromMs: number, atMs: number): number | string {
  const distanceMs = atMs - fromMs;
  return fromMs + distanceMs === atMs ? distanceMs : String(atMs);
}

const after = (fromMs: number, distance: number | string): number =>
  typeof distance === 'string' ? Number(distance) : fromMs + distance;

/** 0 without one. */
function deadlineOf({ deadlineAtMs, timestamp }: Mail): number | string {
  if (deadlineAtMs === 0) return 0;
  return deadlineAtMs === timestamp ? String(deadlineAtMs) : since(timestamp, deadlineAtMs);
}

function correlationOf(mail: Mail): number | string {
  if (mail.correlationId === undefined) return NO_CORRELATION;
  return mail.correlationId === mail.id ? OWN_ID : mail.correlationId;
}

/** Extras, attempts and tombstone; 0 for the many that have none. */
function extrasOf(mail: Mail, dictionary: SendingDictionary): unknown {
  if (mail.attempts === 0 && mail.tombstone === undefined) {
    if (mail.extras === undefined) return 0;
    return isShared(mail.extras) ? dictionary.encodeExtras(mail.extras) : mail.extras;
  }
  return { ...mail.extras, attempts: mail.attempts, tombstone: mail.tombstone };
}

/** Frozen extras are shared by many mails: see `sharedExtras` of the courier. */
const isShared = (extras: MailExtras): boolean => Object.isFrozen(extras);

/** The receiving side of a link's codec. */
export class BatchReader {
  readonly #strings: (string | undefined)[] = [undefined];
  readonly #extras: (MailExtras | undefined)[] = [];

  /** Decodes one post and tells `sink` what it says. Returns how many mails and replies it held. */
  read(data: unknown, sink: BatchSink): number {
    if (typeof data === 'string') return this.#readBody(JSON.parse(data) as unknown[], [], [], sink);
    const [json, clones, slabs] = data as [string, unknown[], [number, SharedArrayBuffer][]];
    return this.#readBody(JSON.parse(json) as unknown[], clones, slabs, sink);
  }

  #readBody(
    body: unknown[],
    clones: readonly unknown[],
    slabs: readonly [number, SharedArrayBuffer][],
    sink: BatchSink,
  ): number {
    sink.header(body[1] as number, body[2] as number);
    if (body[0] === FLAT_REPLY) {
      this.#reply(body[3] as number, body[4] as number, body[5], clones, sink);
      return 1;
    }
    if (body[0] === FLAT_MAIL) {
      if (body[16] !== undefined) this.#strings.push(...(body[16] as string[]));
      this.#flatMail(body, clones, sink);
      return 1;
    }
    if (body[3] !== 0) this.#strings.push(...(body[3] as string[]));
    if (body[4] !== 0) introduceAll(body[4] as number[][], slabs, sink);
    let count = 0;
    if (body[5] !== 0) count += this.#mails(body[5] as unknown[], clones, sink);
    if (body[6] !== 0) count += this.#replies(body[6] as unknown[], clones, sink);
    if (body[7] !== 0) for (const id of body[7] as string[]) sink.cancel(id);
    if (body[8] !== 0) {
      const pulls = body[8] as number[];
      for (let at = 0; at < pulls.length; at += 2) sink.pull(pulls[at] as number, pulls[at + 1] as number);
    }
    return count;
  }

  #flatMail(body: unknown[], clones: readonly unknown[], sink: BatchSink): void {
    const timestamp = body[9] as number;
    const deadline = body[10] as number | string;
    sink.mail(
      body[3] as number,
      this.#mail(
        body[5] as string,
        body[4] as number,
        body[6] as number | string,
        body[7] as number | string,
        body[8] as number | string,
        timestamp,
        deadline === 0 ? 0 : after(timestamp, deadline),
        body[11] as number | string,
        body[12] as number,
        body[13] as PathHop[] | number,
        body[14],
        body[15],
        clones,
        undefined,
      ),
    );
  }

  #mails(columns: unknown[], clones: readonly unknown[], sink: BatchSink): number {
    const [from, flows, types, ids, senders, recipients, correlations, times, deadlines, capabilities] =
      columns;
    const asks = columns[10];
    const paths = columns[11];
    const extras = columns[12];
    const payloads = columns[13] as unknown[];
    const names = ids as string[];
    let before: Mail | undefined;
    for (let at = 0; at < names.length; at++) {
      const timestamp = after(from as number, entry(times, at) as number | string);
      const deadline = entry(deadlines, at) as number | string;
      const mail = this.#mail(
        names[at] as string,
        entry(types, at) as number,
        entry(senders, at) as number | string,
        entry(recipients, at) as number | string,
        entry(correlations, at) as number | string,
        timestamp,
        deadline === 0 ? 0 : after(timestamp, deadline),
        entry(capabilities, at) as number | string,
        entry(asks, at) as number,
        entry(paths, at) as PathHop[] | number,
        entry(extras, at),
        payloads[at],
        clones,
        before,
      );
      before = mail;
      sink.mail(entry(flows, at) as number, mail);
    }
    return names.length;
  }

  #mail(
    id: string,
    type: number,
    sender: number | string,
    recipient: number | string,
    correlation: number | string,
    timestamp: number,
    deadlineAtMs: number,
    capability: number | string,
    ask: number,
    path: PathHop[] | number,
    extras: unknown,
    payload: unknown,
    clones: readonly unknown[],
    before: Mail | undefined,
  ): Mail {
    let value = payload;
    let plainType = type;
    if (type >= STRUCTURED) {
      plainType -= STRUCTURED;
      value = clones[payload as number];
    } else if (type >= UNDEFINED) {
      plainType -= UNDEFINED;
      value = undefined;
    }
    const mail = new Mail(
      id,
      plainType,
      this.#string(sender) as string,
      this.#string(recipient) as string,
      typeof correlation === 'string' ? correlation : correlationFrom(correlation, id, before),
      timestamp,
      value,
      this.#string(capability),
      deadlineAtMs,
      ask,
      typeof path !== 'number' ? path : path === SAME ? before?.path : undefined,
      undefined,
    );
    if (typeof extras === 'object')
      applyExtras(mail, extras as MailExtras & { attempts?: number; tombstone?: never });
    else if (extras !== 0) mail.extras = this.#sharedExtras(extras as number | string);
    return mail;
  }

  #replies(columns: unknown[], clones: readonly unknown[], sink: BatchSink): number {
    const asks = columns[0] as number[];
    const payloads = columns[2] as unknown[];
    for (let at = 0; at < asks.length; at++) {
      this.#reply(asks[at] as number, entry(columns[1], at) as number, payloads[at], clones, sink);
    }
    return asks.length;
  }

  #reply(ask: number, kind: number, payload: unknown, clones: readonly unknown[], sink: BatchSink): void {
    if (kind >= STRUCTURED) sink.reply(ask, kind - STRUCTURED, clones[payload as number]);
    else sink.reply(ask, kind, kind === REPLY.empty ? undefined : payload);
  }

  #sharedExtras(index: number | string): MailExtras {
    if (typeof index === 'string') return JSON.parse(index) as MailExtras;
    this.#extras[index] ??= Object.freeze(JSON.parse(this.#strings[index] as string) as MailExtras);
    return this.#extras[index];
  }

  #string(index: number | string): string | undefined {
    return typeof index === 'string' ? index : this.#strings[index];
  }
}

const entry = (column: unknown, at: number): unknown => (Array.isArray(column) ? column[at] : column);

function correlationFrom(correlation: number, id: string, before: Mail | undefined): string | undefined {
  if (correlation === OWN_ID) return id;
  return correlation === SAME ? before?.correlationId : undefined;
}

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
