import type { Mail, MailExtras } from '../mailbox/mail.ts';
import type { OutFlow } from '../mailbox/out-flow.ts';
import type { PathHop } from '../protocol/envelope.ts';
import {
  FLAT_MAIL,
  FLAT_REPLY,
  FULL,
  NO_CORRELATION,
  type Outgoing,
  OWN_ID,
  SAME,
  STRUCTURED,
  UNDEFINED,
} from './batch-format.ts';

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
    mail.key,
    originOf(mail, dictionary),
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
  const origins = new Array<number | string>(count);
  const keys = new Array<string | number>(count);
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
  const firstSerial = typeof first.key === 'number' ? first.key - 1 : 0;
  let serial = firstSerial;
  let before: Mail | undefined;
  for (let at = 0; at < count; at++) {
    const mail = mails[at] as Mail;
    flowColumn[at] = (flows[at] as OutFlow).flow;
    types[at] = typeOf(mail);
    origins[at] =
      mail.origin === before?.origin && typeof mail.key === typeof before.key
        ? (origins[at - 1] as number)
        : originOf(mail, dictionary);
    keys[at] = typeof mail.key === 'string' ? mail.key : mail.key - serial;
    if (typeof mail.key === 'number') serial = mail.key;
    senders[at] =
      mail.sender === before?.sender ? (senders[at - 1] as number) : dictionary.encode(mail.sender);
    recipients[at] =
      mail.recipient === before?.recipient
        ? (recipients[at - 1] as number)
        : dictionary.encode(mail.recipient);
    correlations[at] =
      mail.correlationId !== undefined && mail.correlationId === before?.correlationId
        ? SAME
        : correlationOf(mail);
    times[at] = since(first.timestamp, mail.timestamp);
    deadlines[at] = deadlineOf(mail);
    capabilities[at] =
      before !== undefined && mail.capability === before.capability
        ? (capabilities[at - 1] as number)
        : dictionary.encode(mail.capability);
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
    folded(origins),
    firstSerial,
    folded(keys),
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

/** Times are written as their distance to another; as they are, in words, where adding that does not give them back. */
function since(fromMs: number, atMs: number): number | string {
  const distanceMs = atMs - fromMs;
  return fromMs + distanceMs === atMs ? distanceMs : String(atMs);
}

/** 0 without one. */
function deadlineOf({ deadlineAtMs, timestamp }: Mail): number | string {
  if (deadlineAtMs === 0) return 0;
  return deadlineAtMs === timestamp ? String(deadlineAtMs) : since(timestamp, deadlineAtMs);
}

function correlationOf(mail: Mail): number | string {
  if (mail.correlationId === undefined) return NO_CORRELATION;
  return mail.beginsConversation ? OWN_ID : mail.correlationId;
}

/** The index of the origin; 0 where the key is the id itself. */
const originOf = ({ key, origin }: Mail, dictionary: SendingDictionary): number | string =>
  typeof key === 'string' ? 0 : dictionary.encode(origin);

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
