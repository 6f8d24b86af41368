import { askGeneration, askSlot } from '../mailbox/ask-name.ts';
import type { Mail, MailExtras } from '../mailbox/mail.ts';
import type { OutFlow } from '../mailbox/out-flow.ts';
import {
  FLAT_MAIL,
  FLAT_REPLY,
  FULL,
  NO_CORRELATION,
  OWN_ID,
  STRUCTURED,
  UNDEFINED,
} from './batch-format.ts';
import { Column } from './column.ts';
import type { SendingNames } from './link-names.ts';
import type { Outgoing } from './outgoing.ts';

/** What every post begins with. */
export interface BatchHeader {
  readonly tableVersion: number;
  readonly peak: number;
}

/** Introductions of flows, and the memories of their marks by index. */
export interface Introductions {
  readonly flows: readonly (readonly number[])[];
  readonly slabs: readonly (readonly [number, SharedArrayBuffer])[];
}

/** Writes the batches of one thread; what it writes with is used again for the next. */
export class BatchWriter {
  readonly #names: SendingNames;
  #clones: unknown[] = [];
  /** The payloads as JSON, where the journal has been given them so. */
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
  readonly #kept = new Column<number>();

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
    // A flat reply has no room for names that a batch gave which could not be posted.
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
    let kept = 0;
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
      const { key, ask } = mail;
      this.#flows.push((flows[at] as OutFlow).flow);
      this.#recipients.push(recipient);
      this.#keys.push(typeof key === 'string' ? key : key - serial);
      if (typeof key === 'number') serial = key;
      this.#times.push(since(first.timestamp, mail.timestamp));
      this.#askSlots.push(askSlot(ask));
      this.#askGenerations.push(askGeneration(ask));
      this.#kept.push(mail.kept === 0 ? 0 : mail.kept - kept);
      if (mail.kept !== 0) kept = mail.kept;
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
      this.#askSlots.take(),
      this.#askGenerations.take(),
      texts === 0 ? payloads : 0,
      this.#kept.take(),
    ];
  }

  /** What a run of mails has in common. */
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

  /** The number of the origin; 0 where the key is the id itself. */
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

/** All payloads as JSON: of some there is the text, which is not needed any more. */
function textOf(mails: readonly Mail[], payloads: readonly unknown[]): string {
  const texts = mails.map((mail, at) => {
    const { text } = mail;
    mail.text = undefined;
    return text ?? JSON.stringify(payloads[at]) ?? 'null';
  });
  return `[${texts.join(',')}]`;
}

/** A list as JSON with one more item, which is JSON. */
const withLast = (json: string, item: string): string => `${json.slice(0, -1)},${item}]`;

function typeOf(mail: Mail): number {
  if (mail.payload === undefined) return mail.type + UNDEFINED;
  return mail.extras?.structured === true ? mail.type + STRUCTURED : mail.type;
}

/** Times are written as their distance to another; as they are, in words, where adding that does not give them back. */
function since(fromMs: number, atMs: number): number | string {
  const distanceMs = atMs - fromMs;
  return fromMs + distanceMs === atMs ? distanceMs : String(atMs);
}

/** Its distance to `fromMs`; 0 without one. */
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
