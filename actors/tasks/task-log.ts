import { z } from 'zod';
import { JsonValue } from '../../runtime/protocol/json-value.ts';
import { Task, type TaskChange, type TaskMessage } from '../../runtime/protocol/task.ts';
import { TaskOwner, TaskTerms } from '../../runtime/protocol/task-service.ts';

/**
 * What a task begins with.
 *
 * - `key`     under which it is kept: no other task has it, whoever's it is.
 * - `agentId` who works at it.
 */
export const TaskOpening = Task.pick({ id: true, contextId: true, createdAtMs: true, metadata: true }).extend(
  {
    key: z.string().min(1),
    owner: TaskOwner,
    agentId: z.string().min(1),
  },
);
export type TaskOpening = z.infer<typeof TaskOpening>;

/** What JSON can say. */
export const Json = JsonValue;
export type Json = JsonValue;

/** A message, and the terms that it has: in a list, because anything may be a message's id. */
export const MessageTerms = z.tuple([z.string(), TaskTerms]).readonly();
export type MessageTerms = z.infer<typeof MessageTerms>;

/**
 * What is kept of a task in one step: all of it or nothing.
 *
 * - `changes` that follow those before.
 * - `terms`   of the messages among them that have terms of their own.
 * - `memo`    what whoever works at it remembers from now on; left out: what it did before.
 */
export interface TaskWrite {
  readonly changes: readonly TaskChange[];
  readonly terms?: readonly MessageTerms[];
  readonly memo?: Json;
}

/** A task with all that was kept of it; the changes oldest first. */
export interface LoggedTask extends TaskWrite {
  readonly opening: TaskOpening;
}

/**
 * Where an engine keeps its tasks, so that another one, after a restart, goes on with them. Nobody learns of a change before
 * it is kept. What is called first is kept first: a crash never leaves the second without it.
 *
 * - `open`   resolves when the task and its first changes survive.
 * - `append` resolves when this survives, after all before it.
 * - `forget` forgets a task and its changes.
 * - `load`   all that was kept.
 */
export interface TaskLog {
  open(opening: TaskOpening, write: TaskWrite): Promise<void> | void;
  append(key: string, write: TaskWrite): Promise<void> | void;
  forget(key: string): Promise<void> | void;
  load(): AsyncIterable<LoggedTask> | Iterable<LoggedTask>;
}

/** A log that lasts as long as the process: what the engine itself holds is enough. */
export class InMemoryTaskLog implements TaskLog {
  open(): void {}
  append(): void {}
  forget(): void {}
  load(): Iterable<LoggedTask> {
    return [];
  }
}

/** A message that is to be worked at, under these terms. `number`: of the turn that had begun on it. */
export interface OpenMessage {
  readonly message: TaskMessage;
  readonly terms: TaskTerms | undefined;
  readonly number?: number;
}

/**
 * What is left to do of a task that was written.
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
  /** Terms of messages with the same id, in their order. */
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
