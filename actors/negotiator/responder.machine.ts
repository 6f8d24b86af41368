import { assign, cancel, raise, setup } from 'xstate';
import { MAX_TIMER_MS } from '../../runtime/protocol/milliseconds.ts';
import { REASON } from './negotiation-message.ts';

/** What an agent that was asked to take a task on decides or learns. */
export type ResponderEvent =
  /** It takes it on, and thinks that the work will take so long. */
  | { readonly type: 'agent.accepts'; readonly estimateMs: number }
  /** It has it, and thinks now that the work will take so long from now. */
  | { readonly type: 'estimate.changed'; readonly estimateMs: number }
  | { readonly type: 'agent.declines'; readonly reason?: string; readonly alternative?: string | undefined }
  /** It gives the task back, done or not, or takes its acceptance back. */
  | { readonly type: 'agent.releases'; readonly reason?: string; readonly alternative?: string | undefined }
  /** It has the task for `leaseLeftMs` from now. */
  | { readonly type: 'assignment.received'; readonly epoch: number; readonly leaseLeftMs: number }
  /** It does not get the task, or has it no more. */
  | { readonly type: 'refusal.received'; readonly reason?: string }
  | { readonly type: 'deadline.passed' }
  | { readonly type: 'answer.late' }
  | { readonly type: 'offer.ended' }
  | { readonly type: 'renewal.due' }
  | { readonly type: 'lease.ended' }
  /** It takes far longer than was estimated. */
  | { readonly type: 'work.overdue' };

/**
 * - `holdMs`      how long an acceptance is kept up that nobody answers.
 * - `repeatMs`    after how long it is said again.
 * - `isPlain`     its proposer does not speak this protocol: who accepts, has it.
 * - `leaseLeftMs` of the last assignment, from when it came.
 * - `estimateMs`  how long the work will take, as the agent has said last.
 * - `reason`      why it is over, a code; `alternative` is another agent that might take it.
 */
export interface ResponderContext {
  readonly deadlineMs: number;
  readonly holdMs: number;
  readonly repeatMs: number;
  readonly isPlain: boolean;
  readonly epoch: number | undefined;
  readonly leaseLeftMs: number;
  readonly estimateMs: number | undefined;
  readonly reason: string | undefined;
  readonly alternative: string | undefined;
}

export type ResponderInput = Pick<ResponderContext, 'deadlineMs' | 'holdMs' | 'repeatMs' | 'isPlain'>;

/** A lease is renewed so often before it ends. */
const RENEWALS = 3;
/** An assignment is given back when it takes this many times as long as was estimated, */
const OVERDUE_TIMES = 2;
/** and this long on top. */
const OVERDUE_MS = 60_000;

/** How long an agent may have a task that it thinks will take it so long. */
export const overdueAfterMs = (estimateMs: number): number =>
  Math.min(estimateMs * OVERDUE_TIMES + OVERDUE_MS, MAX_TIMER_MS);

function reasonIn(event: ResponderEvent): Pick<ResponderContext, 'reason' | 'alternative'> {
  const alternative = 'alternative' in event ? event.alternative : undefined;
  if ('reason' in event) return { reason: event.reason, alternative };
  return { reason: REASONS[event.type], alternative };
}

/** Why a proposal is over that nobody has ended. */
const REASONS: Partial<Record<ResponderEvent['type'], string>> = {
  'deadline.passed': REASON.timedOut,
  'offer.ended': REASON.unanswered,
  'lease.ended': REASON.lapsed,
  'work.overdue': REASON.overdue,
};

/**
 * One proposal at an agent that was asked.
 *
 * To accept is an offer: the agent has the task when the proposer says so, and for as long as it goes on saying so. An
 * agent that hears no more of the proposer ends what it has by itself, so nobody believes for ever that it has a task
 * that is another's by now.
 */
export const responderMachine = setup({
  types: {
    context: {} as ResponderContext,
    events: {} as ResponderEvent,
    input: {} as ResponderInput,
  },
  delays: {
    deadlineMs: ({ context }) => context.deadlineMs,
    holdMs: ({ context }) => context.holdMs,
    repeatMs: ({ context }) => context.repeatMs,
    leaseLeftMs: ({ context }) => context.leaseLeftMs,
    renewMs: ({ context }) => context.leaseLeftMs / RENEWALS,
    overdueMs: ({ context }) => overdueAfterMs(context.estimateMs ?? 0),
  },
  guards: {
    isPlain: ({ context }) => context.isPlain,
  },
  actions: {
    armDeadline: raise({ type: 'deadline.passed' }, { delay: 'deadlineMs', id: 'deadline' }),
    cancelDeadline: cancel('deadline'),
    armOffer: raise({ type: 'offer.ended' }, { delay: 'holdMs', id: 'offer' }),
    cancelOffer: cancel('offer'),
    armRepeat: raise({ type: 'answer.late' }, { delay: 'repeatMs', id: 'repeat' }),
    cancelRepeat: cancel('repeat'),
    armLease: raise({ type: 'lease.ended' }, { delay: 'leaseLeftMs', id: 'lease' }),
    cancelLease: cancel('lease'),
    armRenewal: raise({ type: 'renewal.due' }, { delay: 'renewMs', id: 'renewal' }),
    cancelRenewal: cancel('renewal'),
    armOverdue: raise({ type: 'work.overdue' }, { delay: 'overdueMs', id: 'overdue' }),
    cancelOverdue: cancel('overdue'),
    noteEstimate: assign(({ context, event }) =>
      'estimateMs' in event ? { estimateMs: event.estimateMs } : context,
    ),
    noteReason: assign(({ event }) => reasonIn(event)),
    keepAssignment: assign(({ context, event }) =>
      event.type === 'assignment.received' ? { epoch: event.epoch, leaseLeftMs: event.leaseLeftMs } : context,
    ),
    /** Says to the proposer that the agent takes the task on or, with an epoch, that it has it and wants it still. */
    tellAccepted: () => undefined,
    /** Says that it does not, or no more. */
    tellRejected: () => undefined,
  },
}).createMachine({
  id: 'responder',
  context: ({ input }) => ({
    ...input,
    epoch: undefined,
    leaseLeftMs: 0,
    estimateMs: undefined,
    reason: undefined,
    alternative: undefined,
  }),
  initial: 'considering',
  states: {
    considering: {
      entry: 'armDeadline',
      exit: 'cancelDeadline',
      on: {
        'agent.accepts': [
          { guard: 'isPlain', target: 'taken', actions: ['noteEstimate', 'tellAccepted'] },
          { target: 'offered', actions: 'noteEstimate' },
        ],
        'agent.declines': { target: 'declined', actions: ['noteReason', 'tellRejected'] },
        'refusal.received': { target: 'refused', actions: 'noteReason' },
        'deadline.passed': { target: 'expired', actions: 'noteReason' },
      },
    },
    offered: {
      entry: ['tellAccepted', 'armOffer', 'armRepeat'],
      exit: ['cancelOffer', 'cancelRepeat'],
      on: {
        'assignment.received': { target: 'assigned', actions: 'keepAssignment' },
        'refusal.received': { target: 'refused', actions: 'noteReason' },
        'answer.late': { actions: ['tellAccepted', 'armRepeat'] },
        'offer.ended': { target: 'expired', actions: ['noteReason', 'tellRejected'] },
        'agent.releases': { target: 'declined', actions: ['noteReason', 'tellRejected'] },
      },
    },
    assigned: {
      entry: ['tellAccepted', 'armLease', 'armRenewal', 'armOverdue'],
      exit: ['cancelLease', 'cancelRenewal', 'cancelOverdue'],
      on: {
        'assignment.received': { actions: ['keepAssignment', 'cancelLease', 'armLease'] },
        'renewal.due': { actions: ['tellAccepted', 'armRenewal'] },
        'estimate.changed': { actions: ['noteEstimate', 'cancelOverdue', 'armOverdue'] },
        'work.overdue': { target: 'givenBack', actions: ['noteReason', 'tellRejected'] },
        'lease.ended': { target: 'lapsed', actions: ['noteReason', 'tellRejected'] },
        'refusal.received': { target: 'takenBack', actions: 'noteReason' },
        'agent.releases': { target: 'givenBack', actions: ['noteReason', 'tellRejected'] },
      },
    },
    /** Its proposer does not speak this protocol: it has it, and nothing more is said. */
    taken: { type: 'final' },
    declined: { type: 'final' },
    /** It never had it. */
    refused: { type: 'final' },
    expired: { type: 'final' },
    /** It had it. */
    givenBack: { type: 'final' },
    takenBack: { type: 'final' },
    lapsed: { type: 'final' },
  },
});
