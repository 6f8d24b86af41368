import type { TaskMessage } from '../../runtime/protocol/task.ts';
import type { TaskTerms } from '../../runtime/protocol/task-service.ts';
import type { TaskWrite } from './task-log.ts';

/** A message that is to be worked at, under these terms. `number`: of the turn that was begun on it. */
export interface OpenMessage {
  readonly message: TaskMessage;
  readonly terms: TaskTerms | undefined;
  readonly number?: number;
}

/**
 * What is left to do of a task that was kept.
 *
 * - `said`    everything that its owner has said, in order.
 * - `begun`   what its agent had begun on, and not ended.
 * - `waiting` what nobody had begun on.
 * - `deadlineAtMs` until when what was said last is wanted.
 */
export interface LeftToDo {
  readonly said: readonly TaskMessage[];
  readonly begun: OpenMessage | undefined;
  readonly waiting: readonly OpenMessage[];
  readonly deadlineAtMs: number | undefined;
}

export function leftToDo({ changes, terms = [] }: TaskWrite): LeftToDo {
  const termsOf = new Map(
    [...Map.groupBy(terms, ([id]) => id)].map(([id, all]) => [id, all.map(([, one]) => one)]),
  );
  /** Of messages with the same id each has its own. */
  const takeTerms = (id: string): TaskTerms | undefined => {
    const all = termsOf.get(id) ?? [];
    return all.length > 1 ? all.shift() : all[0];
  };
  const said: OpenMessage[] = [];
  const waiting: OpenMessage[] = [];
  let begun: OpenMessage | undefined;
  for (const change of changes) {
    if (change.kind === 'message') {
      const { message } = change;
      const open = { message, terms: takeTerms(message.messageId) };
      said.push(open);
      waiting.push(open);
    } else if (change.kind === 'status') {
      if (change.ends !== undefined) begun = undefined;
      if (change.begins === undefined) continue;
      const at = waiting.findIndex(({ message }) => message.messageId === change.begins);
      if (at < 0) continue;
      const [open] = waiting.splice(at, 1) as [OpenMessage];
      begun = { ...open, number: change.generation };
    }
  }
  return {
    said: said.map(({ message }) => message),
    begun,
    waiting,
    deadlineAtMs: said.at(-1)?.terms?.deadlineAtMs,
  };
}
