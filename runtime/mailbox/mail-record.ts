import { deserialize, serialize } from 'node:v8';
import { z } from 'zod';
import { EnvelopeMetadata } from '../protocol/envelope.ts';
import { storeInvalid } from '../protocol/errors.ts';
import { Mail, type MailExtras, NO_ASK } from './mail.ts';

/** A mail as the journal keeps it. Nobody waits for its answer any more when it is read, and no account pays for it. */
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

/** The mail as text. Throws what JSON or the structured clone throws for a payload that cannot be carried. */
export function recordOf(mail: Mail): string {
  const { id, type, sender, recipient, correlationId, timestamp, capability, deadlineAtMs, path } = mail;
  const extras = lastingExtras(mail.extras);
  const head = { id, type, sender, recipient, correlationId, timestamp, capability, path, extras };
  const deadline = deadlineAtMs === 0 ? undefined : deadlineAtMs;
  if (extras?.structured !== true)
    return JSON.stringify({ ...head, deadlineAtMs: deadline, payload: mail.payload });
  const clone = serialize(mail.payload).toString('base64');
  return JSON.stringify({ ...head, deadlineAtMs: deadline, clone });
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
