import { assign, cancel, raise, setup } from 'xstate';

/** What an agent that was asked to take a task on decides or learns. */
export type ResponderEvent =
  | { readonly type: 'agent.accepts' }
  | { readonly type: 'agent.declines' }
  /** It gives the task back, done or not, or takes its acceptance back. */
  | { readonly type: 'agent.releases' }
  /** It has the task for `leaseLeftMs` from now. */
  | { readonly type: 'assignment.received'; readonly epoch: number; readonly leaseLeftMs: number }
  /** It does not get the task, or has it no more. */
  | { readonly type: 'refusal.received' }
  | { readonly type: 'deadline.passed' }
  | { readonly type: 'answer.late' }
  | { readonly type: 'offer.ended' }
  | { readonly type: 'renewal.due' }
  | { readonly type: 'lease.ended' };

/**
 * - `holdMs`      how long an acceptance is kept up that nobody answers.
 * - `repeatMs`    after how long it is said again.
 * - `leaseLeftMs` of the last assignment, from when it came.
 */
export interface ResponderContext {
  readonly deadlineMs: number;
  readonly holdMs: number;
  readonly repeatMs: number;
  readonly epoch: number | undefined;
  readonly leaseLeftMs: number;
}

export type ResponderInput = Pick<ResponderContext, 'deadlineMs' | 'holdMs' | 'repeatMs'>;

/** A lease is renewed so often before it ends. */
const RENEWALS = 3;

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
  context: ({ input }) => ({ ...input, epoch: undefined, leaseLeftMs: 0 }),
  initial: 'considering',
  states: {
    considering: {
      entry: 'armDeadline',
      exit: 'cancelDeadline',
      on: {
        'agent.accepts': 'offered',
        'agent.declines': { target: 'declined', actions: 'tellRejected' },
        'refusal.received': 'refused',
        'deadline.passed': 'expired',
      },
    },
    offered: {
      entry: ['tellAccepted', 'armOffer', 'armRepeat'],
      exit: ['cancelOffer', 'cancelRepeat'],
      on: {
        'assignment.received': { target: 'assigned', actions: 'keepAssignment' },
        'refusal.received': 'refused',
        'answer.late': { actions: ['tellAccepted', 'armRepeat'] },
        'offer.ended': { target: 'expired', actions: 'tellRejected' },
        'agent.releases': { target: 'declined', actions: 'tellRejected' },
      },
    },
    assigned: {
      entry: ['tellAccepted', 'armLease', 'armRenewal'],
      exit: ['cancelLease', 'cancelRenewal'],
      on: {
        'assignment.received': { actions: ['keepAssignment', 'cancelLease', 'armLease'] },
        'renewal.due': { actions: ['tellAccepted', 'armRenewal'] },
        'lease.ended': { target: 'lapsed', actions: 'tellRejected' },
        'refusal.received': 'takenBack',
        'agent.releases': { target: 'givenBack', actions: 'tellRejected' },
      },
    },
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
