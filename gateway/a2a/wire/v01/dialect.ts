import type { Task } from '../../../../runtime/protocol/task.ts';
import type { Json } from '../json.ts';
import type { Dialect, RestBinding } from '../dialect.ts';
import { isGivenTaskId } from './given-ids.ts';
import { type OperationName, type SendOrder, type StreamItem, taskIn } from '../operations.ts';
import { defined } from '../parts.ts';
import { V03 } from '../v03/dialect.ts';
import { writeCard } from './card.ts';
import { failedBody, writeError } from './errors.ts';
import { readPush, readPushId, readSend, readTask, readTaskId, type V01ReadDeps } from './requests.ts';
import { itemsOf, itemWriter, writeTask, writeTaskPush } from './results.ts';
import { operationsOf, V01_METHODS } from '../method-names.ts';

/** How long tasks/send waits for its task, milliseconds; after that it is answered as it stands, and polled for. */
const PATIENCE_MS = 30_000;

/**
 * - `newId`  for messages, which have no ids in 0.1.
 * - `waitMs` how long tasks/send waits for its task. @default 30 seconds
 */
export type V01Options = Pick<V01ReadDeps, 'newId'> & Partial<V01ReadDeps>;

/** A2A 0.1 over JSON-RPC, and over the REST of the skills of seed 3. */
export interface V01 {
  readonly rpc: Dialect;
  readonly rest: RestBinding;
}

/**
 * A2A 0.1, whose callers choose the ids of their tasks.
 *
 * Some methods of 0.1 over JSON-RPC are methods of 0.3 as well, and neither names its version: a task is shown in the dialect in which
 * it was begun.
 */
export function createV01({ newId, waitMs = PATIENCE_MS }: V01Options): V01 {
  const send = (params: unknown): SendOrder => readSend(params, { newId, waitMs });
  const dialect: Dialect = {
    version: '0.1',
    methods: operationsOf<OperationName>(V01_METHODS),
    read: {
      send,
      stream: send,
      get: readTask,
      cancel: readTaskId,
      subscribe: readTaskId,
      createPush: readPush,
      getPush: readPushId,
    },
    write: {
      send: (sent) => writeTask(taskIn(sent)),
      get: writeTask,
      cancel: writeTask,
      createPush: writeTaskPush,
      getPush: writeTaskPush,
    },
    writeItem: (item) => itemWriter()(item),
    itemsOf: (_operation, items) => itemsOf(items),
    itemWriter,
    writeError,
    writeCard,
  };
  return { rpc: sharing(dialect, V03), rest: restOf(dialect) };
}

/** 0.1, where what it has in common with 0.3 is answered in the dialect in which the task was begun. */
function sharing(old: Dialect, current: Dialect): Dialect {
  const writeEither = (task: Task): Json => {
    const { write } = isGivenTaskId(task.id) ? old : current;
    return write.get?.(task) ?? null;
  };
  return {
    ...old,
    read: { ...old.read, ...defined({ get: current.read.get }) },
    write: { ...old.write, get: writeEither, cancel: writeEither },
    itemsOf: (operation, items) => (operation === 'stream' ? itemsOf(items) : itemsOfEither(items)),
    itemWriter: (operation) => {
      const writeOld = itemWriter();
      if (operation === 'stream') return writeOld;
      return (item) => {
        if (item.kind === 'message') return current.writeItem(item);
        const taskId = item.kind === 'task' ? item.task.id : item.taskId;
        return isGivenTaskId(taskId) ? writeOld(item) : current.writeItem(item);
      };
    },
  };
}

/** A task that was begun in 0.1 is told by its changes, any other one as it is. */
async function* itemsOfEither(items: AsyncIterable<StreamItem>): AsyncGenerator<StreamItem, void> {
  for await (const item of items) {
    if (item.kind === 'task' && isGivenTaskId(item.task.id)) yield* itemsOf(alone(item));
    else yield item;
  }
}

async function* alone(item: StreamItem): AsyncGenerator<StreamItem, void> {
  yield item;
}

/** `POST /tasks/send`, `POST /tasks/{id}/send`, `GET /tasks/{id}/get`: seed 3's, and cancelling beside them. */
const restOf = (dialect: Dialect): RestBinding => ({
  dialect,
  contentType: 'application/json',
  isVersioned: false,
  routes: [
    { method: 'POST', path: '/tasks/send', operation: 'send' },
    { method: 'POST', path: '/tasks/{taskId}/send', operation: 'send' },
    { method: 'GET', path: '/tasks/{id}/get', operation: 'get', query: { historyLength: 'number' } },
    { method: 'POST', path: '/tasks/{id}/cancel', operation: 'cancel' },
  ],
  writeError: (error) => ({ status: writeError(error).httpStatus, body: failedBody(error) }),
});
