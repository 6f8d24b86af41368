import { deserialize, serialize } from 'node:v8';
import { z } from 'zod';
import { EnvelopeMetadata } from '../protocol/envelope.ts';
import { storeInvalid } from '../protocol/errors.ts';
import { KeptFunds } from './kept-funds.ts';
import { Mail, type MailExtras, NO_ASK } from './mail.ts';

/** A mail as the journal keeps it. Nobody waits for its answer any more when it is read, and its account is gone. */
const MailRecord = z.strictObject({
  id: z.string(),
  type: z.int(),
  sender: z.string(),
  recipient: z.string(),
  correlationId: z.string().optional(),
  timestamp: z.number(),
  capability: z.string().optional(),
  deadlineAtMs: z.number().default(0),
  path: EnvelopeMetadata.shape.path,
  extras: z.custom<MailExtras>((value) => typeof value === 'object' && value !== null).optional(),
  payload: z.unknown().optional(),
  /** What JSON cannot say, serialised, in base 64. */
  clone: z.string().optional(),
});

/**
 * Writes mails as text. Mails that follow each other have much in common: that is written once for all of them.
 */
export class MailRecorder {
  #like: Mail | undefined;
  #common = '';
  /** Of whose ids it is known whether they need quoting: whose serial numbers they are. */
  #origin = '';
  #isPlain = true;
  #correlationId: string | undefined;
  #correlated = '';

  /**
   * The mail as text; what it says of the payload stays with the mail, for whoever carries it. Throws what JSON or the
   * structured clone throws for a payload that cannot be carried.
   */
  record(mail: Mail): string {
    const { timestamp, deadlineAtMs } = mail;
    const deadline = deadlineAtMs === 0 ? '' : `,"deadlineAtMs":${deadlineAtMs}`;
    const names = `"id":${this.#id(mail)}${this.#correlation(mail)}`;
    return `{${names},"timestamp":${timestamp}${deadline}${this.#payload(mail)}${this.#rest(mail)}`;
  }

  #id({ key, origin, id }: Mail): string {
    if (typeof key === 'string') return JSON.stringify(id);
    if (origin !== this.#origin) {
      this.#origin = origin;
      this.#isPlain = JSON.stringify(origin) === `"${origin}"`;
    }
    return this.#isPlain ? `"${id}"` : JSON.stringify(id);
  }

  #correlation({ correlationId }: Mail): string {
    if (correlationId !== this.#correlationId) {
      this.#correlationId = correlationId;
      this.#correlated =
        correlationId === undefined ? '' : `,"correlationId":${JSON.stringify(correlationId)}`;
    }
    return this.#correlated;
  }

  #payload(mail: Mail): string {
    if (mail.extras?.structured === true) return `,"clone":"${serialize(mail.payload).toString('base64')}"`;
    const text = JSON.stringify(mail.payload) as string | undefined;
    mail.text = text;
    return text === undefined ? '' : `,"payload":${text}`;
  }

  /** What it has in common with the one before, as a rule. */
  #rest(mail: Mail): string {
    if (this.#like !== undefined && isAlike(mail, this.#like)) return this.#common;
    const { type, sender, recipient, capability, path } = mail;
    const extras = lastingExtras(mail.extras);
    this.#common = `,${JSON.stringify({ type, sender, recipient, capability, path, extras }).slice(1)}`;
    this.#like = mail;
    return this.#common;
  }
}

const isAlike = (mail: Mail, other: Mail): boolean =>
  mail.sender === other.sender &&
  mail.recipient === other.recipient &&
  mail.path === other.path &&
  mail.extras === other.extras &&
  mail.capability === other.capability &&
  mail.type === other.type;

/** When the mail behind a record was sent, Unix milliseconds; undefined when it is none. */
export function sentAtMsOf(body: string): number | undefined {
  const { timestamp } = (jsonOf(body) ?? {}) as { readonly timestamp?: unknown };
  return typeof timestamp === 'number' ? timestamp : undefined;
}

/** The accounts that the mail behind a record draws on. */
export function fundsInRecord(body: string): KeptFunds | undefined {
  if (!body.includes('"funds":')) return undefined;
  const { extras } = (jsonOf(body) ?? {}) as { readonly extras?: MailExtras };
  return KeptFunds.safeParse(extras?.funds).data;
}

/** The mail behind a record. Fails with STORE_INVALID when it is none. */
export function mailFromRecord(body: string, number: number): Mail {
  const parsed = MailRecord.safeParse(jsonOf(body));
  if (!parsed.success) throw storeInvalid('journal', `mail ${number}: ${z.prettifyError(parsed.error)}`);
  const { data } = parsed;
  const mail = new Mail(
    data.id,
    '',
    data.type,
    data.sender,
    data.recipient,
    data.correlationId,
    data.timestamp,
    data.clone === undefined ? data.payload : deserialize(Buffer.from(data.clone, 'base64')),
    data.capability,
    data.deadlineAtMs,
    NO_ASK,
    data.path,
    data.extras,
  );
  mail.kept = number;
  return mail;
}

function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function lastingExtras(extras: MailExtras | undefined): MailExtras | undefined {
  if (extras?.account === undefined) return extras;
  const { account: _account, ...lasting } = extras;
  return lasting;
}
