import { assertEvent, assign, fromCallback, setup } from 'xstate';
import type { Assignee } from './attempt.ts';
import { newTask, type TaskContext, type TaskEvent, type TaskInput } from './task-context.ts';
import { hasAttemptsLeft, learn } from './task-moves.ts';
import type { TaskResult } from './task-result.ts';
import type { WorkItem } from './work-item.ts';

/** What an agent is asked. */
export interface WorkOrder {
  readonly item: WorkItem;
  readonly to: Assignee;
  readonly feedback: string | undefined;
}

/** What the gate is asked. */
export interface JudgeOrder {
  readonly item: WorkItem;
  readonly result: TaskResult;
}

/** Both are used only in states that are entered with an assignee, and with a result. */
const workOrder = ({ context: { item, assignee, feedback } }: { context: TaskContext }): WorkOrder => ({
  item,
  to: assignee as Assignee,
  feedback,
});
const judgeOrder = ({ context: { item, result } }: { context: TaskContext }): JudgeOrder => ({
  item,
  result: result as TaskResult,
});

/**
 * The life of one task: given to an agent, judged by the gate, sent back once, begun again after a death.
 *
 * `askAgent` and `askGate` are to be provided; they answer with events (`agent.answered`, `gate.judged`, ...)
 * and stop what they began when their state is left.
 */
export const taskMachine = setup({
  types: {
    context: {} as TaskContext,
    events: {} as TaskEvent,
    input: {} as TaskInput,
  },
  actors: {
    askAgent: fromCallback<TaskEvent, WorkOrder>(() => undefined),
    askGate: fromCallback<TaskEvent, JudgeOrder>(() => undefined),
  },
  guards: {
    hasAttemptsLeft: ({ context }) => hasAttemptsLeft(context),
    mayRevise: ({ context }) => !context.isRevised && hasAttemptsLeft(context),
    isRevised: ({ context }) => context.isRevised,
    isApproved: ({ event }) => {
      assertEvent(event, 'gate.judged');
      return event.judgement.verdict === 'APPROVED';
    },
    isLasting: ({ event }) => {
      assertEvent(event, 'agent.lost');
      return event.answer.isLasting;
    },
  },
  actions: {
    learn: assign(({ context, event }) => learn(context, event)),
  },
}).createMachine({
  id: 'task',
  context: ({ input }) => newTask(input),
  initial: 'waiting',
  states: {
    waiting: {
      on: {
        'dependencies.accepted': { target: 'ready', actions: 'learn' },
        'dependency.lost': { target: 'blocked', actions: 'learn' },
        'mission.ended': { target: 'cancelled', actions: 'learn' },
      },
    },
    ready: {
      on: {
        'agent.assigned': { target: 'working', actions: 'learn' },
        'agent.missing': { target: 'escalated', actions: 'learn' },
        'assigner.lost': { target: 'blocked', actions: 'learn' },
        'mission.ended': { target: 'cancelled', actions: 'learn' },
      },
    },
    working: {
      invoke: { src: 'askAgent', input: workOrder },
      on: {
        'agent.answered': { target: 'judging', actions: 'learn' },
        'agent.misspoke': [
          { guard: 'mayRevise', target: 'working', reenter: true, actions: 'learn' },
          { guard: 'isRevised', target: 'failed', actions: 'learn' },
          { target: 'exhausted', actions: 'learn' },
        ],
        'agent.lost': [
          { guard: 'isLasting', target: 'failed', actions: 'learn' },
          { guard: 'hasAttemptsLeft', target: 'ready', actions: 'learn' },
          { target: 'exhausted', actions: 'learn' },
        ],
        'mission.ended': { target: 'cancelled', actions: 'learn' },
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
        'mission.ended': { target: 'cancelled', actions: 'learn' },
      },
    },
    accepted: { type: 'final' },
    failed: { type: 'final' },
    exhausted: { type: 'final' },
    blocked: { type: 'final' },
    escalated: { type: 'final' },
    cancelled: { type: 'final' },
  },
});
