import { setup } from 'xstate';

/** What the coordinator of an agent's swarms learns. */
export type CoordinatorEvent =
  /** The system stops, and what goes on goes on in the next process. */
  { readonly type: 'system.stops' } | { readonly type: 'coordinator.closes' };

/**
 * The coordinator of one agent's swarms. Its children are the swarms that are not over, each a machine of its own. Those of
 * a swarm are its sub-tasks, and theirs the assignments that are listened to.
 */
export const coordinatorMachine = setup({
  types: {
    events: {} as CoordinatorEvent,
  },
  actions: {
    /** Stops every swarm as it is, and tells whoever waits for its end. */
    leaveSwarms: () => undefined,
    /** Stops every swarm as it is, and forgets it; the store keeps what was going on. */
    closeSwarms: () => undefined,
  },
}).createMachine({
  id: 'coordinator',
  initial: 'active',
  on: {
    'system.stops': { target: '.left', actions: 'leaveSwarms' },
    'coordinator.closes': { target: '.closed', actions: 'closeSwarms' },
  },
  states: {
    active: {},
    /** Its swarms go on in the next process. */
    left: {},
    closed: { type: 'final' },
  },
});
