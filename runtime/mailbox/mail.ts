import { idText } from '../protocol/system-seams.ts';
import type { AgentTier } from '../protocol/agent-card.ts';
import type { Budget } from '../protocol/budget.ts';
import type {
  A2AEnvelope,
  A2AMessageType,
  Delivery,
  EnvelopeMetadata,
  PathHop,
} from '../protocol/envelope.ts';
import { type ErrorData, errorToData, poison } from '../protocol/errors.ts';
import { A2A_MESSAGE_TYPES, SCHEMA_VERSION } from '../protocol/message-types.ts';
import type { Taint } from '../protocol/taint.ts';
import { traceContextOf } from '../protocol/trace-context.ts';
import { taintFrom } from '../protocol/taint-from.ts';
import type { Behalf } from './behalf.ts';
import type { JournalledFunds } from './journalled-funds.ts';
import type { InFlow } from './in-flow.ts';

/** The ask of a mail that no ask waits for. */
export const NO_ASK = -1;

// A number names an ask: its slot in the ask table of its thread, and a generation. By that a late answer to an older ask of
// the same slot is recognised. Between threads the two are sent apart, as small numbers.
const SLOT_BITS = 20;
const SLOTS = 1 << SLOT_BITS;
/** The slot of a mail that no ask waits for. */
export const NO_SLOT = -1;

export const LAST_GENERATION = 0x3fffffff;

export const askName = (slot: number, generation: number): number =>
  slot === NO_SLOT ? NO_ASK : generation * SLOTS + slot;

export const askGeneration = (ask: number): number => (ask === NO_ASK ? 0 : Math.floor(ask / SLOTS));

export const askSlot = (ask: number): number =>
  ask === NO_ASK ? NO_SLOT : ask - Math.floor(ask / SLOTS) * SLOTS;

/** The three lanes of a mailbox. The sender of an envelope chooses one. */
export const LANE = { system: 0, user: 1, callback: 2 } as const;
export type Lane = (typeof LANE)[keyof typeof LANE];

/** Kinds of answers. `empty` is the value undefined. */
export const REPLY = { value: 0, error: 1, progress: 2, chunk: 3, end: 4, empty: 5 } as const;

const TYPE_INDEX = new Map<A2AMessageType, number>(A2A_MESSAGE_TYPES.map((type, index) => [type, index]));

/** The position of a message type in the seed's list: types are sent and counted as small numbers. */
export const typeIndex = (type: A2AMessageType): number => TYPE_INDEX.get(type) ?? 0;

/**
 * Makes an envelope part of a channel between two agents of one system, or of two nodes.
 *
 * - `act`     `open` asks for the channel, `data` is what its user sent. `ready` says that somebody listens, `lost` that this
 *             end's actor is over, `close` that the channel is over.
 * - `to`      of `data`: the life of the recipient that it is meant for. Another life knows nothing of the channel.
 * - `run`     of `data`: since when the recipient has listened without a break, as it reported.
 * - `granted` the recipient opened the channel, and so allowed answers over it, whatever the tiers say.
 */
export interface ChannelMark {
  readonly id: string;
  readonly act: 'open' | 'data' | 'ready' | 'lost' | 'close';
  readonly to?: string;
  readonly run?: number;
  readonly granted?: true;
}

/**
 * Fields that few envelopes have, kept out of `Mail` so that most mails stay small. No envelope that is sent shows its behalf.
 */
export interface MailExtras extends Behalf {
  routingHint?: 'capability';
  justification?: string;
  inReplyTo?: string;
  delivery?: Delivery;
  session?: { id: string; sequence: number };
  schema?: string;
  /** The payload crosses by structured clone. */
  structured?: true;
  /** The sender reads a stream: answers and progress are its chunks. */
  stream?: true;
  /** The id was derived from the envelope being handled, so that a second attempt sends it again under the same id. */
  derived?: true;
  /** The budget that it had when it was sent. */
  budget?: Budget;
  /** The account that it is spent from, if its amounts are limited. */
  account?: number;
  /** The accounts that limit it in a later process, if this one ends before its outcome is known. */
  funds?: JournalledFunds;
  /** The journal does not keep it: it means nothing to another process. */
  fleeting?: true;
  /** A call by the tool host: policies judge tools by sandbox and not by tier. */
  tool?: true;
  /** A message of a shared document: members are judged when they join, and not by tier again. */
  frame?: true;
  /** Sources outside from which its content came. */
  taint?: Taint;
  /** It is part of a channel between two agents. */
  channel?: ChannelMark;
  /** Metadata of the envelope that this version does not know. */
  unknown?: Record<string, unknown>;
}

/**
 * An envelope inside the runtime: flat, so that it is cheap to make, to send in columns and to handle.
 *
 * `deadlineAtMs` is 0 without a deadline; `ask` names the waiting ask of the sender's thread, or is `NO_ASK`.
 */
export class Mail {
  /** Its id, or its serial number among the ids of `origin`. */
  readonly key: string | number;
  readonly origin: string;
  type: number;
  sender: string;
  recipient: string;
  correlationId: string | undefined;
  timestamp: number;
  payload: unknown;
  capability: string | undefined;
  deadlineAtMs: number;
  ask: number;
  path: readonly PathHop[] | undefined;
  extras: MailExtras | undefined;
  /** Tries that ended in a death charged to this envelope. */
  attempts = 0;
  /** Position in its flow. */
  sequence = 0;
  /** The flow on which it came in; undefined while it is only in a ledger. */
  flow: InFlow | undefined = undefined;
  /** Why it is not handled, if its outcome is known already. */
  tombstone: ErrorData | undefined = undefined;
  /** The number of its record among the shared names; -1 without one. */
  name = -1;
  /** Its number in the journal; 0 when it is not kept there. */
  kept = 0;
  /** Its payload as JSON, from when it is given to the journal until it is posted. */
  text: string | undefined = undefined;
  /** It was in hand before, in this thread. */
  wasInHand = false;
  /** A former process left it. */
  wasLeft = false;
  /** The taint of the work at it while it is in hand: its own, and that of what the work has read since. */
  workTaint: Taint | undefined = undefined;
  /** The id, once somebody has asked for it. */
  #id: string | undefined = undefined;

  constructor(
    key: string | number,
    origin: string,
    type: number,
    sender: string,
    recipient: string,
    correlationId: string | undefined,
    timestamp: number,
    payload: unknown,
    capability: string | undefined,
    deadlineAtMs: number,
    ask: number,
    path: readonly PathHop[] | undefined,
    extras: MailExtras | undefined,
  ) {
    this.key = key;
    this.origin = origin;
    this.type = type;
    this.sender = sender;
    this.recipient = recipient;
    this.correlationId = correlationId;
    this.timestamp = timestamp;
    this.payload = payload;
    this.capability = capability;
    this.deadlineAtMs = deadlineAtMs;
    this.ask = ask;
    this.path = path;
    this.extras = extras;
  }

  get id(): string {
    const { key } = this;
    if (typeof key === 'string') return key;
    this.#id ??= idText(this.origin, key);
    return this.#id;
  }

  /** Says whether its correlation id is known to be its own id. */
  get beginsConversation(): boolean {
    return this.correlationId === (typeof this.key === 'string' ? this.key : this.#id);
  }
}

/**
 * Says whether the journal keeps a mail to a durable recipient. It keeps none of a stream or a channel: readers and ends do not
 * outlive their process.
 */
export const isToBeKept = ({ extras }: Mail): boolean =>
  extras?.stream !== true && extras?.channel === undefined && extras?.fleeting !== true;

/**
 * Says whether a mail may be tried again after a death. A stream never is: part of it may have been read. Nor is mail of a
 * channel: its two ends agree on what comes next.
 */
export const isRetry = (extras: MailExtras | undefined, delivery: Delivery): boolean =>
  (extras?.delivery ?? delivery) === 'retry' && extras?.stream !== true && extras?.channel === undefined;

export const messageTypeOf = (mail: Mail): A2AMessageType => A2A_MESSAGE_TYPES[mail.type] ?? 'error';

/**
 * The mail as the envelope that users see; `tier` and `sandboxId` are the registered ones of its sender.
 *
 * This may run for every handled envelope: the literals hold all fields that most have, so that no object grows afterwards.
 */
export function toEnvelope(mail: Mail, tier: AgentTier, sandboxId: string | undefined): A2AEnvelope {
  const { id, sender, recipient, correlationId, timestamp, payload, extras } = mail;
  const type = messageTypeOf(mail);
  const metadata = metadataOf(mail, tier, sandboxId);
  const schemaVersion = SCHEMA_VERSION;
  const envelope: A2AEnvelope =
    correlationId === undefined
      ? { id, schemaVersion, sender, recipient, type, timestamp, payload, metadata }
      : { id, schemaVersion, sender, recipient, correlationId, type, timestamp, payload, metadata };
  if (extras?.session !== undefined) envelope.session = extras.session;
  if (extras?.schema !== undefined) envelope.schema = extras.schema;
  return envelope;
}

function metadataOf(mail: Mail, tier: AgentTier, sandboxId: string | undefined): EnvelopeMetadata {
  const { extras } = mail;
  const metadata = commonMetadata(mail, tier);
  if (sandboxId !== undefined) metadata.sandboxId = sandboxId;
  if (mail.capability !== undefined) metadata.capability = mail.capability;
  if (extras === undefined) return metadata;
  if (extras.routingHint !== undefined) metadata.routingHint = extras.routingHint;
  if (extras.justification !== undefined) metadata.escalationJustification = extras.justification;
  if (extras.inReplyTo !== undefined) metadata.inReplyTo = extras.inReplyTo;
  if (extras.delivery !== undefined) metadata.delivery = extras.delivery;
  if (extras.budget !== undefined) metadata.budget = extras.budget;
  if (extras.taint !== undefined) metadata.taint = extras.taint;
  if (extras.requester !== undefined) metadata.requester = extras.requester;
  if (extras.trace !== undefined) Object.assign(metadata, extras.trace);
  return extras.unknown === undefined ? metadata : { ...extras.unknown, ...metadata };
}

function commonMetadata({ deadlineAtMs, path }: Mail, tier: AgentTier): EnvelopeMetadata {
  if (path === undefined) return deadlineAtMs > 0 ? { tier, deadlineAtMs } : { tier };
  return deadlineAtMs > 0 ? { tier, deadlineAtMs, path: [...path] } : { tier, path: [...path] };
}

/** The mail that carries an envelope made elsewhere. */
export function fromEnvelope(envelope: A2AEnvelope): Mail {
  const { metadata } = envelope;
  return new Mail(
    envelope.id,
    '',
    typeIndex(envelope.type),
    envelope.sender,
    envelope.recipient,
    envelope.correlationId,
    envelope.timestamp,
    envelope.payload,
    metadata?.routingHint === 'capability' ? envelope.recipient : metadata?.capability,
    deadlineIn(metadata),
    NO_ASK,
    metadata?.path,
    extrasOf(envelope),
  );
}

/** The deadline, at least 1: 0 would mean that there is none, and one that is not after 1970 has passed. */
const deadlineIn = ({ deadlineAtMs }: Partial<EnvelopeMetadata> = {}): number =>
  deadlineAtMs === undefined ? 0 : Math.max(deadlineAtMs, 1);

/** The metadata that is known here, as `EnvelopeMetadata` lists it, but for what no mail takes from an envelope. */
const KNOWN_METADATA: ReadonlySet<string> = new Set([
  'tier',
  'sandboxId',
  'capability',
  'deadlineAtMs',
  'path',
  'routingHint',
  'escalationJustification',
  'inReplyTo',
  'delivery',
  'budget',
  'taint',
  'requester',
  'traceparent',
  'tracestate',
]);

const isUnknown = (name: string): boolean => !KNOWN_METADATA.has(name);

function extrasOf({ metadata, session, schema }: A2AEnvelope): MailExtras | undefined {
  const extras: MailExtras = {};
  if (metadata !== undefined) {
    const { routingHint, escalationJustification, inReplyTo, delivery, budget, taint, requester } = metadata;
    if (routingHint !== undefined) extras.routingHint = routingHint;
    if (escalationJustification !== undefined) extras.justification = escalationJustification;
    if (inReplyTo !== undefined) extras.inReplyTo = inReplyTo;
    if (delivery !== undefined) extras.delivery = delivery;
    if (budget !== undefined) extras.budget = budget;
    const outside = taint === undefined ? undefined : taintFrom(taint);
    if (outside !== undefined) extras.taint = outside;
    if (requester !== undefined) extras.requester = requester;
    const trace = traceContextOf(metadata['traceparent'], metadata['tracestate']);
    if (trace !== undefined) extras.trace = trace;
    if (Object.keys(metadata).some(isUnknown))
      extras.unknown = Object.fromEntries(Object.entries(metadata).filter(([name]) => isUnknown(name)));
  }
  if (session !== undefined) extras.session = session;
  if (schema !== undefined) extras.schema = schema;
  return Object.keys(extras).length > 0 ? extras : undefined;
}

/** A mail as plain data, for a control line. */
export type MailData = readonly [
  ...ConstructorParameters<typeof Mail>,
  number,
  number,
  ErrorData | undefined,
  number,
  boolean,
];

/** Positions of some fields in `MailData`. */
export const MAIL_DATA = {
  extras: 12,
  sequence: 13,
  attempts: 14,
  tombstone: 15,
  kept: 16,
  wasLeft: 17,
} as const;

export const mailToData = (mail: Mail): MailData => [
  mail.key,
  mail.origin,
  mail.type,
  mail.sender,
  mail.recipient,
  mail.correlationId,
  mail.timestamp,
  mail.payload,
  mail.capability,
  mail.deadlineAtMs,
  mail.ask,
  mail.path,
  mail.extras,
  mail.sequence,
  mail.attempts,
  mail.tombstone,
  mail.kept,
  mail.wasLeft,
];

export function mailFromData(data: MailData): Mail {
  const mail = new Mail(...(data.slice(0, MAIL_DATA.sequence) as ConstructorParameters<typeof Mail>));
  mail.sequence = data[MAIL_DATA.sequence];
  mail.attempts = data[MAIL_DATA.attempts];
  mail.tombstone = data[MAIL_DATA.tombstone];
  mail.kept = data[MAIL_DATA.kept];
  mail.wasLeft = data[MAIL_DATA.wasLeft];
  return mail;
}

/** The same envelope for another recipient. */
export const copyOf = (mail: Mail): Mail => mailFromData(mailToData(mail));

/** An envelope is poison after so many tries that ended in a death. */
export const MAX_ATTEMPTS = 3;

/** Notes that the envelope's agent has died over it `attempts` times. After `MAX_ATTEMPTS` it becomes a tombstone. */
export function chargeDeaths(mail: Mail, attempts: number, { agentId, reason, taint }: DeathOver): void {
  mail.attempts = attempts;
  if (attempts < MAX_ATTEMPTS) return;
  mail.tombstone ??= { ...errorToData(poison(agentId, attempts, { reason })), ...(taint && { taint }) };
}

interface DeathOver {
  readonly agentId: string;
  readonly reason: string;
  readonly taint?: Taint;
}
