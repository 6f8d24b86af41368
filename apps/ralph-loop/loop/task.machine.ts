import { assertEvent, assign, fromCallback, setup } from 'xstate';
import type { Assignee, Attempt } from './attempt.ts';
import { type Declined, newTask, type TaskContext, type TaskEvent, type TaskInput } from './task-context.ts';
import { attemptOf, hadNothing, hasAttemptsLeft, learn, MAX_RESTS } from './task-moves.ts';
import type { TaskResult } from './task-result.ts';
import type { WorkItem } from './work-item.ts';
import type { Taint } from './work-taint.ts';

/**
 * A request to an agent. With `swarmId` the swarm makes it. `taint` is of what the task's agents have said before; `attempt`
 * counts from 1. `rests`: how often it has rested.
 */
export interface WorkOrder {
  readonly item: WorkItem;
  readonly attempt: number;
  readonly to: Assignee;
  readonly feedback: string | undefined;
  readonly swarmId: string | undefined;
  readonly rests: number;
  readonly taint: Taint | undefined;
}

/** A proposal of a task to an agent. */
export interface ProposalOrder {
  readonly item: WorkItem;
  readonly to: Assignee;
}

/** A request to the gate. */
export interface JudgeOrder {
  readonly item: WorkItem;
  readonly result: TaskResult;
  readonly taint: Taint | undefined;
}

/** A change that is to be checked, or merged. */
export interface ChangeOrder {
  readonly item: WorkItem;
}

/** A request to the assigner about a task that no agent is left for. */
export interface RecoveryOrder {
  readonly item: WorkItem;
  readonly declined: readonly Declined[];
  readonly attempts: readonly Attempt[];
  readonly isRecovered: boolean;
  readonly why: string;
}

const recoveryOrder = ({
  context: { item, declined, attempts, isRecovered, why },
}: {
  context: TaskContext;
}): RecoveryOrder => ({ item, declined, attempts, isRecovered, why });

/** The input of `propose`. Like those below, it is used only in states where its fields are set. */
const proposalOrder = ({ context: { item, proposedTo } }: { context: TaskContext }): ProposalOrder => ({
  item,
  to: proposedTo as Assignee,
});
const workOrder = ({
  context,
  context: { item, assignee, feedback, swarm, attempts, proposalId, taint, rests },
}: {
  context: TaskContext;
}): WorkOrder => ({
  item,
  attempt: attemptOf(context),
  to: assignee as Assignee,
  feedback,
  rests,
  swarmId: attempts.length === 0 && proposalId === undefined ? swarm?.id : undefined,
  taint,
});
const judgeOrder = ({ context: { item, result, taint } }: { context: TaskContext }): JudgeOrder => ({
  item,
  result: result as TaskResult,
  taint,
});

/** A change that is to be reviewed. - `attempt` from 1. - `taint` of what its agents have said. */
export interface ReviewOrder extends ChangeOrder {
  readonly attempt: number;
  readonly taint: Taint | undefined;
}

const reviewOrder = ({ context }: { context: TaskContext }): ReviewOrder => ({
  item: context.item,
  attempt: attemptOf(context),
  taint: context.taint,
});

/** A task whose agent takes no more work for now. - `untilMs` Unix milliseconds. */
export interface RestOrder {
  readonly untilMs: number;
}

const restOrder = ({ context: { restsUntilMs } }: { context: TaskContext }): RestOrder => ({
  untilMs: restsUntilMs ?? 0,
});

const changeOrder = ({ context: { item } }: { context: TaskContext }): ChangeOrder => ({ item });

/**
 * The machine of a task. The task is proposed to an agent, worked on, judged by the gate, and sent back once. A
 * change of the repository is checked by gates instead, and merged; it is sent back as long as it has attempts. After a death it
 * is started again, and when its agent takes no more work for now it rests, which costs no attempt. When no agent is left it is
 * taken to the assigner.
 *
 * The actors must be provided. They answer with events (`proposal.accepted`, `agent.answered`, `gate.judged`, ...) and stop
 * when their state is left. `release` ends the assignee's proposal.
 */
export const taskMachine = setup({
  types: {
    context: {} as TaskContext,
    events: {} as TaskEvent,
    input: {} as TaskInput,
  },
  actors: {
    propose: fromCallback<TaskEvent, ProposalOrder>(() => undefined),
    askRecovery: fromCallback<TaskEvent, RecoveryOrder>(() => undefined),
    askAgent: fromCallback<TaskEvent, WorkOrder>(() => undefined),
    askGate: fromCallback<TaskEvent, JudgeOrder>(() => undefined),
    checkChange: fromCallback<TaskEvent, ChangeOrder>(() => undefined),
    reviewChange: fromCallback<TaskEvent, ReviewOrder>(() => undefined),
    rest: fromCallback<TaskEvent, RestOrder>(() => undefined),
    mergeChange: fromCallback<TaskEvent, ChangeOrder>(() => undefined),
  },
  guards: {
    hasAttemptsLeft: ({ context }) => hasAttemptsLeft(context),
    mayRevise: ({ context }) => !context.isRevised && hasAttemptsLeft(context),
    isRevised: ({ context }) => context.isRevised,
    changesCode: ({ context }) => context.item.code !== undefined,
    hasPassed: ({ event }) => {
      assertEvent(event, 'change.checked');
      return event.verdict.isAccepted;
    },
    isMerged: ({ event }) => {
      assertEvent(event, 'change.merged');
      return event.merged.kind === 'merged' || event.merged.kind === 'empty';
    },
    isToBeReviewed: ({ context, event }) => {
      assertEvent(event, 'change.checked');
      return event.verdict.isAccepted && (context.item.code?.reviewers.length ?? 0) > 0;
    },
    isUnvetoed: ({ event }) => {
      assertEvent(event, 'change.reviewed');
      return event.vetoes.length === 0;
    },
    isUnvetoedAndHeld: ({ context, event }) => {
      assertEvent(event, 'change.reviewed');
      return event.vetoes.length === 0 && context.item.code?.approve === true;
    },
    isHeld: ({ context, event }) => {
      assertEvent(event, 'change.checked');
      return event.verdict.isAccepted && context.item.code?.approve === true;
    },
    isSecondConflict: ({ context, event }) => {
      assertEvent(event, 'change.merged');
      return event.merged.kind === 'conflict' && context.isRequeued;
    },
    hadNothing: ({ event }) => {
      assertEvent(event, ['agent.answered', 'work.remembered']);
      const result = event.type === 'agent.answered' ? event.result : event.context.result;
      return result !== undefined && hadNothing(result);
    },
    isApproved: ({ event }) => {
      assertEvent(event, 'gate.judged');
      return event.judgement.verdict === 'APPROVED';
    },
    /** What a run before has left has no agent to be sent back to. */
    mayStartAgain: ({ context }) => context.assignee === undefined && hasAttemptsLeft(context),
    isStuck: ({ event }) => {
      assertEvent(event, 'change.checked');
      return event.verdict.isStuck === true;
    },
    isKept: ({ context }) => context.kept !== undefined,
    mayRest: ({ context, event }) => {
      assertEvent(event, 'agent.lost');
      return event.answer.code === 'RATE_LIMITED' && context.rests < MAX_RESTS;
    },
    mayHandOver: ({ context, event }) => {
      assertEvent(event, 'agent.lost');
      return event.answer.code === 'RATE_LIMITED' && context.rests < MAX_RESTS && event.other !== undefined;
    },
    isLasting: ({ event }) => {
      assertEvent(event, 'agent.lost');
      return event.answer.isLasting;
    },
  },
  actions: {
    learn: assign(({ context, event }) => learn(context, event)),
    release: () => undefined,
  },
}).createMachine({
  id: 'missionTask',
  context: ({ input }) => newTask(input),
  initial: 'waiting',
  on: {
    'mission.ended': { target: '.cancelled', actions: 'learn' },
    'task.skipped': { target: '.cancelled', actions: 'learn' },
  },
  states: {
    waiting: {
      on: {
        'work.remembered': [
          { guard: 'hadNothing', target: 'nothing', actions: 'learn' },
          { target: 'accepted', actions: 'learn' },
        ],
        'change.remembered': { target: 'accepted', actions: 'learn' },
        'change.kept': { actions: 'learn' },
        'dependencies.accepted': [
          { guard: 'isKept', target: 'checking', actions: 'learn' },
          { target: 'ready', actions: 'learn' },
        ],
        'dependency.lost': { target: 'blocked', actions: 'learn' },
      },
    },
    ready: {
      on: {
        'agent.assigned': { target: 'proposed', actions: 'learn' },
        'swarm.formed': { target: 'working', actions: 'learn' },
        'agent.missing': { target: 'recovering', actions: 'learn' },
        'assigner.lost': { target: 'blocked', actions: 'learn' },
      },
    },
    proposed: {
      invoke: { src: 'propose', input: proposalOrder },
      on: {
        'proposal.accepted': { target: 'working', actions: 'learn' },
        'proposal.declined': { target: 'ready', actions: 'learn' },
      },
    },
    recovering: {
      invoke: { src: 'askRecovery', input: recoveryOrder },
      on: {
        'agent.found': { target: 'ready', actions: 'learn' },
        'human.needed': { target: 'escalated', actions: 'learn' },
      },
    },
    working: {
      invoke: { src: 'askAgent', input: workOrder },
      on: {
        'swarm.moved': { actions: 'learn' },
        'work.tainted': { actions: 'learn' },
        'work.used': { actions: 'learn' },
        'agent.answered': [
          { guard: 'changesCode', target: 'checking', actions: 'learn' },
          { guard: 'hadNothing', target: 'nothing', actions: 'learn' },
          { target: 'judging', actions: 'learn' },
        ],
        'answer.invalid': [
          { guard: 'mayRevise', target: 'working', reenter: true, actions: 'learn' },
          { guard: 'isRevised', target: 'failed', actions: 'learn' },
          { target: 'exhausted', actions: 'learn' },
        ],
        'agent.lost': [
          { guard: 'mayHandOver', target: 'ready', actions: ['release', 'learn'] },
          { guard: 'mayRest', target: 'resting', actions: ['release', 'learn'] },
          { guard: 'isLasting', target: 'failed', actions: 'learn' },
          { guard: 'hasAttemptsLeft', target: 'ready', actions: ['release', 'learn'] },
          { target: 'exhausted', actions: 'learn' },
        ],
      },
    },
    judging: {
      invoke: { src: 'askGate', input: judgeOrder },
      on: {
        'gate.judged': [
          { guard: 'isApproved', target: 'accepted', actions: 'learn' },
          { guard: 'mayRevise', target: 'working', actions: 'learn' },
          { guard: 'isRevised', target: 'failed', actions: 'learn' },
          { target: 'exhausted', actions: 'learn' },
        ],
        'gate.lost': { target: 'blocked', actions: 'learn' },
      },
    },
    checking: {
      invoke: { src: 'checkChange', input: changeOrder },
      on: {
        'change.checked': [
          { guard: 'isToBeReviewed', target: 'reviewing', actions: 'learn' },
          { guard: 'isHeld', target: 'held', actions: 'learn' },
          { guard: 'hasPassed', target: 'merging', actions: 'learn' },
          { guard: 'isStuck', target: 'exhausted', actions: 'learn' },
          { guard: 'mayStartAgain', target: 'ready', actions: 'learn' },
          { guard: 'hasAttemptsLeft', target: 'working', actions: 'learn' },
          { target: 'exhausted', actions: 'learn' },
        ],
        'change.lost': { target: 'blocked', actions: 'learn' },
      },
    },
    reviewing: {
      invoke: { src: 'reviewChange', input: reviewOrder },
      on: {
        'change.reviewed': [
          { guard: 'isUnvetoedAndHeld', target: 'held', actions: 'learn' },
          { guard: 'isUnvetoed', target: 'merging', actions: 'learn' },
          { guard: 'mayStartAgain', target: 'ready', actions: 'learn' },
          { guard: 'hasAttemptsLeft', target: 'working', actions: 'learn' },
          { target: 'exhausted', actions: 'learn' },
        ],
        'change.lost': { target: 'blocked', actions: 'learn' },
      },
    },
    held: {
      on: {
        'change.approved': { target: 'merging', actions: 'learn' },
      },
    },
    resting: {
      invoke: { src: 'rest', input: restOrder },
      on: {
        'rest.over': { target: 'ready', actions: 'learn' },
      },
    },
    merging: {
      invoke: { src: 'mergeChange', input: changeOrder },
      on: {
        'change.merged': [
          { guard: 'isMerged', target: 'accepted', actions: 'learn' },
          { guard: 'isSecondConflict', target: 'escalated', actions: 'learn' },
          { guard: 'mayStartAgain', target: 'ready', actions: 'learn' },
          { guard: 'hasAttemptsLeft', target: 'working', actions: 'learn' },
          { target: 'exhausted', actions: 'learn' },
        ],
        'change.lost': { target: 'blocked', actions: 'learn' },
      },
    },
    accepted: { type: 'final', entry: 'release' },
    nothing: { type: 'final', entry: 'release' },
    failed: { type: 'final', entry: 'release' },
    exhausted: { type: 'final', entry: 'release' },
    blocked: { type: 'final', entry: 'release' },
    escalated: { type: 'final', entry: 'release' },
    cancelled: { type: 'final', entry: 'release' },
  },
});
