import type { Assignee, Attempt } from './attempt.ts';
import type { Finding, RefusedFinding } from '../findings/finding.ts';
import type { LostAnswer } from './lost-answer.ts';
import type { SwarmPart } from './swarm-part.ts';
import type { TaskResult } from './task-result.ts';
import type { WorkItem } from './work-item.ts';

/**
 * What is known about a task while it lives, and afterwards.
 *
 * - `why`          it stands where it stands, in words.
 * - `attempts`     those that ended, oldest first.
 * - `proposedTo`   whom the assigner named for it.
 * - `assignee`     who has it, or had it last.
 * - `proposalId`   under which the assignee took it on.
 * - `swarm`        which swarm it was handed to, and what became of it there; that is done once.
 * - `declined`     the agents that did not take it on since it was last recovered, and why.
 * - `isRecovered`  the assigner found somebody once after nobody was left; it is asked to only once.
 * - `startedAtMs`  of the attempt in hand; `answeredAtMs` when its result went to the gate.
 * - `feedback`     what the gate wants changed; goes to the agent with the next attempt.
 * - `isRevised`    the gate has sent the task back once; it does so only once.
 * - `findings`     those the gate approved, of the last result it judged.
 * - `refused`      those it refused, of every result.
 * - `unjudged`     those of the last result, when the gate could not say anything about them any more.
 */
export interface TaskContext {
  readonly item: WorkItem;
  readonly maxAttempts: number;
  readonly why: string;
  readonly assignee: Assignee | undefined;
  readonly proposedTo: Assignee | undefined;
  readonly proposalId: string | undefined;
  readonly swarm: SwarmPart | undefined;
  readonly declined: readonly Declined[];
  readonly isRecovered: boolean;
  readonly attempts: readonly Attempt[];
  readonly startedAtMs: number;
  readonly answeredAtMs: number | undefined;
  readonly result: TaskResult | undefined;
  readonly feedback: string | undefined;
  readonly isRevised: boolean;
  readonly findings: readonly Finding[];
  readonly refused: readonly RefusedFinding[];
  readonly unjudged: readonly Finding[];
}

/** What outlives the process: what the mission file says is not in it, which a run after this one reads again. */
export type JournalledTask = Omit<TaskContext, 'item'>;

/** An agent that did not take a task on, with the reason code of its answer. */
export interface Declined {
  readonly agent: string;
  readonly reason: string;
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
  | { type: 'work.remembered'; context: JournalledTask }
  | { type: 'dependencies.accepted'; why: string }
  | { type: 'dependency.lost'; why: string }
  | { type: 'agent.assigned'; to: Assignee; why: string; atMs: number }
  | { type: 'proposal.accepted'; by: Assignee; proposalId: string; why: string; atMs: number }
  | { type: 'proposal.declined'; by: readonly Declined[]; why: string }
  | { type: 'swarm.formed'; swarmId: string; why: string; atMs: number }
  | { type: 'swarm.moved'; part: SwarmPart; assignee: Assignee | undefined }
  | { type: 'agent.missing'; why: string }
  | { type: 'agent.found'; why: string }
  | { type: 'human.needed'; why: string }
  | { type: 'assigner.lost'; why: string }
  | { type: 'agent.answered'; result: TaskResult; atMs: number }
  | { type: 'agent.misspoke'; why: string; atMs: number }
  | { type: 'agent.lost'; answer: LostAnswer; atMs: number }
  | { type: 'gate.judged'; judgement: Judgement; atMs: number }
  | { type: 'gate.lost'; why: string; atMs: number }
  | { type: 'mission.ended'; why: string; atMs: number };

export type EventOf<Type extends TaskEvent['type']> = Extract<TaskEvent, { type: Type }>;

const whatItWaitsFor = ({ dependsOn, after }: WorkItem): string =>
  dependsOn.length + after.length === 0
    ? 'nothing stands before it'
    : `waits for ${[...dependsOn, ...after].join(', ')}`;

export const newTask = ({ item, maxAttempts }: TaskInput): TaskContext => ({
  item,
  maxAttempts,
  why: whatItWaitsFor(item),
  assignee: undefined,
  proposedTo: undefined,
  proposalId: undefined,
  swarm: undefined,
  declined: [],
  isRecovered: false,
  attempts: [],
  startedAtMs: 0,
  answeredAtMs: undefined,
  result: undefined,
  feedback: undefined,
  isRevised: false,
  findings: [],
  refused: [],
  unjudged: [],
});
