import type { Artifact, Part, Task, TaskMessage, TaskState } from '../../../runtime/protocol/task.ts';
import type { Json } from '../../a2a/wire/json.ts';
import type { Dialect, WrittenError } from '../../a2a/wire/dialect.ts';
import { isoOf, HistoryLength, OldMessage, readParams } from '../../a2a/wire/older-dialects.ts';
import type { OperationName, Operations, SendOrder } from '../../a2a/wire/operations.ts';
import { defined, writeTagged, optional } from '../../a2a/wire/parts.ts';
import { z } from 'zod';
import { FreshJson } from '../../../runtime/protocol/json-value.ts';
import { messageOf } from '../../a2a/wire/message-fields.ts';
import { isOrreryError, type OrreryError } from '../../../runtime/protocol/errors.ts';
import { type Fault, faultOf, internalFault } from '../../a2a/wire/faults.ts';

type JsonObject = { readonly [key: string]: Json };

/** The operation of each method of XPR's protocol. */
export const XPR_METHODS = {
  'message/send': 'send',
  'tasks/get': 'get',
  'tasks/cancel': 'cancel',
} as const satisfies Dialect['methods'] & Readonly<Record<string, OperationName>>;
export type XprMethod = keyof typeof XPR_METHODS;

/** The states of XPR, which has six. The others are shown as the nearest (C-11). */
const STATES: Readonly<Record<TaskState, string>> = {
  submitted: 'submitted',
  working: 'working',
  'input-required': 'input-required',
  'auth-required': 'input-required',
  completed: 'completed',
  failed: 'failed',
  canceled: 'canceled',
  rejected: 'failed',
};

/** Writes a task for XPR. `index` of an artifact is its position; times are in ISO 8601. */
export function writeXprTask({ id, contextId, status, artifacts, history, metadata }: Task): JsonObject {
  const { state, message, atMs } = status;
  const made = artifacts.map(writeArtifact);
  return {
    id,
    contextId,
    status: {
      state: STATES[state],
      ...(message === undefined ? {} : { message: writeMessage(message) }),
      timestamp: isoOf(atMs),
    },
    ...(made.length > 0 || state === 'completed' ? { artifacts: made } : {}),
    ...(history.length > 0 ? { history: history.map(writeMessage) } : {}),
    ...defined({ metadata }),
  };
}

const writeArtifact = ({ name, description, parts, metadata }: Artifact, index: number): JsonObject => ({
  ...defined({ name, description }),
  parts: parts.map(writePart),
  index,
  ...defined({ metadata }),
});

const writeMessage = ({ role, parts, metadata }: TaskMessage): JsonObject => ({
  role,
  parts: parts.map(writePart),
  ...defined({ metadata }),
});

/** Writes a part. A file always gets a media type. */
const writePart = (part: Part): Json =>
  writeTagged(
    'raw' in part || 'url' in part ? { mediaType: 'application/octet-stream', ...part } : part,
    'type',
  );

const Id = z.string().min(1);

/** Free metadata. `xpr:jobId` is the number of a job in escrow. */
const XprMetadata = z.object({ 'xpr:jobId': z.int().nonnegative().optional() }).catchall(FreshJson);

const SendParams = z.object({
  message: OldMessage,
  id: optional(Id),
  contextId: optional(Id),
  'xpr:callerAccount': optional(z.string()),
  configuration: optional(
    z.object({ blocking: optional(z.boolean()), historyLength: optional(HistoryLength) }),
  ),
  metadata: optional(XprMetadata),
});
const GetParams = z.object({ id: Id, historyLength: optional(HistoryLength) });
const CancelParams = z.object({ id: Id });

/** A message with the account that its sender claims, without proof. */
export interface XprSendOrder extends SendOrder {
  readonly claimedAccount?: string;
}

/**
 * - `newId`  makes ids for messages without one.
 * - `waitMs` how long `message/send` waits for the task to end.
 */
interface XprReading {
  readonly newId: () => string;
  readonly waitMs: number;
}

/**
 * Reads the params of `message/send`. If the message continues a task, metadata of the request becomes metadata of the
 * message, because the task has its own. Throws INVALID_PAYLOAD naming the field and its value.
 */
export function readSend(params: unknown, { newId, waitMs }: XprReading): XprSendOrder {
  const read = readParams(SendParams, params, 'message/send');
  const { message: said, configuration, 'xpr:callerAccount': claimedAccount } = read;
  const taskId = read.id ?? said.taskId;
  const metadata = read.metadata === undefined ? undefined : withoutUndefined(read.metadata);
  const message = messageOf(said, newId);
  return {
    message: taskId === undefined ? message : withFacts(message, metadata),
    returnImmediately: configuration?.blocking === false,
    waitMs,
    historyLength: configuration?.historyLength ?? 0,
    acceptedOutputModes: [],
    ...defined({ taskId, contextId: read.contextId ?? said.contextId, claimedAccount }),
    ...(taskId === undefined ? defined({ metadata }) : {}),
  };
}

/** Reads the params of `tasks/get`. The history is left out, unless it is asked for. */
export function readGet(params: unknown): Operations['get']['in'] {
  const { id, historyLength } = readParams(GetParams, params, 'tasks/get');
  return { taskId: id, historyLength: historyLength ?? 0 };
}

/** Reads the params of `tasks/cancel`. */
export function readCancel(params: unknown): Operations['cancel']['in'] {
  return { taskId: readParams(CancelParams, params, 'tasks/cancel').id };
}

type Facts = NonNullable<TaskMessage['metadata']>;

function withFacts(message: TaskMessage, facts: Facts | undefined): TaskMessage {
  return facts === undefined ? message : { ...message, metadata: { ...message.metadata, ...facts } };
}

const withoutUndefined = (facts: z.output<typeof XprMetadata>): Facts => defined(facts) as Facts;

const PARSE = [-32_700, 'Parse error'] as const;
const REQUEST = [-32_600, 'Invalid request'] as const;
const METHOD = [-32_601, 'Method not found'] as const;
const PARAMS = [-32_602, 'Invalid params'] as const;
const INTERNAL = [-32_603, 'Internal error'] as const;
const AUTHENTICATION = [-32_000, 'Authentication error'] as const;
const NOT_FOUND = [-32_001, 'Task not found'] as const;
const NOT_CANCELABLE = [-32_002, 'Task not cancelable'] as const;

const ERROR_OF_FAULT: Readonly<Record<Fault, readonly [code: number, message: string]>> = {
  PARSE_ERROR: PARSE,
  INVALID_REQUEST: REQUEST,
  BODY_TOO_LARGE: REQUEST,
  METHOD_NOT_FOUND: METHOD,
  INVALID_PARAMS: PARAMS,
  AGENT_NOT_FOUND: PARAMS,
  CONTENT_TYPE_NOT_SUPPORTED: PARAMS,
  UNSUPPORTED_OPERATION: PARAMS,
  TASK_GENERATION_MISMATCH: PARAMS,
  EXTENSION_SUPPORT_REQUIRED: PARAMS,
  VERSION_NOT_SUPPORTED: REQUEST,
  PUSH_NOTIFICATION_NOT_SUPPORTED: METHOD,
  EXTENDED_AGENT_CARD_NOT_CONFIGURED: METHOD,
  INTERNAL,
  UNAVAILABLE: INTERNAL,
  UNAUTHENTICATED: AUTHENTICATION,
  PERMISSION_DENIED: AUTHENTICATION,
  RATE_LIMITED: AUTHENTICATION,
  QUOTA_EXCEEDED: AUTHENTICATION,
  TASK_NOT_FOUND: NOT_FOUND,
  TASK_NOT_CANCELABLE: NOT_CANCELABLE,
};

/**
 * Writes an error of the binding, always with status 200 (C-09). Code and message are those of the seed ("Error Codes");
 * `data` distinguishes errors that share a code.
 *
 * - `reason`            the name of the fault, such as UNAUTHENTICATED, PERMISSION_DENIED, RATE_LIMITED.
 * - `detail`            a sentence for people.
 * - `retryAfterSeconds` when a retry may succeed.
 */
export function writeXprError(error: unknown): WrittenError {
  const reason = faultOf(error);
  const shown: OrreryError = isOrreryError(error) && reason !== 'INTERNAL' ? error : internalFault();
  const [code, message] = ERROR_OF_FAULT[reason];
  const retryAfterMs = shown.details['retryAfterMs'];
  const later =
    typeof retryAfterMs === 'number' ? { retryAfterSeconds: Math.ceil(retryAfterMs / 1_000) } : {};
  return { code, message, httpStatus: 200, data: { reason, detail: shown.message, ...later } };
}
