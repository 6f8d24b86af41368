import { isTaskInterrupted, isTaskOver, type Task, type TaskChange } from '../../../runtime/protocol/task.ts';
import type { TaskOwner, TaskService } from '../../../runtime/protocol/task-service.ts';
import { abortsWith } from './exchange.ts';
import type { StreamItem } from './operations.ts';

/** Whose task is streamed, and until when: `signal` ends the stream wherever it is. */
export interface StreamScope {
  readonly tasks: TaskService;
  readonly owner: TaskOwner;
  readonly signal: AbortSignal;
}

type ChangeItem = Extract<StreamItem, { kind: 'change' }>;

/**
 * What a message leads to: the task as it is, then each change as it is kept, until the task is over, or waits for its
 * owner and has done with the message.
 */
export async function* streamOfMessage(
  scope: StreamScope,
  task: Task,
  messageId: string,
): AsyncGenerator<StreamItem, void> {
  const isEnd = isTaskOver(task.status.state);
  yield { kind: 'task', task, isLast: isEnd };
  if (isEnd) return;
  const { signal, close } = abortsWith(scope.signal);
  const changes = changesAfter({ ...scope, signal }, task, task.generation);
  try {
    let { state } = task.status;
    let { generation } = task;
    for (;;) {
      const next = changes.next();
      // A message that was answered before, and is sent again, has no end of its own.
      if (isTaskInterrupted(state) && (await isIdle(scope, task.id, generation, next))) return;
      const taken = await next;
      if (taken.done === true) return;
      const { change } = taken.value;
      const isLast = isLastFor(change, messageId);
      yield { ...taken.value, isLast };
      if (isLast) return;
      if (change.kind === 'status') ({ state } = change);
      ({ generation } = change);
    }
  } finally {
    // Else whoever waits for the next change would be waited for.
    close();
    await changes.return();
  }
}

/**
 * A task for whoever comes back to it: the task as it is and what follows; with `after` only what follows that change. Ends
 * when the task is over.
 */
export async function* streamOfTask(
  scope: StreamScope,
  task: Task,
  after: number | undefined,
): AsyncGenerator<StreamItem, void> {
  if (after === undefined) yield { kind: 'task', task, isLast: false };
  yield* changesAfter(scope, task, after ?? task.generation);
}

/** Without what the owner said: that is theirs already. */
async function* changesAfter(
  { tasks, owner, signal }: StreamScope,
  { id, contextId }: Task,
  after: number,
): AsyncGenerator<ChangeItem, void> {
  for await (const change of tasks.changes(owner, id, { after, signal })) {
    if (change.kind === 'message') continue;
    const isLast = change.kind === 'status' && isTaskOver(change.state);
    yield { kind: 'change', taskId: id, contextId, change, isLast };
  }
}

const isLastFor = (change: TaskChange, messageId: string): boolean =>
  change.kind === 'status' &&
  (isTaskOver(change.state) || (isTaskInterrupted(change.state) && change.ends === messageId));

/** Nobody is at the task, and nothing has changed since it had so many changes. `next`: when something does. */
async function isIdle(
  { tasks, owner, signal }: StreamScope,
  taskId: string,
  generation: number,
  next: Promise<unknown>,
): Promise<boolean> {
  const waiting = abortsWith(signal);
  try {
    const idle = tasks.whenIdle(owner, taskId, waiting.signal);
    const first = await Promise.race([idle, next.then(() => undefined)]);
    return first?.generation === generation;
  } finally {
    waiting.close();
  }
}
