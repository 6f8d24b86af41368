import { assign, cancel, enqueueActions, raise, setup } from 'xstate';
import { REASON } from './negotiation-message.ts';

/** What the proposer of a task learns or decides. */
export type ProposerEvent =
  /**
   * An agent takes it on; with the epoch of its assignment, it knows that it has it. `isPlain`: it does not speak this
   * protocol, so it has the task by saying so, and does not renew it.
   */
  | {
      readonly type: 'acceptance.received';
      readonly agentId: string;
      readonly epoch?: number | undefined;
      readonly isPlain?: boolean;
    }
  /** An agent does not take it, gives it back, or cannot be reached. `alternative` may be asked in its place. */
  | {
      readonly type: 'rejection.received';
      readonly agentId: string;
      readonly alternative?: string | undefined;
      readonly reason?: string;
    }
  | { readonly type: 'deadline.passed' }
  /** Whoever has it has not been heard of for so long that it has given it up by itself. */
  | { readonly type: 'lease.ended' }
  | { readonly type: 'proposer.withdraws'; readonly reason?: string }
  | { readonly type: 'proposer.releases'; readonly reason?: string };

/**
 * - `asked`   who has not answered yet.
 * - `willing` who accepted while another one was asked to confirm, in the order in which they did.
 * - `out`     who has declined, given it back, or been lost: whatever they say after that does not count.
 * - `plain`   who has accepted and does not speak this protocol.
 * - `holder`  whom it was assigned to last; `epoch` counts the assignments.
 * - `isLate`  the deadline passed while somebody was asked to confirm.
 * - `reason`  why it was withdrawn, or the assignment ended: a code.
 */
export interface ProposerContext {
  readonly asked: readonly string[];
  readonly willing: readonly string[];
  readonly out: readonly string[];
  readonly plain: readonly string[];
  readonly holder: string | undefined;
  readonly epoch: number;
  readonly isLate: boolean;
  readonly reason: string | undefined;
  readonly alternativesLeft: number;
  readonly deadlineMs: number;
  readonly leaseMs: number;
}

export type ProposerInput = Pick<ProposerContext, 'asked' | 'alternativesLeft' | 'deadlineMs' | 'leaseMs'>;

const without = (ids: readonly string[], gone: string | undefined): readonly string[] =>
  ids.filter((id) => id !== gone);

const agentOf = (event: ProposerEvent): string | undefined =>
  'agentId' in event ? event.agentId : undefined;

const isPlainIn = (event: ProposerEvent): boolean => 'isPlain' in event && event.isPlain === true;

/** The agents that do not speak this protocol, after what has just been accepted. */
function plainAfter({ plain }: ProposerContext, event: ProposerEvent): readonly string[] {
  const agentId = agentOf(event) ?? '';
  if (plain.includes(agentId) === isPlainIn(event)) return plain;
  return isPlainIn(event) ? [...plain, agentId] : without(plain, agentId);
}

const alternativeOf = (event: ProposerEvent): string | undefined =>
  'alternative' in event ? event.alternative : undefined;

/**
 * One proposal at its proposer: it alone says who has the task.
 *
 * The first acceptance is answered with an assignment; the proposal is accepted when the agent has confirmed that. Until
 * then whoever accepts too waits behind it, and takes its place when it turns out not to have it. A lease makes sure of
 * that: an agent that has the task gives it up when it has heard nothing for so long, counted from before the proposer
 * begins to count; so when the lease ends here, it has ended there.
 */
export const proposerMachine = setup({
  types: {
    context: {} as ProposerContext,
    events: {} as ProposerEvent,
    input: {} as ProposerInput,
  },
  delays: {
    deadlineMs: ({ context }) => context.deadlineMs,
    leaseMs: ({ context }) => context.leaseMs,
  },
  guards: {
    isAskedAndPlain: ({ context, event }) => isPlainIn(event) && context.asked.includes(agentOf(event) ?? ''),
    isAsked: ({ context, event }) => context.asked.includes(agentOf(event) ?? ''),
    isAskedInTime: ({ context, event }) => !context.isLate && context.asked.includes(agentOf(event) ?? ''),
    isWilling: ({ context, event }) => context.willing.includes(agentOf(event) ?? ''),
    isInPlay: ({ context, event }) => [...context.asked, ...context.willing].includes(agentOf(event) ?? ''),
    hasAlternative: ({ context, event }) =>
      context.alternativesLeft > 0 &&
      alternativeOf(event) !== undefined &&
      context.asked.includes(agentOf(event) ?? ''),
    isLastAsked: ({ context, event }) => context.asked.length === 1 && context.asked[0] === agentOf(event),
    isHolder: ({ context, event }) => context.holder === agentOf(event),
    isConfirmation: ({ context, event }) =>
      context.holder === agentOf(event) &&
      (isPlainIn(event) || ('epoch' in event && event.epoch === context.epoch)),
    isHolderAndNextIsPlain: ({ context, event }) =>
      context.holder === agentOf(event) && context.plain.includes(context.willing[0] ?? ''),
    isHolderAndNextWaits: ({ context, event }) =>
      context.holder === agentOf(event) && context.willing.length > 0,
    isHolderAndLate: ({ context, event }) => context.holder === agentOf(event) && context.isLate,
    isHolderAndLast: ({ context, event }) => context.holder === agentOf(event) && context.asked.length === 0,
    nextIsPlain: ({ context }) => context.plain.includes(context.willing[0] ?? ''),
    nextWaits: ({ context }) => context.willing.length > 0,
    isLate: ({ context }) => context.isLate,
    isLast: ({ context }) => context.asked.length === 0,
  },
  actions: {
    armDeadline: raise({ type: 'deadline.passed' }, { delay: 'deadlineMs', id: 'deadline' }),
    cancelDeadline: cancel('deadline'),
    /** Whoever does not speak this protocol does not renew. */
    armLease: enqueueActions(({ context, enqueue }) => {
      if (context.plain.includes(context.holder ?? '')) return;
      enqueue.raise({ type: 'lease.ended' }, { delay: 'leaseMs', id: 'lease' });
    }),
    cancelLease: cancel('lease'),
    choose: assign(({ context, event }) => ({
      holder: agentOf(event),
      epoch: context.epoch + 1,
      asked: without(context.asked, agentOf(event)),
      plain: plainAfter(context, event),
    })),
    chooseNext: assign(({ context }) => ({
      holder: context.willing[0],
      epoch: context.epoch + 1,
      willing: context.willing.slice(1),
    })),
    dropHolder: assign(({ context }) => ({
      holder: undefined,
      out: context.holder === undefined ? context.out : [...context.out, context.holder],
    })),
    noteWilling: assign(({ context, event }) => ({
      asked: without(context.asked, agentOf(event)),
      willing: [...context.willing, agentOf(event) ?? ''],
      plain: plainAfter(context, event),
    })),
    noteManner: assign(({ context, event }) => ({ plain: plainAfter(context, event) })),
    noteReason: assign(({ event }) => ({ reason: 'reason' in event ? event.reason : REASON.lapsed })),
    noteOut: assign(({ context, event }) => ({
      asked: without(context.asked, agentOf(event)),
      willing: without(context.willing, agentOf(event)),
      out: [...context.out, agentOf(event) ?? ''],
    })),
    noteAlternative: assign(({ context, event }) => ({
      asked: [...context.asked, alternativeOf(event) ?? ''],
      alternativesLeft: context.alternativesLeft - 1,
    })),
    noteLate: assign({ isLate: true }),
    noteRefused: assign(({ context }) => ({
      asked: [],
      willing: [],
      out: [...context.out, ...context.asked, ...context.willing],
    })),
    /** Sends the proposal to whom it is for. */
    askEverybody: () => undefined,
    askAlternative: () => undefined,
    /** Tells the holder that it has the task, and for how long. */
    tellHolder: () => undefined,
    /** Tells whoever has not declined that it does not get it. */
    refuseOthers: () => undefined,
    /** Tells whoever has just accepted the same. */
    refuseSender: () => undefined,
    /** Tells the holder that it has the task no more. */
    refuseHolder: () => undefined,
  },
}).createMachine({
  id: 'proposer',
  context: ({ input }) => ({
    ...input,
    willing: [],
    out: [],
    plain: [],
    holder: undefined,
    epoch: 0,
    isLate: false,
    reason: undefined,
  }),
  initial: 'pending',
  states: {
    pending: {
      entry: ['armDeadline', 'askEverybody'],
      exit: 'cancelDeadline',
      initial: 'open',
      on: {
        'proposer.withdraws': {
          target: 'withdrawn',
          actions: ['noteReason', 'refuseHolder', 'refuseOthers', 'noteRefused'],
        },
      },
      states: {
        open: {
          on: {
            'acceptance.received': [
              {
                guard: 'isAskedAndPlain',
                target: '#proposer.assigned',
                actions: ['choose', 'tellHolder'],
              },
              { guard: 'isAsked', target: 'confirming', actions: 'choose' },
              { actions: 'refuseSender' },
            ],
            'rejection.received': [
              { guard: 'hasAlternative', actions: ['noteOut', 'noteAlternative', 'askAlternative'] },
              { guard: 'isLastAsked', target: '#proposer.rejected', actions: 'noteOut' },
              { guard: 'isAsked', actions: 'noteOut' },
            ],
            'deadline.passed': '#proposer.timedOut',
          },
        },
        confirming: {
          entry: ['tellHolder', 'armLease'],
          exit: 'cancelLease',
          on: {
            'acceptance.received': [
              { guard: 'isConfirmation', target: '#proposer.assigned', actions: 'noteManner' },
              { guard: 'isHolder', actions: ['tellHolder', 'cancelLease', 'armLease'] },
              { guard: 'isAskedInTime', actions: 'noteWilling' },
              // It says so again because it has not been answered: it waits on.
              { guard: 'isWilling' },
              { actions: 'refuseSender' },
            ],
            'rejection.received': [
              {
                guard: 'isHolderAndNextIsPlain',
                target: '#proposer.assigned',
                actions: ['dropHolder', 'chooseNext', 'tellHolder'],
              },
              {
                guard: 'isHolderAndNextWaits',
                target: 'confirming',
                reenter: true,
                actions: ['dropHolder', 'chooseNext'],
              },
              { guard: 'isHolderAndLate', target: '#proposer.timedOut', actions: 'dropHolder' },
              { guard: 'isHolderAndLast', target: '#proposer.rejected', actions: 'dropHolder' },
              { guard: 'isHolder', target: 'open', actions: 'dropHolder' },
              { guard: 'isInPlay', actions: 'noteOut' },
            ],
            'lease.ended': [
              {
                guard: 'nextIsPlain',
                target: '#proposer.assigned',
                actions: ['dropHolder', 'chooseNext', 'tellHolder'],
              },
              {
                guard: 'nextWaits',
                target: 'confirming',
                reenter: true,
                actions: ['dropHolder', 'chooseNext'],
              },
              { guard: 'isLate', target: '#proposer.timedOut', actions: 'dropHolder' },
              { guard: 'isLast', target: '#proposer.rejected', actions: 'dropHolder' },
              { target: 'open', actions: 'dropHolder' },
            ],
            'deadline.passed': { actions: 'noteLate' },
          },
        },
      },
    },
    assigned: {
      entry: ['refuseOthers', 'noteRefused', 'armLease'],
      exit: 'cancelLease',
      on: {
        'acceptance.received': [
          { guard: 'isHolder', actions: ['tellHolder', 'cancelLease', 'armLease'] },
          { actions: 'refuseSender' },
        ],
        'rejection.received': { guard: 'isHolder', target: 'givenBack', actions: 'noteReason' },
        'lease.ended': { target: 'lapsed', actions: 'noteReason' },
        'proposer.releases': { target: 'released', actions: ['noteReason', 'refuseHolder'] },
      },
    },
    rejected: { type: 'final' },
    timedOut: { type: 'final', entry: ['refuseOthers', 'noteRefused'] },
    withdrawn: { type: 'final' },
    /** The holder has ended the assignment. */
    givenBack: { type: 'final' },
    /** The proposer has. */
    released: { type: 'final' },
    lapsed: { type: 'final' },
  },
});
