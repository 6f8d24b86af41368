import { setup } from 'xstate';
import type { MachineHost } from '../../runtime/machine/machine-host.ts';
import type { TaskChange, TaskState } from '../../runtime/protocol/task.ts';

/** Where the next status puts a task: events are named by the state that they lead to. */
export type TaskMove = { readonly type: TaskState };

/**
 * The life of a task (X-29, C-11): its agent may say where it stands as often as it likes while it works, whoever waits for
 * an answer goes on with one, and what is over stays so. It may be cancelled until then.
 */
export const taskMachine = setup({ types: { events: {} as TaskMove } }).createMachine({
  id: 'task',
  initial: 'submitted',
  states: {
    submitted: {
      on: { working: 'working', rejected: 'rejected', failed: 'failed', canceled: 'canceled' },
    },
    working: {
      on: {
        working: 'working',
        'input-required': 'input-required',
        'auth-required': 'auth-required',
        completed: 'completed',
        failed: 'failed',
        rejected: 'rejected',
        canceled: 'canceled',
      },
    },
    'input-required': {
      on: { working: 'working', failed: 'failed', canceled: 'canceled' },
    },
    'auth-required': {
      on: { working: 'working', failed: 'failed', canceled: 'canceled' },
    },
    completed: { type: 'final' },
    failed: { type: 'final' },
    canceled: { type: 'final' },
    rejected: { type: 'final' },
  },
});

/** Says whether a task that stands here can have this change: once it is over it has none. */
export const mayTake = (
  life: MachineHost<typeof taskMachine>,
  change:
    | { readonly kind: Exclude<TaskChange['kind'], 'status'> }
    | { readonly kind: 'status'; readonly state: TaskState },
): boolean => (change.kind === 'status' ? life.can({ type: change.state }) : !life.isOver);
