export {
  Artifact,
  isTaskInterrupted,
  isTaskOver,
  Part,
  TASK_STATES,
  Task,
  TaskChange,
  TaskMessage,
  TaskState,
  TaskStatus,
} from '../../runtime/protocol/task.ts';
export type { TaskPage, TaskQuery } from './task-book.ts';
export { type Said, TaskEngine, type TaskEngineOptions, type TaskLimits } from './task-engine.ts';
export { InMemoryTaskLog, type LoggedTask, type TaskLog, TaskOpening, TaskOwner } from './task-log.ts';
export type { ViewOptions } from './task-view.ts';
export type { RunTurn, Turn, TurnOutcome } from './turn.ts';
