import { describeValue } from './describe-value.ts';
import { ERROR_CODES, type ErrorCode } from './error-codes.ts';
import type { ErrorData } from './error-data.ts';
import { findUnserialisable } from './json.ts';
import type { Taint } from './taint.ts';

export { ERROR_CODES, type ErrorCode };
export type { ErrorData };

/** The one error class of the runtime. Branch on `code`, never on `instanceof` or the text. */
export class OrreryError extends Error {
  readonly code: ErrorCode;
  readonly details: Readonly<Record<string, unknown>>;

  constructor(
    code: ErrorCode,
    message: string,
    options: { details?: Readonly<Record<string, unknown>>; cause?: unknown } = {},
  ) {
    super(message, options.cause === undefined ? undefined : { cause: options.cause });
    this.name = 'OrreryError';
    this.code = code;
    this.details = options.details ?? {};
  }
}

/** The text of whatever was thrown, even of a value that throws when it is read. */
export function reasonOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'something was thrown that cannot be told';
  }
}

/** The error as plain data, for a port or a log. Anything that is not an `OrreryError` becomes `fallbackCode`. */
export function errorToData(error: unknown, fallbackCode: ErrorCode = 'HANDLER_FAILED'): ErrorData {
  if (!isOrreryError(error)) return { code: fallbackCode, message: reasonOf(error) };
  return { code: error.code, message: reasonOf(error), details: plainDetails(toldDetails(error)) };
}

/** As `errorToData`, with the stack if code threw the error: for events, and for the embedder. */
export function errorWithStack(
  error: unknown,
  { fallbackCode, ofMistakes = false }: { fallbackCode?: ErrorCode; ofMistakes?: boolean } = {},
): ErrorData {
  const stack = stackOf(error, ofMistakes);
  const data = errorToData(error, fallbackCode);
  return stack === undefined ? data : { ...data, stack };
}

/** An error's details without the stack, which only the embedder is given. */
export function toldDetails(error: OrreryError): OrreryError['details'] {
  const { stack, ...told } = error.details ?? {};
  return typeof stack === 'string' ? told : (error.details ?? {});
}

/** The details with each field that no port carries replaced by a description: code and message must arrive in any case. */
function plainDetails(details: ErrorData['details']): NonNullable<ErrorData['details']> {
  if (findUnserialisable(details, 'details') === undefined) return details ?? {};
  try {
    const plain = Object.entries(details ?? {}).map(([field, value]) => {
      const fault = findUnserialisable(value, field);
      return [field, fault === undefined ? value : `${fault.path} holds ${fault.kind}`];
    });
    return Object.fromEntries(plain);
  } catch {
    return {};
  }
}

/** The stacks of errors that arrived as data. They are kept apart, where no agent reads them. */
const stacks = new WeakMap<object, string>();

const MAX_STACK = 4_000;
const MAX_CAUSES = 3;

/** Codes that the methods of a context throw at code that uses them wrongly: their stacks show where. */
const MISTAKES: ReadonlySet<ErrorCode> = new Set<ErrorCode>(['INVALID_OPTIONS', 'NOT_SERIALISABLE']);

/**
 * The stack of what was thrown, and of its causes. An `OrreryError` reports something and has no stack of its own, unless it is a
 * mistake of the code that threw it (`ofMistakes`).
 */
export function stackOf(error: unknown, ofMistakes = false): string | undefined {
  try {
    const found: string[] = [];
    let at = error;
    for (let depth = 0; at instanceof Error && depth < MAX_CAUSES; depth++) {
      const known = stacks.get(at);
      const isOwn = !isOrreryError(at) || (ofMistakes && MISTAKES.has(at.code));
      const stack = known ?? (isOwn ? at.stack : undefined);
      if (stack) found.push(String(stack));
      at = known === undefined ? at.cause : undefined;
    }
    const text = found.join('\ncaused by: ');
    return text === '' ? undefined : text.slice(0, MAX_STACK);
  } catch {
    // Anything can be thrown, also a value that throws when it is read.
    return undefined;
  }
}

/** Removes the stack of an error that no code threw, because something ended by itself. */
export function withoutStack<Failure extends Error>(error: Failure): Failure {
  error.stack = '';
  return error;
}

/** The error that `data` describes, for an agent: without the stack. */
export function errorFromData({ code, message, details = {}, stack }: ErrorData): OrreryError {
  const error = new OrreryError(code, message, { details });
  if (stack !== undefined) stacks.set(error, stack);
  return error;
}

/** The same for the embedder: with the stack in its details, and as that of its cause. */
export function embedderError({ code, message, details = {}, stack }: ErrorData): OrreryError {
  if (stack === undefined) return new OrreryError(code, message, { details });
  const { reason = message } = details;
  const cause = new Error(String(reason));
  cause.stack = stack;
  const error = new OrreryError(code, message, { details: { ...details, stack }, cause });
  stacks.set(error, stack);
  return error;
}

/** Says whether `error` carries one of our codes; works for errors made by another copy of the package too. */
export function isOrreryError(error: unknown): error is OrreryError {
  try {
    return error instanceof Error && ERROR_CODES.includes((error as { code?: ErrorCode }).code as ErrorCode);
  } catch {
    return false;
  }
}

export const agentNotFound = (agentId: string): OrreryError =>
  new OrreryError('AGENT_NOT_FOUND', `No agent with id "${agentId}" is registered`, { details: { agentId } });

/** The agent's card is registered, but none of its code runs here, and nothing carries mail to it. */
export const notHosted = (agentId: string): OrreryError =>
  new OrreryError('AGENT_NOT_FOUND', `The card of "${agentId}" is registered, but nobody hosts it`, {
    details: { agentId },
  });

export const capabilityNotFound = (capabilityId: string): OrreryError =>
  new OrreryError('CAPABILITY_NOT_FOUND', `No agent offers the capability "${capabilityId}"`, {
    details: { capabilityId },
  });

export const channelClosed = (channelId: string, reason: string, mayHaveArrived = false): OrreryError =>
  new OrreryError('CHANNEL_CLOSED', `The channel ${channelId} is closed: ${reason}`, {
    details: { channelId, reason, mayHaveArrived },
  });

/** `mayHaveArrived`: its recipient died over it, and may have handled it. */
export const deliveryFailed = (
  envelopeId: string,
  over: string,
  reason: string,
  mayHaveArrived = false,
): OrreryError =>
  new OrreryError('DELIVERY_FAILED', `The envelope ${envelopeId} was not delivered over ${over}: ${reason}`, {
    details: { envelopeId, reason, mayHaveArrived },
  });

export const mailboxFull = (holder: string, capacity: number): OrreryError =>
  new OrreryError('MAILBOX_FULL', `${holder} has no room for another envelope (capacity ${capacity})`, {
    details: { holder, capacity },
  });

export const actorDied = (agentId: string, reason: string, cause?: unknown): OrreryError =>
  new OrreryError('ACTOR_DIED', `${agentId} died while handling the envelope: ${reason}`, {
    details: { agentId, reason },
    cause,
  });

/** A handler threw or rejected, and its envelope is not tried again. */
export const handlerFailed = (agentId: string, reason: string, cause?: unknown): OrreryError =>
  new OrreryError('HANDLER_FAILED', `The handler of ${agentId} failed: ${reason}`, {
    details: { agentId, reason },
    cause,
  });

/** The agent has died too often over requests of this outsider: it refuses them for so long. */
export const outsiderRefused = (agentId: string, retryAfterMs: number): OrreryError =>
  new OrreryError(
    'RATE_LIMITED',
    `${agentId} has failed too often over requests of this caller; it may be asked again in ${retryAfterMs} ms`,
    { details: { agentId, retryAfterMs } },
  );

export const threadDied = (agentId: string, place: string): OrreryError =>
  new OrreryError('THREAD_DIED', `The thread ${place} that held the mail of ${agentId} died`, {
    details: { agentId, place },
  });

/** `what` did not get ready for `awaited`. */
export const startFailed = (what: string, awaited: string, reason: string): OrreryError =>
  new OrreryError(
    'START_FAILED',
    `Starting failed: ${what} was to ${awaited}, and did not get ready: ${reason}`,
    {
      details: { what, awaited, reason },
    },
  );

export const deadlineExceeded = (what: string, timeoutMs: number): OrreryError =>
  new OrreryError('DEADLINE_EXCEEDED', `${what} was not answered within ${timeoutMs} ms`, {
    details: { what, timeoutMs },
  });

export const cancelled = (what: string): OrreryError =>
  new OrreryError('CANCELLED', `${what} was cancelled`, { details: { what } });

export const pathLoop = (agentId: string, capability: string): OrreryError =>
  new OrreryError(
    'PATH_LOOP',
    `${agentId} already works on "${capability}" further up this delegation path`,
    {
      details: { agentId, capability },
    },
  );

export const hopLimit = (maxHops: number): OrreryError =>
  new OrreryError('HOP_LIMIT', `The delegation path is longer than ${maxHops} hops`, {
    details: { maxHops },
  });

/** An envelope is not sent because its sender's budget has no hops left. */
export const noHopsLeft = (agentId: string): OrreryError =>
  new OrreryError('HOP_LIMIT', `${agentId} may not delegate any further: its budget has 0 hops`, {
    details: { agentId },
  });

/** More was asked for than is left. Amounts that are absent from `left` are not limited. */
export const budgetExceeded = (asked: Amounts, left: Amounts): OrreryError =>
  new OrreryError(
    'BUDGET_EXCEEDED',
    `The budget has ${amountsText(left)} left, asked for: ${amountsText(asked)}`,
    {
      details: { asked, left },
    },
  );

/** Work is asked for when nothing is left to pay for it. */
export const budgetUsedUp = (left: Amounts): OrreryError =>
  new OrreryError('BUDGET_EXCEEDED', `The budget has ${amountsText(left)} left: it asks nobody for work`, {
    details: { left },
  });

interface Amounts {
  readonly tokens?: number | undefined;
  readonly costUsd?: number | undefined;
}

function amountsText({ tokens, costUsd }: Amounts): string {
  const amounts = [
    ...(tokens === undefined ? [] : [`${tokens} tokens`]),
    ...(costUsd === undefined ? [] : [`${costUsd} USD`]),
  ];
  return amounts.length === 0 ? 'no amount' : amounts.join(' and ');
}

/** `last` is the reason of the last failure, if that is known. */
export const poison = (
  agentId: string,
  attempts: number,
  last?: { readonly reason: string; readonly cause?: unknown },
): OrreryError =>
  new OrreryError(
    'POISON',
    `${agentId} failed ${attempts} times over this envelope${last === undefined ? '' : `, the last time with: ${last.reason}`}; it is not tried again`,
    {
      details: { agentId, attempts, ...(last === undefined ? {} : { reason: last.reason }) },
      cause: last?.cause,
    },
  );

export const notSerialisable = (field: string, value: string): OrreryError =>
  new OrreryError(
    'NOT_SERIALISABLE',
    `${field} holds ${value}, which JSON cannot carry; declare the capability with carries: 'structured'`,
    { details: { field, value } },
  );

export const moduleInvalid = (module: string, reason: string, cause?: unknown): OrreryError =>
  new OrreryError('MODULE_INVALID', `The agent module ${module} cannot be used: ${reason}`, {
    details: { module, reason },
    cause,
  });

/** What a state is of: the machine's id, its agent's version, and the hash of its structure. */
interface StateOf {
  readonly machineId: string;
  readonly version: string;
  readonly hash: string;
}

/** `to` undefined: the code keeps no state. */
export const snapshotUnknown = (
  agentId: string,
  reason: string,
  { from, to }: { readonly from: StateOf; readonly to: StateOf | undefined },
  cause?: unknown,
): OrreryError =>
  new OrreryError(
    'SNAPSHOT_UNKNOWN',
    `${agentId} cannot go on with its state (${stateText(from)}) as ${stateText(to)}: ${reason}`,
    { details: { agentId, reason, from, to }, cause },
  );

/** The kept state of an agent is no valid snapshot. `issues` names the fields. */
export const snapshotInvalid = (agentId: string, issues: string): OrreryError =>
  new OrreryError('SNAPSHOT_UNKNOWN', `What is kept of the state of ${agentId} is no snapshot: ${issues}`, {
    details: { agentId, issues },
  });

const HASH_SHOWN = 12;

const stateText = (of: StateOf | undefined): string =>
  of === undefined
    ? 'code that keeps no state'
    : `"${of.machineId}", version ${of.version}, hash ${of.hash.slice(0, HASH_SHOWN)}`;

/** An agent's state cannot be handed on, because it is not JSON. */
export const stateNotSerialisable = (agentId: string, field: string, value: string): OrreryError =>
  new OrreryError(
    'NOT_SERIALISABLE',
    `The state of ${agentId} cannot be handed on: ${field} holds ${value}, which JSON cannot carry`,
    { details: { agentId, field, value } },
  );

/** An agent was given up, as data: its death may have been in another thread. */
export const supervisorGaveUp = (agentId: string, { reason, stack, taint }: LastError): ErrorData => ({
  code: 'SUPERVISOR_GAVE_UP',
  message: `The supervisor of ${agentId} gave up: ${reason}`,
  details: { agentId, reason },
  ...(stack === undefined ? {} : { stack }),
  ...(taint === undefined ? {} : { taint }),
});

/** Why an agent died: the reason, the stack if code threw, and the taint of the reason's text. */
export interface LastError {
  readonly reason: string;
  readonly stack?: string | undefined;
  readonly taint?: Taint | undefined;
}

export const systemStopped = (what: string): OrreryError =>
  new OrreryError('SYSTEM_STOPPED', `The system is stopped: ${what}`, { details: { what } });

export const controlLost = (reason: string): OrreryError =>
  new OrreryError('CONTROL_LOST', `The control thread is gone: ${reason}`, { details: { reason } });

export const notHere = (agentId: string, place: string): OrreryError =>
  new OrreryError('NOT_HERE', `${agentId} does not live at ${place} any more`, {
    details: { agentId, place },
  });

const MAX_VERSION = 60;

export const schemaVersionMismatch = (expected: number, actual: unknown): OrreryError =>
  new OrreryError(
    'SCHEMA_VERSION_MISMATCH',
    `Expected envelope schemaVersion ${expected}, got ${describeValue(actual, '', MAX_VERSION)}`,
    {
      details: { expected, actual },
    },
  );

export const invalidCard = (issues: string): OrreryError =>
  new OrreryError('INVALID_CARD', `The agent card is not valid: ${issues}`, { details: { issues } });

export const invalidEnvelope = (issues: string, cause?: unknown): OrreryError =>
  new OrreryError('INVALID_ENVELOPE', `The envelope is not valid: ${issues}`, { details: { issues }, cause });

/** `thrown`: the schema's own code threw, and `issues` says what. */
export const invalidPayload = (capability: string, issues: string, thrown = false): OrreryError =>
  new OrreryError('INVALID_PAYLOAD', `The payload does not fit "${capability}": ${issues}`, {
    details: { capability, issues, ...(thrown && { thrown }) },
  });

export const invalidOptions = (field: string, value: unknown, expected: string): OrreryError =>
  new OrreryError('INVALID_OPTIONS', `${field} is ${describeValue(value, field)}, expected ${expected}`, {
    details: { field, value: describeValue(value, field), expected },
  });

/** An operation of the store failed: the disk is full, read-only or broken, or the folder is missing. It may be tried again. */
export const storeFailed = (file: string, operation: string, reason: string, cause?: unknown): OrreryError =>
  new OrreryError('STORE_FAILED', `The store ${file} failed to ${operation}: ${reason}`, {
    details: { file, operation, reason },
    cause,
  });

/** `pid`: the process that has it open, if that is known. */
export const storeInUse = (file: string, pid?: number): OrreryError =>
  new OrreryError(
    'STORE_IN_USE',
    `The store ${file} is open already${pid === undefined ? '' : ` in process ${pid}`}; one process at a time can use it`,
    { details: pid === undefined ? { file } : { file, pid } },
  );

/** The file is no valid store. `facts` are added to the details, beside file and reason. */
export const storeInvalid = (
  file: string,
  reason: string,
  facts: Readonly<Record<string, unknown>> = {},
  cause?: unknown,
): OrreryError =>
  new OrreryError('STORE_INVALID', `The store ${file} cannot be used: ${reason}`, {
    details: { file, reason, ...facts },
    cause,
  });

/** What an agent did outside its context: `resource` is what Node calls it, `place` and `where` line and stack of the code. */
interface Escape {
  readonly resource: string;
  readonly place?: string | undefined;
  readonly where: string | undefined;
}

/** `deed` is a phrase for what the agent did. */
export const simulationEscaped = (
  agentId: string,
  deed: string,
  { resource, place, where }: Escape,
): OrreryError =>
  new OrreryError(
    'SIMULATION_ESCAPED',
    `${agentId} left the simulation: ${deed}${place === undefined ? '' : ` at ${place}`}. What it waits for must come from its context, as ctx.sleep, ctx.ask, ctx.effect, ctx.offload`,
    { details: { agentId, resource, ...(place === undefined ? {} : { place }), where } },
  );

/** What a handler throws to decline one envelope without dying: its sender gets REFUSED with the reason. */
export const refused = (reason: string, details: Readonly<Record<string, unknown>> = {}): OrreryError =>
  new OrreryError('REFUSED', reason, { details });
