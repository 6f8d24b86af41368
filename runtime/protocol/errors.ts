import { describeValue } from './describe-value.ts';
import { findUnserialisable } from './json-safety.ts';

/**
 * Every code that the runtime answers with. The list is closed: callers branch on it.
 *
 * The first twelve are the seed's own; the others name what a supervised, bounded, multi-threaded system adds.
 */
export const ERROR_CODES = [
  'AGENT_NOT_FOUND',
  'CAPABILITY_NOT_FOUND',
  'TIER_VIOLATION',
  'SANDBOX_VIOLATION',
  'ESCALATION_REQUIRED',
  'CHANNEL_CLOSED',
  'DELIVERY_FAILED',
  'DUPLICATE_TOOL',
  'INVALID_CARD',
  'SCHEMA_VERSION_MISMATCH',
  'PROPOSAL_TIMEOUT',
  'CRDT_DESERIALIZATION_FAILED',
  'MAILBOX_FULL',
  'ACTOR_DIED',
  'THREAD_DIED',
  'DEADLINE_EXCEEDED',
  'CANCELLED',
  'BUDGET_EXCEEDED',
  'PATH_LOOP',
  'HOP_LIMIT',
  'POISON',
  'NOT_SERIALISABLE',
  'MODULE_INVALID',
  'SUPERVISOR_GAVE_UP',
  'SNAPSHOT_UNKNOWN',
  'SYSTEM_STOPPED',
  'CONTROL_LOST',
  'NOT_HERE',
  'TAKEN',
  'REFUSED',
  'INVALID_ENVELOPE',
  'INVALID_PAYLOAD',
  'INVALID_OPTIONS',
  'STORE_FAILED',
  'STORE_IN_USE',
  'STORE_INVALID',
  'SIMULATION_ESCAPED',
  'UNAUTHENTICATED',
  'NOT_PERMITTED',
  'RATE_LIMITED',
  'BODY_TOO_LARGE',
  'PEERS_MISSING',
  'QUOTA_EXCEEDED',
  'TASK_NOT_FOUND',
  'TASK_OVER',
  'TASK_GENERATION_MISMATCH',
  'REMOTE_UNREACHABLE',
  'REMOTE_FAILED',
  'INPUT_REQUIRED',
  'TOOL_NOT_FOUND',
  'RESOURCE_NOT_FOUND',
  'PROMPT_NOT_FOUND',
  'TAINTED',
  'START_FAILED',
] as const;

export type ErrorCode = (typeof ERROR_CODES)[number];

/** An error as it crosses a thread, a process or a socket: an `Error` posted through a port loses name and code. */
export interface ErrorData {
  readonly code: ErrorCode;
  readonly message: string;
  readonly details?: Readonly<Record<string, unknown>>;
  readonly stack?: string;
}

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

/** What is to be said of whatever was thrown. Anything can be, also what throws again when it is looked at. */
export function reasonOf(error: unknown): string {
  try {
    return error instanceof Error ? String(error.message) : String(error);
  } catch {
    return 'something was thrown that cannot be told';
  }
}

/** The error as plain data, for a port or a log. Anything that is not an `OrreryError` becomes `fallbackCode`. */
export function errorToData(error: unknown, fallbackCode: ErrorCode = 'ACTOR_DIED'): ErrorData {
  if (isOrreryError(error))
    return { code: error.code, message: reasonOf(error), details: plainDetails(error.details) };
  const stack = stackOf(error);
  const message = reasonOf(error);
  return stack === undefined ? { code: fallbackCode, message } : { code: fallbackCode, message, stack };
}

/** What no port carries is described, field by field: code and message must arrive whatever is beside them. */
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

function stackOf(error: unknown): string | undefined {
  try {
    return error instanceof Error && error.stack !== undefined ? String(error.stack) : undefined;
  } catch {
    return undefined;
  }
}

/** The error that `data` describes. */
export function errorFromData(data: ErrorData): OrreryError {
  return new OrreryError(data.code, data.message, { details: data.details ?? {} });
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

export const capabilityNotFound = (capabilityId: string): OrreryError =>
  new OrreryError('CAPABILITY_NOT_FOUND', `No agent offers the capability "${capabilityId}"`, {
    details: { capabilityId },
  });

export const channelClosed = (channelId: string, reason: string, mayHaveArrived = false): OrreryError =>
  new OrreryError('CHANNEL_CLOSED', `The channel ${channelId} is closed: ${reason}`, {
    details: { channelId, reason, mayHaveArrived },
  });

/** `mayHaveArrived`: whoever had it in hand died over it, and may have handled it. */
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

/** One envelope that is not sent: the budget of whoever would send it has no hops left. */
export const noHopsLeft = (agentId: string): OrreryError =>
  new OrreryError('HOP_LIMIT', `${agentId} may not delegate any further: its budget has 0 hops`, {
    details: { agentId },
  });

/** Amounts as in a budget; what is absent from `left` is not limited. */
export const budgetExceeded = (asked: Amounts, left: Amounts): OrreryError =>
  new OrreryError(
    'BUDGET_EXCEEDED',
    `The budget has ${amountsText(left)} left, asked for: ${amountsText(asked)}`,
    {
      details: { asked, left },
    },
  );

/** No amount is asked for, but work that could not pay for anything. */
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

export const poison = (agentId: string, attempts: number): OrreryError =>
  new OrreryError('POISON', `${agentId} died ${attempts} times on this envelope; it is not tried again`, {
    details: { agentId, attempts },
  });

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

/** Where a state comes from, or where it is to go: a machine by its id, its agent's version and the hash of its structure. */
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
): OrreryError =>
  new OrreryError(
    'SNAPSHOT_UNKNOWN',
    `${agentId} cannot go on with its state (${stateText(from)}) as ${stateText(to)}: ${reason}`,
    { details: { agentId, reason, from, to } },
  );

const HASH_SHOWN = 12;

const stateText = (of: StateOf | undefined): string =>
  of === undefined
    ? 'code that keeps no state'
    : `"${of.machineId}", version ${of.version}, hash ${of.hash.slice(0, HASH_SHOWN)}`;

/** An agent's state has to be what JSON can say, to be handed on. */
export const stateNotSerialisable = (agentId: string, field: string, value: string): OrreryError =>
  new OrreryError(
    'NOT_SERIALISABLE',
    `The state of ${agentId} cannot be handed on: ${field} holds ${value}, which JSON cannot carry`,
    { details: { agentId, field, value } },
  );

export const supervisorGaveUp = (agentId: string, reason: string): OrreryError =>
  new OrreryError('SUPERVISOR_GAVE_UP', `The supervisor of ${agentId} gave up: ${reason}`, {
    details: { agentId, reason },
  });

export const systemStopped = (what: string): OrreryError =>
  new OrreryError('SYSTEM_STOPPED', `The system is stopped: ${what}`, { details: { what } });

export const controlLost = (reason: string): OrreryError =>
  new OrreryError('CONTROL_LOST', `The control thread is gone: ${reason}`, { details: { reason } });

export const notHere = (agentId: string, place: string): OrreryError =>
  new OrreryError('NOT_HERE', `${agentId} does not live at ${place} any more`, {
    details: { agentId, place },
  });

export const schemaVersionMismatch = (expected: number, actual: unknown): OrreryError =>
  new OrreryError(
    'SCHEMA_VERSION_MISMATCH',
    `Expected envelope schemaVersion ${expected}, got ${String(actual)}`,
    {
      details: { expected, actual },
    },
  );

export const invalidCard = (issues: string): OrreryError =>
  new OrreryError('INVALID_CARD', `The agent card is not valid: ${issues}`, { details: { issues } });

export const invalidEnvelope = (issues: string): OrreryError =>
  new OrreryError('INVALID_ENVELOPE', `The envelope is not valid: ${issues}`, { details: { issues } });

export const invalidPayload = (capability: string, issues: string): OrreryError =>
  new OrreryError('INVALID_PAYLOAD', `The payload does not fit "${capability}": ${issues}`, {
    details: { capability, issues },
  });

export const invalidOptions = (field: string, value: unknown, expected: string): OrreryError =>
  new OrreryError('INVALID_OPTIONS', `${field} is ${describeValue(value, field)}, expected ${expected}`, {
    details: { field, value: describeValue(value, field), expected },
  });

/** The store did not do it: the disk is full, read-only or broken, or the folder is not there. It may be tried again. */
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

/** The file is not one of ours, or not one any more. `facts` are beside file and reason in the details. */
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

/** `resource` is what the agent reached for outside its context, `where` the stack of its code, if that could be had. */
export const simulationEscaped = (
  agentId: string,
  resource: string,
  where: string | undefined,
): OrreryError =>
  new OrreryError(
    'SIMULATION_ESCAPED',
    `${agentId} left the simulation (${resource}): what it waits for must come from its context, as ctx.sleep, ctx.ask, ctx.effect`,
    { details: { agentId, resource, where } },
  );

/** What a handler throws to decline one envelope without dying: its sender gets REFUSED with the reason. */
export const refused = (reason: string, details: Readonly<Record<string, unknown>> = {}): OrreryError =>
  new OrreryError('REFUSED', reason, { details });
