import type { AskOptions, Target, TellOptions } from '../agent/context.ts';
import { checkAskOptions, checkOptions, splitTarget } from '../agent/send-options.ts';
import type { Funds } from '../budget/mail-account.ts';
import { behalfOf } from '../mailbox/behalf.ts';
import { Mail, type MailExtras, NO_ASK, typeIndex } from '../mailbox/mail.ts';
import type { Capability } from '../protocol/capability.ts';
import { A2A_MESSAGE_TYPES, type A2AMessageType } from '../protocol/envelope.ts';
import { invalidOptions } from '../protocol/errors.ts';
import type { Party } from '../protocol/policy.ts';
import type { IdSource } from '../protocol/seams.ts';
import { inheritTaint } from './cell-taint.ts';
import type { Handling } from './handling.ts';

const DEFAULT_TIMEOUT_MS = 30_000;
const REQUEST = typeIndex('request');
const STREAM_START = typeIndex('stream-start');

/** Makes mails in the name of a sender; what is made while an envelope is handled takes over and narrows what it has. */
export class MailMaker {
  readonly #ids: IdSource;
  readonly #now: () => number;

  constructor(ids: IdSource, now: () => number) {
    this.#ids = ids;
    this.#now = now;
  }

  /** An ask: always with a deadline, that of the envelope being handled if it is earlier. */
  ask(
    from: Identity,
    target: Target<unknown, unknown>,
    payload: unknown,
    options: AskOptions,
    parent: Handling | undefined,
    isStream: boolean,
  ): Mail {
    checkAskOptions(options);
    const { agent, capability } = splitTarget(target);
    const now = this.#now();
    // A stream is never the same one again: part of it may have been read.
    const deadlineAtMs = now + finite('timeoutMs', options.timeoutMs ?? DEFAULT_TIMEOUT_MS);
    const mail = new Mail(
      (isStream ? undefined : parent?.childId()) ?? this.#ids.next(),
      this.#ids.origin,
      isStream ? STREAM_START : REQUEST,
      from.id,
      agent ?? capability.id,
      options.correlationId ?? parent?.correlationId,
      now,
      payload,
      capability.id,
      narrowed(deadlineAtMs, parent),
      NO_ASK,
      parent?.childPath,
      withAdditions(extrasFor(options, agent === undefined, capability, parent, isStream), options),
    );
    mail.correlationId ??= mail.id;
    inherit(mail, options, parent);
    return mail;
  }

  tell(
    from: Identity,
    target: string | Target<unknown, unknown>,
    payload: unknown,
    options: TellOptions,
    parent: Handling | undefined,
  ): Mail {
    checkOptions(options);
    const { agent, capability } =
      typeof target === 'string' ? { agent: target, capability: undefined } : splitTarget(target);
    const mail = new Mail(
      parent?.childId() ?? this.#ids.next(),
      this.#ids.origin,
      messageType(options.type ?? 'notification'),
      from.id,
      agent ?? (capability as Capability).id,
      options.correlationId ?? parent?.correlationId,
      this.#now(),
      payload,
      capability?.id,
      narrowed(finite('deadlineAtMs', options.deadlineAtMs ?? 0), parent),
      NO_ASK,
      parent?.childPath,
      extrasFor(options, agent === undefined, capability, parent, false),
    );
    inherit(mail, options, parent);
    return mail;
  }
}

/** What every envelope takes over that is sent from the work of `parent`. */
function inherit(mail: Mail, { taint }: TellOptions, parent: Handling | undefined): void {
  const behalf = behalfOf(parent?.mail?.extras);
  if (behalf !== undefined) mail.extras = { ...mail.extras, ...behalf };
  inheritTaint(mail, taint, parent?.taint);
}

/** What is no finite number would not arrive as what it is. */
function finite(field: string, value: number): number {
  if (!Number.isFinite(value)) throw invalidOptions(field, value, 'a finite number of milliseconds');
  return value;
}

function messageType(type: A2AMessageType): number {
  if (!A2A_MESSAGE_TYPES.includes(type))
    throw invalidOptions('type', type, `one of ${A2A_MESSAGE_TYPES.join(', ')}`);
  return typeIndex(type);
}

/** The earlier of a deadline and that of the envelope being handled; 0 is none. */
function narrowed(own: number, parent: Handling | undefined): number {
  const inherited = parent?.deadlineAtMs ?? 0;
  return inherited > 0 && (own === 0 || inherited < own) ? inherited : own;
}

/** The extras with what the asker adds, if it adds anything. */
function withAdditions(
  extras: MailExtras | undefined,
  { metadata, resumeFrom }: AskOptions,
): MailExtras | undefined {
  if (metadata === undefined && resumeFrom === undefined) return extras;
  const unknown = resumeFrom === undefined ? { ...metadata } : { ...metadata, resumeFrom };
  return { ...extras, unknown };
}

function extrasFor(
  options: TellOptions,
  isCapability: boolean,
  capability: Capability | undefined,
  parent: Handling | undefined,
  isStream: boolean,
): MailExtras | undefined {
  const isStructured = capability?.carries === 'structured';
  const isDerived = !isStream && parent?.derivesIds === true;
  const { justification, inReplyTo, delivery, schema } = options;
  const flags = (isCapability ? 1 : 0) | (isStructured ? 2 : 0) | (isDerived ? 4 : 0) | (isStream ? 8 : 0);
  if (inReplyTo === undefined && delivery === undefined && schema === undefined)
    return sharedExtras(flags, justification);
  const extras = extrasOf(flags, justification);
  if (schema !== undefined) extras.schema = schema;
  if (inReplyTo !== undefined) {
    if (typeof inReplyTo !== 'string') throw invalidOptions('inReplyTo', inReplyTo, 'a text');
    extras.inReplyTo = inReplyTo;
  }
  if (delivery !== undefined) {
    if (delivery !== 'once' && delivery !== 'retry')
      throw invalidOptions('delivery', delivery, 'one of once, retry');
    extras.delivery = delivery;
  }
  return extras;
}

function extrasOf(flags: number, justification: string | undefined): MailExtras {
  const extras: MailExtras = {};
  if (flags & 1) extras.routingHint = 'capability';
  if (flags & 2) extras.structured = true;
  if (flags & 4) extras.derived = true;
  if (flags & 8) extras.stream = true;
  if (justification !== undefined) extras.justification = justification;
  return extras;
}

const FEW_JUSTIFICATIONS = 256;
const shared = new Map<string | undefined, (MailExtras | undefined)[]>();

/** Most mails have the same few extras: they are one frozen object, which crosses a link once. */
function sharedExtras(flags: number, justification: string | undefined): MailExtras | undefined {
  if (flags === 0 && justification === undefined) return undefined;
  let variants = shared.get(justification);
  if (variants === undefined) {
    if (shared.size >= FEW_JUSTIFICATIONS) return extrasOf(flags, justification);
    variants = [];
    shared.set(justification, variants);
  }
  variants[flags] ??= Object.freeze(extrasOf(flags, justification));
  return variants[flags];
}

/** In whose name something is sent. `slot` is -1 for those who have no mailbox, such as `system/host`. */
export interface Identity {
  readonly id: string;
  readonly slot: number;
  readonly party: Party;
  /** What is sent by it of its own accord draws on this. @default not limited */
  readonly funds?: Funds;
}
