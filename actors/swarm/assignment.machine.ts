import { cancel, raise, setup } from 'xstate';

/** What happens to an assignment that an agent has. */
export type AssignmentEvent =
  /** It is not the agent's any more. */
  | { readonly type: 'assignment.withdrawn' }
  /** The agent has answered, whatever that was. */
  | { readonly type: 'agent.answered' }
  | { readonly type: 'grace.ended' }
  | { readonly type: 'assignment.cancelled'; readonly reason: string }
  /** It was reported on in another way, or its coordinator is gone. */
  | { readonly type: 'assignment.released' };

/** `graceMs`: how long an agent is listened to whose assignment was withdrawn. */
export interface AssignmentContext {
  readonly graceMs: number;
}

/**
 * How long an agent is listened to about one assignment. It may be withdrawn and another agent have the sub-task; what the
 * former one still says is late, and known, until it is made to stop.
 */
export const assignmentMachine = setup({
  types: {
    context: {} as AssignmentContext,
    events: {} as AssignmentEvent,
    input: {} as AssignmentContext,
  },
  delays: { graceMs: ({ context }) => context.graceMs },
  actions: {
    armGrace: raise({ type: 'grace.ended' }, { delay: 'graceMs', id: 'grace' }),
    cancelGrace: cancel('grace'),
    /** It does not count as the agent's load any more. */
    unload: () => undefined,
    /** Cancels what the agent is at. */
    cancelWork: () => undefined,
    /** Listens no longer, and lets the agent go on. */
    stopListening: () => undefined,
    /** The agent has room for something else. */
    free: () => undefined,
  },
}).createMachine({
  id: 'assignment',
  context: ({ input }) => input,
  initial: 'active',
  states: {
    active: {
      on: {
        'assignment.withdrawn': 'withdrawn',
        'agent.answered': { target: 'over', actions: 'unload' },
        'assignment.cancelled': { target: 'over', actions: ['unload', 'cancelWork'] },
        'assignment.released': { target: 'over', actions: ['unload', 'stopListening'] },
      },
    },
    withdrawn: {
      entry: 'armGrace',
      exit: 'cancelGrace',
      on: {
        'agent.answered': { target: 'over', actions: 'unload' },
        'grace.ended': { target: 'over', actions: ['unload', 'cancelWork', 'free'] },
        'assignment.cancelled': { target: 'over', actions: ['unload', 'cancelWork'] },
        'assignment.released': { target: 'over', actions: ['unload', 'stopListening'] },
      },
    },
    over: { type: 'final' },
  },
});
