import type { CodingUsage } from 'orrery/coding';
import type { CodeVerdict, MergeVerdict } from '../code/code-verdict.ts';
import type { GateReceipt } from '../gates/gate-receipt.ts';
import type { Assignee, Attempt } from './attempt.ts';
import type { Finding, RefusedFinding } from '../findings/finding.ts';
import type { Answered, Choice, Chosen } from './choice.ts';
import type { LostAnswer } from './lost-answer.ts';
import type { SwarmPart } from './swarm-part.ts';
import type { TaskResult } from './task-result.ts';
import type { WorkItem } from './work-item.ts';
import type { Taint } from './work-taint.ts';

/**
 * The context of a task's machine.
 *
 * - `why`          a sentence about its status.
 * - `attempts`     those that have ended, oldest first.
 * - `proposedTo`   agent that the assigner has named.
 * - `choices`      how agents were chosen for it, oldest first.
 * - `assignee`     agent that has it, or had it last.
 * - `proposalId`   proposal that the assignee accepted.
 * - `swarm`        swarm that it was given to; this is tried once.
 * - `declined`     agents that have declined it since its last recovery, and why.
 * - `isRecovered`  the assigner was asked once when no agent was left; it is not asked again.
 * - `startedAtMs`  of the current attempt; `answeredAtMs` when its result went to the gate. Unix milliseconds.
 * - `feedback`     what the gate wants changed, for the next attempt.
 * - `isRevised`    it was sent back once; that happens only once.
 * - `findings`     those that the gate approved, of the last judged result.
 * - `refused`      those that the gate refused, of all results.
 * - `unjudged`     those of the last result, if the gate could not judge it.
 * - `taint`        where what its agents said came from outside.
 * - `isRequeued`   it met a conflict once and was begun anew; the second one is for a human.
 * - `used`         by the attempt under way, as far as its agent tells.
 * - `kept`         number of the attempt that a run before has left, and this one goes on with.
 * - `rests`        how often its agent took no more work; `restsUntilMs` how long it does, Unix milliseconds.
 * - `receipts`     of the gates of its last attempt, in the worktree and then on the merged files.
 * - `commit`       by which its change is on the branch.
 */
export interface TaskContext {
  readonly item: WorkItem;
  readonly maxAttempts: number;
  readonly why: string;
  readonly assignee: Assignee | undefined;
  readonly proposedTo: Assignee | undefined;
  readonly choices: readonly Choice[];
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
  readonly taint: Taint | undefined;
  readonly isRequeued: boolean;
  readonly used: CodingUsage | undefined;
  readonly kept: number | undefined;
  readonly rests: number;
  readonly restsUntilMs: number | undefined;
  readonly receipts: readonly GateReceipt[];
  readonly commit: string | undefined;
}

/** The part of a task that is stored. The mission file has the rest. What was stored before choices were kept has none. */
export type JournalledTask = Omit<TaskContext, 'item' | 'choices'> & Partial<Pick<TaskContext, 'choices'>>;

/** A reviewer that has vetoed a change, and why. */
export interface Veto {
  readonly agent: string;
  readonly reason: string;
}

/** An agent that has declined a task, with the reason code. */
export interface Declined {
  readonly agent: string;
  readonly reason: string;
}

export interface TaskInput {
  readonly item: WorkItem;
  readonly maxAttempts: number;
}

/** The gate's judgement of a result. */
export interface Judgement {
  readonly verdict: 'APPROVED' | 'NEEDS REVISION' | 'REJECTED';
  readonly approved: readonly Finding[];
  readonly refused: readonly RefusedFinding[];
  readonly feedback: string;
}

/** The events of a task's machine. `atMs` is Unix milliseconds. `other`: an agent that could do it instead. */
export type TaskEvent =
  | { type: 'work.remembered'; context: JournalledTask }
  | { type: 'dependencies.accepted'; why: string }
  | { type: 'dependency.lost'; why: string }
  | { type: 'agent.assigned'; to: Assignee; choice?: Chosen; why: string; atMs: number }
  | {
      type: 'proposal.accepted';
      by: Assignee;
      proposalId: string;
      answers?: readonly Answered[];
      why: string;
      atMs: number;
    }
  | { type: 'proposal.declined'; by: readonly Declined[]; answers?: readonly Answered[]; why: string }
  | { type: 'swarm.formed'; swarmId: string; why: string; atMs: number }
  | { type: 'swarm.moved'; part: SwarmPart; assignee: Assignee | undefined }
  | { type: 'agent.missing'; why: string }
  | { type: 'agent.found'; why: string }
  | { type: 'human.needed'; why: string }
  | { type: 'assigner.lost'; why: string }
  | { type: 'work.tainted'; taint: Taint }
  | { type: 'work.used'; usage: CodingUsage }
  | { type: 'agent.answered'; result: TaskResult; atMs: number }
  | { type: 'answer.invalid'; why: string; atMs: number }
  | { type: 'agent.lost'; answer: LostAnswer; atMs: number; other?: string | undefined }
  | { type: 'gate.judged'; judgement: Judgement; atMs: number }
  | { type: 'gate.lost'; why: string; atMs: number }
  | { type: 'change.checked'; verdict: CodeVerdict; atMs: number }
  | { type: 'change.merged'; merged: MergeVerdict; atMs: number }
  | { type: 'change.remembered'; commit: string }
  | { type: 'change.kept'; attempt: number }
  | { type: 'change.reviewed'; vetoes: readonly Veto[]; atMs: number }
  | { type: 'change.approved'; why: string }
  | { type: 'rest.over'; why: string }
  | { type: 'task.skipped'; why: string; atMs: number }
  | { type: 'change.lost'; why: string; atMs: number }
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
  choices: [],
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
  taint: undefined,
  isRequeued: false,
  used: undefined,
  kept: undefined,
  rests: 0,
  restsUntilMs: undefined,
  receipts: [],
  commit: undefined,
});
