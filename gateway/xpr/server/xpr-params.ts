import { z } from 'zod';
import { FreshJson } from '../../../runtime/protocol/json-value.ts';
import type { TaskMessage } from '../../../runtime/protocol/task.ts';
import { HistoryLength, OldMessage, readParams } from '../../a2a/wire/old-words.ts';
import { messageOf } from '../../a2a/wire/message-words.ts';
import type { Operations, SendOrder } from '../../a2a/wire/operations.ts';
import { defined, optional } from '../../a2a/wire/parts.ts';

const Id = z.string().min(1);

/** Free facts; `xpr:jobId` is the number of a job in escrow. */
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

/** What a caller says of itself; it proves nothing. */
export interface XprSendOrder extends SendOrder {
  readonly claimedAccount?: string;
}

/**
 * - `newId`      of messages whose sender has given them none.
 * - `waitMs`     how long an answer to message/send may take; then it says how the task stands.
 */
export interface XprReading {
  readonly newId: () => string;
  readonly waitMs: number;
}

/**
 * `params` of message/send. What is said beside a message that goes on with a task belongs to the message: the task has its
 * own. Throws INVALID_PAYLOAD naming the field and its value.
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

/** `params` of tasks/get. The history is what nobody asks for. */
export function readGet(params: unknown): Operations['get']['in'] {
  const { id, historyLength } = readParams(GetParams, params, 'tasks/get');
  return { taskId: id, historyLength: historyLength ?? 0 };
}

/** `params` of tasks/cancel. */
export function readCancel(params: unknown): Operations['cancel']['in'] {
  return { taskId: readParams(CancelParams, params, 'tasks/cancel').id };
}

type Facts = NonNullable<TaskMessage['metadata']>;

function withFacts(message: TaskMessage, facts: Facts | undefined): TaskMessage {
  return facts === undefined ? message : { ...message, metadata: { ...message.metadata, ...facts } };
}

const withoutUndefined = (facts: z.output<typeof XprMetadata>): Facts => defined(facts) as Facts;
