import { setup } from 'xstate';

/** What happens to a swarm. */
export type SwarmLifeEvent =
  /** Every sub-task has somebody who is willing to do it. */
  | { readonly type: 'team.formed' }
  /** The answers are in, or the time for them is over, and some sub-task has nobody. */
  | { readonly type: 'team.missing' }
  | { readonly type: 'subTasks.completed' }
  /** Some sub-tasks failed for good, and nothing else is left to be done. */
  | { readonly type: 'subTasks.failed' }
  | { readonly type: 'outcome.reported' }
  | { readonly type: 'deadline.passed' }
  | { readonly type: 'swarm.cancelled' };

/** What ends a swarm whose work is not done. */
const whileAtWork = { 'deadline.passed': 'failed', 'swarm.cancelled': 'failed' } as const;

/**
 * The life of a swarm (seed 1).
 *
 * Agents join and leave while it is `recruiting` or `active`; what stands in the way of neither is that some sub-tasks are
 * completed already. `completing` begins when all of them are. What a state does not list changes nothing: a report about
 * work that is over is late, not wrong.
 */
export const swarmMachine = setup({
  types: {
    events: {} as SwarmLifeEvent,
  },
  actions: {
    /** Keeps the status, and tells whoever listens. */
    keepStatus: () => undefined,
    /** Proposes to every agent that could do a part of it. */
    invite: () => undefined,
    /** Assigns what is ready, and finds what nobody is left for. */
    dispatch: () => undefined,
    /** Puts the results together. */
    aggregate: () => undefined,
    /** Says that the outcome stands. */
    report: () => undefined,
    /** Tells the owner and the participants how it ended. */
    tellOutcome: () => undefined,
    /** Tells the owner what there is, and what is missing and why. */
    escalate: () => undefined,
    /** Lets go of timers. */
    release: () => undefined,
  },
}).createMachine({
  id: 'swarm',
  initial: 'recruiting',
  states: {
    recruiting: {
      entry: 'invite',
      on: { ...whileAtWork, 'team.formed': 'active', 'team.missing': 'failed' },
    },
    active: {
      entry: ['keepStatus', 'dispatch'],
      on: { ...whileAtWork, 'subTasks.completed': 'completing', 'subTasks.failed': 'failed' },
    },
    completing: {
      entry: ['keepStatus', 'aggregate', 'report'],
      on: { 'outcome.reported': 'completed' },
    },
    completed: { entry: ['keepStatus', 'release', 'tellOutcome'], type: 'final' },
    failed: { entry: ['keepStatus', 'escalate', 'release'], type: 'final' },
  },
});
