import { type SnapshotFrom, setup } from 'xstate';
import { READINESS, type Readiness } from '../routing/agent-status-memory.ts';

export type CellEvent =
  | { readonly type: 'mail.awaited' }
  | { readonly type: 'actor.starting' }
  | { readonly type: 'actor.started' }
  | { readonly type: 'actor.failed' }
  | { readonly type: 'actor.died' }
  | { readonly type: 'upgrade.asked' }
  | { readonly type: 'upgrade.dropped' }
  | { readonly type: 'upgrade.ready' }
  | { readonly type: 'upgrade.resumed' }
  | { readonly type: 'state.dropped' }
  | { readonly type: 'state.parked' }
  | { readonly type: 'supervisor.gaveUp' }
  | { readonly type: 'agent.stopped' };

/**
 * Where one agent stands in its thread.
 *
 * - `down`      its actor is dead, or it has had none; the supervisor decides
 * - `idle`      lazy, waiting for its first envelope
 * - `finishing` takes nothing new, because its code is about to change
 * - `changing`  has no actor while its code changes
 * - `parked`    its state waits for code that can go on with it
 * - `failed`    the supervisor gave up; what arrives is dead-lettered
 * - `stopped`   ended for good, likewise, until it is started again by hand
 */
export const cellMachine = setup({ types: { events: {} as CellEvent } }).createMachine({
  id: 'cell',
  initial: 'down',
  states: {
    down: {
      on: {
        'mail.awaited': 'idle',
        'actor.starting': 'starting',
        'state.parked': 'parked',
        'supervisor.gaveUp': 'failed',
        'agent.stopped': 'stopped',
      },
    },
    idle: {
      on: {
        'actor.starting': 'starting',
        'state.parked': 'parked',
        'supervisor.gaveUp': 'failed',
        'agent.stopped': 'stopped',
      },
    },
    starting: {
      on: {
        'actor.started': 'running',
        'actor.failed': 'down',
        'actor.died': 'down',
        'supervisor.gaveUp': 'failed',
        'agent.stopped': 'stopped',
      },
    },
    running: {
      on: {
        'actor.died': 'down',
        'upgrade.asked': 'finishing',
        'supervisor.gaveUp': 'failed',
        'agent.stopped': 'stopped',
      },
    },
    finishing: {
      on: {
        'actor.died': 'down',
        'upgrade.dropped': 'running',
        'upgrade.ready': 'changing',
        'supervisor.gaveUp': 'failed',
        'agent.stopped': 'stopped',
      },
    },
    changing: {
      on: {
        'actor.starting': 'starting',
        'state.dropped': 'down',
        'supervisor.gaveUp': 'failed',
        'agent.stopped': 'stopped',
      },
    },
    parked: {
      on: {
        'actor.starting': 'starting',
        'upgrade.resumed': 'changing',
        'supervisor.gaveUp': 'failed',
        'agent.stopped': 'stopped',
      },
    },
    failed: { on: { 'actor.starting': 'starting', 'agent.stopped': 'stopped' } },
    stopped: { on: { 'actor.starting': 'starting' } },
  },
});

export type CellStatus = SnapshotFrom<typeof cellMachine>['value'];

/** What others are told of it. `isFirst`: it had no actor before, in this thread. */
export function readinessOf(status: CellStatus, isFirst: boolean): Readiness {
  switch (status) {
    case 'idle':
    case 'running':
      return READINESS.live;
    // Whoever wakes a lazy agent is not the last to whom it is live.
    case 'starting':
      return isFirst ? READINESS.live : READINESS.awaited;
    case 'down':
    case 'finishing':
    case 'changing':
      return READINESS.awaited;
    case 'parked':
    case 'failed':
    case 'stopped':
      return READINESS.ended;
  }
}
