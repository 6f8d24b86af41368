import { initialTransition, transition } from 'xstate';
import { type SwarmLifeEvent, swarmMachine } from './swarm.machine.ts';
import type { SwarmStatus } from './swarm-session.ts';

/** What a step has the coordinator do, in this order. */
export type SwarmEffect = 'invite' | 'dispatch' | 'aggregate' | 'report' | 'escalate' | 'release';

/** Where a step leads. */
export interface SwarmStep {
  readonly status: SwarmStatus;
  readonly effects: readonly SwarmEffect[];
}

const effectsOf = (actions: readonly { readonly type: string }[]): SwarmEffect[] =>
  actions.map(({ type }) => type as SwarmEffect);

const [firstSnapshot, firstActions] = initialTransition(swarmMachine);

/** How every swarm begins. */
export const FIRST_SWARM_STEP: SwarmStep = { status: firstSnapshot.value, effects: effectsOf(firstActions) };

/** The step that the event leads to; undefined when a swarm in this status does not listen to it. */
export function nextSwarmStep(status: SwarmStatus, type: SwarmLifeEvent['type']): SwarmStep | undefined {
  const snapshot = swarmMachine.resolveState({ value: status });
  if (!snapshot.can({ type })) return undefined;
  const [next, actions] = transition(swarmMachine, snapshot, { type });
  return { status: next.value, effects: effectsOf(actions) };
}

/** Says whether the swarm is at an end. */
export const isOver = (status: SwarmStatus): boolean => status === 'completed' || status === 'failed';

/** Says whether agents may join, and sub-tasks be worked on. */
export const isAtWork = (status: SwarmStatus): boolean => status === 'recruiting' || status === 'active';
