import { deserialize, serialize } from 'node:v8';
import { z } from 'zod';
import { storeInvalid } from '../protocol/errors.ts';
import { jsonOf } from '../protocol/json.ts';
import { faultsOf } from '../protocol/payload-faults.ts';
import type { NumberedMail } from '../protocol/store.ts';
import { JournalledFunds } from './journalled-funds.ts';
import { Mail, type MailExtras, NO_ASK } from './mail.ts';

// Kinds of payload in a record.
/** No payload follows. */
const NO_PAYLOAD = 0;
/** JSON follows. */
const JSON_PAYLOAD = 1;
/** A structured clone follows, in base 64: JSON cannot carry the payload. */
const CLONED_PAYLOAD = 2;

/**
 * A mail as the journal keeps it: a list, because field names would be a third of the file. Its recipient is kept beside it. When
 * it is read, nobody waits for its answer any more, and its account is gone.
 *
 * `[id, timestamp, deadlineAtMs, correlationId, kind of payload, payload, type, sender, capability, path, extras]`. Missing
 * values are null, a missing deadline is 0. A hop of the path is `[agent, capability, envelopeId]`.
 */
const MailRecord = z.tuple([
  z.string(),
  z.number(),
  z.number(),
  z.string().nullable(),
  z.literal([NO_PAYLOAD, JSON_PAYLOAD, CLONED_PAYLOAD]),
  z.unknown(),
  z.int(),
  z.string(),
  z.string().nullable(),
  z.array(z.tuple([z.string(), z.string(), z.string()])).nullable(),
  z.custom<MailExtras | null>((value) => typeof value === 'object'),
]);
const TIMESTAMP = 1;
const EXTRAS = 10;

/**
 * Writes mails as text. What a mail has in common with the one before is not encoded again.
 */
export class MailRecorder {
  #like: Mail | undefined;
  #common = '';
  /** The origin of which it is known whether its ids need quoting. */
  #origin = '';
  #isPlain = true;
  #correlationId: string | undefined;
  #correlated = 'null';

  /**
   * The mail as text. The payload's JSON stays with the mail, for the link. Throws what JSON or the structured clone throws for a
   * payload that cannot be carried.
   */
  record(mail: Mail): string {
    const { timestamp, deadlineAtMs } = mail;
    const names = `${this.#id(mail)},${timestamp},${deadlineAtMs},${this.#correlation(mail)}`;
    return `[${names},${this.#payload(mail)},${this.#rest(mail)}`;
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
      this.#correlated = correlationId === undefined ? 'null' : JSON.stringify(correlationId);
    }
    return this.#correlated;
  }

  #payload(mail: Mail): string {
    if (mail.extras?.structured === true)
      return `${CLONED_PAYLOAD},"${serialize(mail.payload).toString('base64')}"`;
    const text = JSON.stringify(mail.payload) as string | undefined;
    mail.text = text;
    return text === undefined ? `${NO_PAYLOAD},null` : `${JSON_PAYLOAD},${text}`;
  }

  /** The rest of the record, which as a rule is the same as in the one before. */
  #rest(mail: Mail): string {
    if (this.#like !== undefined && isAlike(mail, this.#like)) return this.#common;
    const { type, sender, capability, path } = mail;
    const hops = path?.map(({ agent, capability, envelopeId }) => [agent, capability, envelopeId]);
    this.#common = JSON.stringify([type, sender, capability, hops, lastingExtras(mail.extras)]).slice(1);
    this.#like = mail;
    return this.#common;
  }
}

const isAlike = (mail: Mail, other: Mail): boolean =>
  mail.sender === other.sender &&
  mail.path === other.path &&
  mail.extras === other.extras &&
  mail.capability === other.capability &&
  mail.type === other.type;

/** When the mail behind a record was sent, Unix milliseconds; undefined when it is none. */
export function sentAtMsOf(body: string): number | undefined {
  const timestamp = fieldOf(body, TIMESTAMP);
  return typeof timestamp === 'number' ? timestamp : undefined;
}

/** The accounts that the mail behind a record draws on. */
export function fundsInRecord(body: string): JournalledFunds | undefined {
  if (!body.includes('"funds":')) return undefined;
  const extras = fieldOf(body, EXTRAS) as MailExtras | null | undefined;
  return JournalledFunds.safeParse(extras?.funds).data;
}

/** The mail behind a record. Fails with STORE_INVALID when it is none. */
export function mailFromRecord({ number, recipient, body }: NumberedMail): Mail {
  const said = jsonOf(body);
  const parsed = MailRecord.safeParse(said);
  if (!parsed.success) throw storeInvalid('journal', faultsOf(parsed.error, said, `its mail ${number}`));
  const [id, timestamp, deadlineAtMs, correlationId, kind, payload, type, sender, capability, hops, extras] =
    parsed.data;
  const path = hops?.map(([agent, capability, envelopeId]) => ({ agent, capability, envelopeId }));
  const mail = new Mail(
    id,
    '',
    type,
    sender,
    recipient,
    correlationId ?? undefined,
    timestamp,
    payloadOf(kind, payload),
    capability ?? undefined,
    deadlineAtMs,
    NO_ASK,
    path,
    extras ?? undefined,
  );
  mail.kept = number;
  return mail;
}

function payloadOf(kind: number, payload: unknown): unknown {
  if (kind === NO_PAYLOAD) return undefined;
  return kind === JSON_PAYLOAD ? payload : deserialize(Buffer.from(payload as string, 'base64'));
}

const fieldOf = (body: string, at: number): unknown => {
  const record = jsonOf(body);
  return Array.isArray(record) ? record[at] : undefined;
};

function lastingExtras(extras: MailExtras | undefined): MailExtras | undefined {
  if (extras?.account === undefined) return extras;
  const { account: _account, ...lasting } = extras;
  return lasting;
}
