import type { TaskChange, TaskMessage } from '../../runtime/protocol/task.ts';

/**
 * What the changes of a task say that is left to do.
 *
 * - `said`    the ids of everything that its owner has said.
 * - `begun`   what its agent had begun on, and not ended.
 * - `waiting` what nobody had begun on.
 */
export interface LeftToDo {
  readonly said: readonly string[];
  readonly begun: TaskMessage | undefined;
  readonly waiting: readonly TaskMessage[];
}

export function leftToDo(changes: readonly TaskChange[]): LeftToDo {
  const said = new Map<string, TaskMessage>();
  const waiting = new Set<string>();
  let begun: string | undefined;
  for (const change of changes) {
    if (change.kind === 'message') {
      said.set(change.message.messageId, change.message);
      waiting.add(change.message.messageId);
    } else if (change.kind === 'status') {
      if (change.ends !== undefined) begun = undefined;
      if (change.begins === undefined) continue;
      begun = change.begins;
      waiting.delete(begun);
    }
  }
  return {
    said: [...said.keys()],
    begun: begun === undefined ? undefined : said.get(begun),
    waiting: [...waiting].map((messageId) => said.get(messageId) as TaskMessage),
  };
}
