import { isTaskOver, type TaskState } from '../../../runtime/protocol/task.ts';
import type { TaskNews, TaskService } from '../../../runtime/protocol/task-service.ts';

type Heard = () => void;

/** Who wants to hear of which task, over one listener for all of them, which is there while anybody does. */
export class TaskWatch {
  readonly #tasks: Pick<TaskService, 'onChange'>;
  readonly #watchers = new Map<string, Set<Heard>>();
  #stop: (() => void) | undefined;

  constructor(tasks: Pick<TaskService, 'onChange'>) {
    this.#tasks = tasks;
  }

  /** Calls `heard` whenever a task stands otherwise, until it is over, or the returned function is called. */
  watch(taskId: string, heard: Heard): () => void {
    const watchers = this.#watchers.get(taskId) ?? new Set();
    this.#watchers.set(taskId, watchers);
    // The same function may watch twice.
    const own: Heard = () => heard();
    watchers.add(own);
    this.#stop ??= this.#tasks.onChange((news) => this.#hear(news));
    return () => {
      watchers.delete(own);
      if (watchers.size === 0 && this.#watchers.get(taskId) === watchers) this.#forget(taskId);
    };
  }

  #hear({ taskId, changes }: TaskNews): void {
    const watchers = this.#watchers.get(taskId);
    if (watchers === undefined) return;
    const states: TaskState[] = changes.flatMap((change) => (change.kind === 'status' ? [change.state] : []));
    if (states.length === 0) return;
    if (states.some(isTaskOver)) this.#forget(taskId);
    for (const heard of [...watchers]) heard();
  }

  #forget(taskId: string): void {
    this.#watchers.delete(taskId);
    if (this.#watchers.size > 0) return;
    this.#stop?.();
    this.#stop = undefined;
  }
}
