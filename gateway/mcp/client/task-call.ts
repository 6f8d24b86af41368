import {
  type Client,
  type RequestOptions,
  SdkHttpError,
  UnauthorizedError,
} from '@modelcontextprotocol/client';
import { z } from 'zod';
import { remoteFailed, remoteUnreachable } from '../../../runtime/protocol/edge-errors.ts';
import { reasonOf } from '../../../runtime/protocol/errors.ts';
import type { Clock } from '../../../runtime/protocol/seams.ts';
import { untilAborted } from '../../../runtime/protocol/promises.ts';

/** The interval of polls is the server's, within these bounds, milliseconds. */
const POLL_MS = { least: 100, usual: 1_000, most: 10_000 };
/** The timeout of a cancellation, milliseconds. */
const CANCEL_MS = 5_000;
const MAX_NOTE = 1_000;

const Task = z.looseObject({
  taskId: z.string().min(1),
  status: z.string(),
  statusMessage: z.string().optional(),
  pollInterval: z.number().optional(),
});
type Task = z.infer<typeof Task>;
const CreatedTask = z.looseObject({ task: Task });
const Anything = z.looseObject({});

export interface TaskCallDeps {
  readonly client: Client;
  readonly clock: Pick<Clock, 'setTimer'>;
  readonly target: string;
}

/**
 * Calls a tool as a task (MCP of 2025-11-25). It creates the task, polls it until it is over or needs input, and resolves to
 * the server's result. If `options.signal` aborts, the task is cancelled.
 *
 * The task is created once. Later failures reject with REMOTE_FAILED or REMOTE_UNREACHABLE, so that no caller creates
 * another.
 */
export async function callAsTask(
  deps: TaskCallDeps,
  params: {
    readonly name: string;
    readonly arguments: Record<string, unknown>;
    readonly _meta?: Record<string, unknown>;
  },
  options: RequestOptions & { readonly signal: AbortSignal },
): Promise<unknown> {
  const { client, target } = deps;
  const call = { method: 'tools/call', params: { ...params, task: {} } } as const;
  const made = CreatedTask.safeParse(await client.request(call, Anything, options));
  if (!made.success) throw remoteFailed(target, `it made no task of the call of "${params.name}"`);
  const { task } = made.data;
  const cancel = (): void => cancelTask(client, task.taskId);
  options.signal.addEventListener('abort', cancel, { once: true });
  try {
    options.signal.throwIfAborted();
    return await resultOf(deps, task, options);
  } catch (error) {
    options.signal.throwIfAborted();
    throw afterBegin(target, error);
  } finally {
    options.signal.removeEventListener('abort', cancel);
  }
}

async function resultOf(
  { client, clock, target }: TaskCallDeps,
  made: Task,
  options: RequestOptions & { readonly signal: AbortSignal },
): Promise<unknown> {
  const { taskId } = made;
  const about = { params: { taskId } };
  let task = made;
  while (task.status === 'working') {
    // An answer to a poll is a sign of life, as progress is.
    options.onprogress?.({ progress: 0, message: task.statusMessage?.slice(0, MAX_NOTE) ?? task.status });
    await sleep(clock, pollMs(task), options.signal);
    task = Task.parse(await client.request({ method: 'tasks/get', ...about }, Anything, options));
    if (task.taskId !== taskId)
      throw remoteFailed(target, `asked for the task ${taskId}, it tells of another`);
  }
  if (task.status === 'cancelled') throw remoteFailed(target, `it cancelled the task${because(task)}`);
  // A task that needs input asks for it while `tasks/result` waits.
  return client.request({ method: 'tasks/result', ...about }, Anything, options);
}

const because = ({ statusMessage }: Task): string =>
  statusMessage === undefined ? '' : `: ${statusMessage.slice(0, MAX_NOTE)}`;

const pollMs = ({ pollInterval = POLL_MS.usual }: Task): number =>
  Math.min(POLL_MS.most, Math.max(POLL_MS.least, pollInterval));

async function sleep(clock: Pick<Clock, 'setTimer'>, ms: number, signal: AbortSignal): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>();
  const stop = clock.setTimer(ms, resolve);
  try {
    await untilAborted(promise, signal);
  } finally {
    stop();
  }
}

/** Cancels a task without waiting for the answer. */
function cancelTask(client: Client, taskId: string): void {
  client
    .request({ method: 'tasks/cancel', params: { taskId } }, Anything, { timeout: CANCEL_MS })
    .catch(() => undefined);
}

/** Converts errors about session or authorization: those would have the caller create the task again. */
function afterBegin(target: string, error: unknown): unknown {
  if (error instanceof SdkHttpError && error.status === 404)
    return remoteUnreachable(target, 'it does not know the session of the task any more', {
      mayHaveArrived: true,
    });
  if (error instanceof UnauthorizedError)
    return remoteFailed(target, `it does not let the task be looked at: ${reasonOf(error)}`);
  return error instanceof z.ZodError ? remoteFailed(target, 'what it says of the task is no task') : error;
}
