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
export {
  type MessageAnswer,
  type Said,
  type TaskNews,
  TaskOwner,
  type TaskPage,
  type TaskQuery,
  type TaskService,
  TaskTerms,
  type ViewOptions,
} from '../../runtime/protocol/task-service.ts';
export {
  type ApprovalAsker,
  ApprovalDecision,
  ApprovalRequest,
  type Approver,
} from '../../runtime/protocol/approval.ts';
export { Attestation, type FirewallGuard } from '../../runtime/protocol/firewall.ts';
export type { ClientInput } from '../../runtime/protocol/client-input.ts';
export type { NoteFailure } from '../../runtime/protocol/told-failure.ts';
export { approvalOf } from './approvals.ts';
export { approveWith } from './approvals.ts';
export {
  type Answered,
  type Answers,
  canGive,
  clientInputs,
  link,
  question,
  roots,
  sample,
  type Wanted,
} from './client-inputs.ts';
export { openSystemTasks, type SystemTasksOptions } from './system-tasks.ts';
export {
  type AnsweredMessage,
  type AskedMessage,
  TaskEngine,
  type TaskEngineOptions,
} from './task-engine.ts';
export type { TaskLimits } from './task-engine.ts';
export {
  InMemoryTaskLog,
  type Json,
  type LoggedTask,
  type TaskLog,
  TaskOpening,
  type TaskWrite,
} from './task-log.ts';
export { type AgentTask, type NewArtifact, taskOf } from './task-of.ts';
export { authRequired, inputRequired, rejected } from './turn-pause.ts';
export type { RunTurn, Turn, TurnOutcome } from './task-turns.ts';
