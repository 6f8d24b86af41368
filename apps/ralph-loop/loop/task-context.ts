import type { Assignee, Attempt } from './attempt.ts';
import type { Finding } from '../audit/finding.ts';
import type { LostAnswer } from './lost-answer.ts';
import type { RefusedFinding, TaskResult } from './task-result.ts';
import type { WorkItem } from './work-item.ts';

/**
 * What is known about a task while it lives, and afterwards.
 *
 * - `why`          it stands where it stands, in words.
 * - `attempts`     those that ended, oldest first.
 * - `startedAtMs`  of the attempt in hand; `answeredAtMs` when its result went to the gate.
 * - `feedback`     what the gate wants changed; goes to the agent with the next attempt.
 * - `isRevised`    the gate has sent the task back once; it does so only once.
 * - `findings`     those the gate approved, of the last result it judged.
 * - `refused`      those it refused, of every result.
 */
export interface TaskContext {
  readonly item: WorkItem;
  readonly maxAttempts: number;
  readonly why: string;
  readonly assignee: Assignee | undefined;
  readonly attempts: readonly Attempt[];
  readonly startedAtMs: number;
  readonly answeredAtMs: number | undefined;
  readonly result: TaskResult | undefined;
  readonly feedback: string | undefined;
  readonly isRevised: boolean;
  readonly findings: readonly Finding[];
  readonly refused: readonly RefusedFinding[];
}

export interface TaskInput {
  readonly item: WorkItem;
  readonly maxAttempts: number;
}

/** What the gate says about a result. */
export interface Judgement {
  readonly verdict: 'APPROVED' | 'NEEDS REVISION' | 'REJECTED';
  readonly approved: readonly Finding[];
  readonly refused: readonly RefusedFinding[];
  readonly feedback: string;
}

/** What happens to a task. `atMs` is Unix milliseconds. */
export type TaskEvent =
  | { type: 'dependencies.accepted'; why: string }
  | { type: 'dependency.lost'; why: string }
  | { type: 'agent.assigned'; to: Assignee; why: string; atMs: number }
  | { type: 'agent.missing'; why: string }
  | { type: 'assigner.lost'; why: string }
  | { type: 'agent.answered'; result: TaskResult; atMs: number }
  | { type: 'agent.misspoke'; why: string; atMs: number }
  | { type: 'agent.lost'; answer: LostAnswer; atMs: number }
  | { type: 'gate.judged'; judgement: Judgement; atMs: number }
  | { type: 'gate.lost'; why: string; atMs: number }
  | { type: 'mission.ended'; why: string; atMs: number };

export type EventOf<Type extends TaskEvent['type']> = Extract<TaskEvent, { type: Type }>;

export const newTask = ({ item, maxAttempts }: TaskInput): TaskContext => ({
  item,
  maxAttempts,
  why: item.dependsOn.length === 0 ? 'nothing stands before it' : `waits for ${item.dependsOn.join(', ')}`,
  assignee: undefined,
  attempts: [],
  startedAtMs: 0,
  answeredAtMs: undefined,
  result: undefined,
  feedback: undefined,
  isRevised: false,
  findings: [],
  refused: [],
});
