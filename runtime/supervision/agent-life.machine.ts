import { setup } from 'xstate';
import type { Restart } from './supervisor-options.ts';

/** What a supervisor learns or decides about one agent. */
export type AgentLifeEvent =
  | { readonly type: 'agent.started' }
  | { readonly type: 'agent.crashed' }
  | { readonly type: 'agent.exited' }
  | { readonly type: 'agent.stop' }
  | { readonly type: 'agent.restart' }
  | { readonly type: 'agent.parked' }
  | { readonly type: 'agent.resume' }
  | { readonly type: 'group.restarting' }
  | { readonly type: 'backOff.elapsed' }
  | { readonly type: 'trial.due' }
  | { readonly type: 'intensity.exceeded' };

/** Says whether an agent of this restart type is restarted after such an end, as in OTP. */
export const mayRestart = (restart: Restart, end: 'crashed' | 'exited'): boolean =>
  restart === 'permanent' || (restart === 'transient' && end === 'crashed');

/** Transitions of a starting and a running agent: it has an actor, which can end. */
const whileThere = {
  'agent.crashed': [{ guard: 'returnsAfterCrash', target: 'restarting' }, { target: 'stopped' }],
  'agent.exited': [{ guard: 'returnsAfterExit', target: 'restarting' }, { target: 'stopped' }],
  'group.restarting': [{ guard: 'returnsAfterCrash', target: 'restarting' }, { target: 'stopped' }],
  'intensity.exceeded': 'failed',
  'agent.parked': 'parked',
  'agent.stop': 'stopped',
} as const;

/**
 * One agent's life as its supervisor sees it.
 *
 * An event that a state does not list changes nothing: a report about a life that is over is late, not wrong.
 *
 * - `restarting` waits for its back-off. `group.restarting`: another agent's death restarts this one, too.
 * - `failed`     was given up. `agent.restart` starts it again; so does `trial.due`, and its next death gives it up again.
 * - `parked`     has no actor, but a state that its code cannot go on with. Only `agent.resume` starts it again.
 */
export const agentLifeMachine = setup({
  types: {
    context: {} as { readonly restart: Restart },
    input: {} as { readonly restart: Restart },
    events: {} as AgentLifeEvent,
  },
  guards: {
    returnsAfterCrash: ({ context }) => mayRestart(context.restart, 'crashed'),
    returnsAfterExit: ({ context }) => mayRestart(context.restart, 'exited'),
  },
}).createMachine({
  id: 'agentLife',
  context: ({ input }) => ({ restart: input.restart }),
  initial: 'starting',
  states: {
    starting: {
      on: { ...whileThere, 'agent.started': 'running' },
    },
    running: {
      on: { ...whileThere },
    },
    restarting: {
      on: {
        'backOff.elapsed': 'starting',
        'agent.restart': 'starting',
        'intensity.exceeded': 'failed',
        'agent.stop': 'stopped',
      },
    },
    parked: {
      on: { 'agent.resume': 'starting', 'agent.stop': 'stopped' },
    },
    stopped: {
      on: { 'agent.restart': 'starting' },
    },
    failed: {
      on: { 'agent.restart': 'starting', 'trial.due': 'starting', 'agent.stop': 'stopped' },
    },
  },
});
