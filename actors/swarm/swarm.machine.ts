import { cancel, enqueueActions, raise, setup } from 'xstate';
import type { SwarmFault } from './swarm-session.ts';

/** What happens to a swarm. */
export type SwarmLifeEvent =
  /** A coordinator goes on with it that did not begin it. */
  | { readonly type: 'swarm.resumed' }
  /** Something is known by which somebody may get something to do, or nobody is left to wait for. */
  | { readonly type: 'swarm.changed' }
  /** The time for answers is over. */
  | { readonly type: 'recruiting.ended' }
  /** Every sub-task has somebody who is willing to do it. */
  | { readonly type: 'team.formed' }
  /** Some sub-task has nobody. */
  | { readonly type: 'team.missing'; readonly error?: SwarmFault | undefined }
  | { readonly type: 'subTasks.completed' }
  /** Some sub-tasks failed for good, and nothing else is left to be done. */
  | { readonly type: 'subTasks.failed'; readonly error?: SwarmFault | undefined }
  | { readonly type: 'outcome.reported' }
  | { readonly type: 'deadline.passed' }
  | { readonly type: 'swarm.cancelled'; readonly error: SwarmFault };

/** `timeoutMs`: how long it may take at most, if there is a limit. */
export interface SwarmContext {
  readonly recruitMs: number;
  readonly timeoutMs?: number | undefined;
}

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
    context: {} as SwarmContext,
    events: {} as SwarmLifeEvent,
    input: {} as SwarmContext,
  },
  delays: {
    recruitMs: ({ context }) => context.recruitMs,
    timeoutMs: ({ context }) => context.timeoutMs ?? 0,
  },
  actions: {
    /** Whoever has no limit has no deadline. */
    armDeadline: enqueueActions(({ context, enqueue }) => {
      if (context.timeoutMs === undefined) return;
      enqueue.raise({ type: 'deadline.passed' }, { delay: 'timeoutMs', id: 'deadline' });
    }),
    armRecruiting: raise({ type: 'recruiting.ended' }, { delay: 'recruitMs', id: 'recruiting' }),
    cancelRecruiting: cancel('recruiting'),
    /** Records the status, and tells whoever watches. */
    recordStatus: () => undefined,
    /** Proposes to every agent that could do a part of it. */
    invite: () => undefined,
    /** Says whether the team stands, or that it never will. */
    formTeam: () => undefined,
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
  },
}).createMachine({
  id: 'swarm',
  context: ({ input }) => input,
  entry: 'armDeadline',
  initial: 'recruiting',
  states: {
    recruiting: {
      entry: ['armRecruiting', 'invite'],
      exit: 'cancelRecruiting',
      on: {
        ...whileAtWork,
        'swarm.resumed': { target: 'recruiting', reenter: true },
        'swarm.changed': { actions: 'formTeam' },
        'recruiting.ended': { actions: 'formTeam' },
        'team.formed': 'active',
        'team.missing': 'failed',
      },
    },
    active: {
      entry: ['recordStatus', 'dispatch'],
      on: {
        ...whileAtWork,
        'swarm.resumed': { actions: 'dispatch' },
        'swarm.changed': { actions: 'dispatch' },
        'subTasks.completed': 'completing',
        'subTasks.failed': 'failed',
      },
    },
    completing: {
      entry: ['recordStatus', 'aggregate', 'report'],
      on: {
        'swarm.resumed': { actions: ['aggregate', 'report'] },
        'outcome.reported': 'completed',
      },
    },
    completed: { entry: ['recordStatus', 'tellOutcome'], type: 'final' },
    failed: { entry: ['recordStatus', 'escalate'], type: 'final' },
  },
});
