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
 * - `said`    the ids of everything that its owner has said.
 * - `begun`   what its agent had begun on, and not ended.
 * - `waiting` what nobody had begun on.
 * - `deadlineAtMs` until when what was said last is wanted.
 */
export interface LeftToDo {
  readonly said: readonly string[];
  readonly begun: OpenMessage | undefined;
  readonly waiting: readonly OpenMessage[];
  readonly deadlineAtMs: number | undefined;
}

export function leftToDo({ changes, terms = [] }: TaskWrite): LeftToDo {
  const termsOf = new Map(terms);
  const said = new Map<string, TaskMessage>();
  const waiting = new Set<string>();
  let begun: { readonly id: string; readonly number: number } | undefined;
  for (const change of changes) {
    if (change.kind === 'message') {
      said.set(change.message.messageId, change.message);
      waiting.add(change.message.messageId);
    } else if (change.kind === 'status') {
      if (change.ends !== undefined) begun = undefined;
      if (change.begins === undefined) continue;
      begun = { id: change.begins, number: change.generation };
      waiting.delete(change.begins);
    }
  }
  const open = (id: string): OpenMessage => ({
    message: said.get(id) as TaskMessage,
    terms: termsOf.get(id),
  });
  return {
    said: [...said.keys()],
    begun: begun === undefined ? undefined : { ...open(begun.id), number: begun.number },
    waiting: [...waiting].map(open),
    deadlineAtMs: termsOf.get([...said.keys()].at(-1) ?? '')?.deadlineAtMs,
  };
}
