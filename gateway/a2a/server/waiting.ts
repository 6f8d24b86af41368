import type { Clock } from '../../../runtime/protocol/seams.ts';
import { isTaskOver, type Task } from '../../../runtime/protocol/task.ts';
import type { TaskOwner, TaskService } from '../../../runtime/protocol/task-service.ts';

/** Whose task is waited for, and how long at most: for ever without `waitMs` or a clock. */
export interface Waiting {
  readonly tasks: TaskService;
  readonly owner: TaskOwner;
  readonly clock: Clock | undefined;
  readonly waitMs: number | undefined;
  readonly signal: AbortSignal;
}

/** The task when it is over, or waits for its owner; or as it stands when nobody waits any longer. */
export const whenIdle = (waiting: Waiting, { id }: Task): Promise<Task> =>
  patiently(waiting, (signal) => waiting.tasks.whenIdle(waiting.owner, id, signal));

/** Resolves when the task has had a change after number `after`, is over, or nobody waits any longer. */
export async function whenBeyond(waiting: Waiting, task: Task, after: number): Promise<void> {
  if (task.generation > after || isTaskOver(task.status.state)) return;
  await patiently(waiting, async (signal) => {
    const changes = waiting.tasks.changes(waiting.owner, task.id, { after, signal });
    await changes.next();
    await changes.return();
  });
}

/** Waits by a signal that aborts when the caller has gone, and when it has waited long enough. */
async function patiently<Result>(
  { clock, waitMs, signal }: Waiting,
  wait: (signal: AbortSignal) => Promise<Result>,
): Promise<Result> {
  if (waitMs === undefined || clock === undefined) return wait(signal);
  const patience = new AbortController();
  const giveUp = (): void => patience.abort();
  if (signal.aborted) giveUp();
  const cancelTimer = clock.setTimer(waitMs, giveUp);
  signal.addEventListener('abort', giveUp, { once: true });
  try {
    return await wait(patience.signal);
  } finally {
    cancelTimer();
    signal.removeEventListener('abort', giveUp);
  }
}
