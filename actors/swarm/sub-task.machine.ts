import { assign, cancel, raise, setup } from 'xstate';
import type { AssignmentEnd, SwarmFault } from './swarm-session.ts';

/** Under which assignment somebody reports. */
export interface Reporter {
  readonly agentId: string;
  readonly epoch: number;
}

/** What happens to a sub-task. Times are Unix milliseconds. */
export type SubTaskEvent =
  | { readonly type: 'agent.assigned'; readonly agentId: string; readonly atMs: number }
  /** It is on its way to its agent: from now on the lease runs. */
  | { readonly type: 'assignment.handedOver'; readonly atMs: number }
  /** Its agent gave a sign of life. */
  | ({ readonly type: 'agent.heard'; readonly atMs: number } & Reporter)
  | ({ readonly type: 'result.reported'; readonly result: unknown } & Reporter)
  /** Its agent failed it, or lost it on the way. */
  | ({
      readonly type: 'failure.reported';
      readonly end: AssignmentEnd;
      readonly error: SwarmFault;
    } & Reporter)
  /** Its agent has left, or nobody can hear of it any more. */
  | { readonly type: 'assignment.revoked'; readonly end: AssignmentEnd }
  | { readonly type: 'lease.ended'; readonly dueAtMs: number }
  /** The coordinator itself stood still, so that a sign of life may lie unread. */
  | { readonly type: 'lease.unheard' }
  /** The agent stalled. */
  | { readonly type: 'lease.over' }
  /** Nobody is going to do it any more. */
  | { readonly type: 'subTask.givenUp'; readonly error: SwarmFault }
  | { readonly type: 'swarm.ended'; readonly error: SwarmFault };

/**
 * - `agentId`   who has it, or has completed it; '' while nobody does.
 * - `epoch`     of the latest assignment; 0 before the first.
 * - `heardAtMs` when its agent was last heard of.
 */
export interface SubTaskContext extends Reporter {
  readonly heardAtMs: number;
  readonly leaseMs: number;
}

/** What a sub-task begins with. */
export type SubTaskInput = Pick<SubTaskContext, 'leaseMs'>;

/**
 * How late a lease may be judged before that says more about the coordinator's thread than about the agent; and for how long
 * it holds on then. A part of the lease.
 */
export const MAX_LATENESS = 0.25;

/**
 * The life of a sub-task (F-02, F-11): it waits for an agent, which keeps it while it shows progress; what it reports counts
 * under the assignment that stands, and under no other. What a state does not list, or a guard refuses, changes nothing: it
 * is late.
 */
export const subTaskMachine = setup({
  types: {
    context: {} as SubTaskContext,
    events: {} as SubTaskEvent,
    input: {} as SubTaskInput,
  },
  guards: {
    isOfAssignment: ({ context, event }) =>
      'epoch' in event && event.agentId === context.agentId && event.epoch === context.epoch,
  },
  delays: {
    leaseMs: ({ context }) => context.leaseMs,
    unheardMs: ({ context }) => context.leaseMs * MAX_LATENESS,
  },
  actions: {
    nextEpoch: assign(({ context, event }) =>
      event.type === 'agent.assigned'
        ? { agentId: event.agentId, epoch: context.epoch + 1, heardAtMs: event.atMs }
        : context,
    ),
    noteHeard: assign(({ context, event }) =>
      event.type === 'agent.heard' || event.type === 'assignment.handedOver'
        ? { heardAtMs: event.atMs }
        : context,
    ),
    clearAgent: assign({ agentId: '' }),
    armLease: raise(
      ({ context }) => ({ type: 'lease.ended' as const, dueAtMs: context.heardAtMs + context.leaseMs }),
      { delay: 'leaseMs', id: 'lease' },
    ),
    armUnheard: raise({ type: 'lease.ended', dueAtMs: 0 }, { delay: 'unheardMs', id: 'lease' }),
    cancelLease: cancel('lease'),
    /** Records the assignment that begins. */
    begin: () => undefined,
    /** Says whether the lease is over, or its timer was late. */
    judgeLease: () => undefined,
    /** Records the result. */
    complete: () => undefined,
    /** Ends the assignment, and tells its agent. */
    takeBack: () => undefined,
    /** Records why it failed for good. */
    giveUp: () => undefined,
  },
}).createMachine({
  id: 'subTask',
  context: ({ input: { leaseMs } }) => ({ agentId: '', epoch: 0, heardAtMs: 0, leaseMs }),
  initial: 'pending',
  states: {
    pending: {
      on: {
        'agent.assigned': { target: 'running', actions: ['nextEpoch', 'begin'] },
        'subTask.givenUp': { target: 'failed', actions: 'giveUp' },
        'swarm.ended': { target: 'failed', actions: 'giveUp' },
      },
    },
    running: {
      initial: 'decided',
      exit: 'cancelLease',
      on: {
        'assignment.handedOver': { target: '.leased', actions: 'noteHeard' },
        'result.reported': { guard: 'isOfAssignment', target: 'completed', actions: 'complete' },
        'failure.reported': {
          guard: 'isOfAssignment',
          target: 'pending',
          actions: ['clearAgent', 'takeBack'],
        },
        'assignment.revoked': { target: 'pending', actions: ['clearAgent', 'takeBack'] },
        'swarm.ended': { target: 'failed', actions: ['clearAgent', 'giveUp'] },
      },
      states: {
        /** It waits until the store has it. */
        decided: {},
        leased: {
          entry: ['cancelLease', 'armLease'],
          on: {
            'agent.heard': { guard: 'isOfAssignment', actions: ['noteHeard', 'cancelLease', 'armLease'] },
            'lease.ended': { actions: 'judgeLease' },
            'lease.unheard': 'unheard',
            'lease.over': { target: '#subTask.pending', actions: ['clearAgent', 'takeBack'] },
          },
        },
        /** It holds once more, for as long as it takes to read what has come meanwhile. */
        unheard: {
          entry: ['cancelLease', 'armUnheard'],
          on: {
            'agent.heard': { guard: 'isOfAssignment', target: 'leased', actions: 'noteHeard' },
            'lease.ended': { target: '#subTask.pending', actions: ['clearAgent', 'takeBack'] },
          },
        },
      },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
  },
});
