import { describe, expect, it } from 'vitest';
import { LiveTask } from '../../../../actors/tasks/live-task.ts';
import { taskMachine } from '../../../../actors/tasks/task.machine.ts';
import { InMemoryTaskLog } from '../../../../actors/tasks/task-log.ts';
import { MachineHost } from '../../../../runtime/machine/machine-host.ts';
import {
  isTaskOver,
  TASK_STATES,
  type TaskChange,
  type TaskState,
} from '../../../../runtime/protocol/task.ts';

/** Every move that there is. What is not here is refused. */
const MOVES: Record<TaskState, readonly TaskState[]> = {
  submitted: ['working', 'failed', 'canceled', 'rejected'],
  working: ['working', 'input-required', 'auth-required', 'completed', 'failed', 'canceled', 'rejected'],
  'input-required': ['working', 'failed', 'canceled'],
  'auth-required': ['working', 'failed', 'canceled'],
  completed: [],
  failed: [],
  canceled: [],
  rejected: [],
};

/** How a task comes to a state. */
const wayTo = (state: TaskState): readonly TaskState[] => {
  if (state === 'submitted') return [];
  return state === 'working' ? ['working'] : ['working', state];
};

const OPENING = {
  id: 'task',
  key: 'key',
  contextId: 'context',
  createdAtMs: 0,
  owner: { principalId: 'alice' },
  agentId: 'mars',
};

function task() {
  const published: TaskChange[] = [];
  const live = new LiveTask(OPENING, {
    log: new InMemoryTaskLog(),
    nowMs: () => 1,
    onPublished: (_task, changes) => published.push(...changes),
  });
  return { live, published };
}

function taskIn(state: TaskState) {
  const { live, published } = task();
  for (const next of wayTo(state)) live.change({ kind: 'status', state: next });
  published.length = 0;
  return { live, published };
}

describe('The life of a task (X-29, C-11)', () => {
  it('has the states of the protocol, and ends where that says that a task is over', () => {
    expect(Object.keys(taskMachine.states).sort()).toEqual([...TASK_STATES].sort());
    for (const value of TASK_STATES) {
      const host = new MachineHost(taskMachine, {}, { persisted: { value, context: {}, timers: [] } });
      expect(host.isOver, value).toBe(isTaskOver(value));
    }
  });

  for (const from of TASK_STATES) {
    for (const to of TASK_STATES) {
      if (MOVES[from].includes(to)) {
        it(`goes from ${from} to ${to}`, () => {
          const { live, published } = taskIn(from);
          expect(live.change({ kind: 'status', state: to })).toBe(true);
          expect([live.state, live.view.status.state]).toEqual([to, to]);
          expect(published).toMatchObject([{ kind: 'status', state: to }]);
        });
      } else {
        it(`does not go from ${from} to ${to}, and nothing has changed`, () => {
          const { live, published } = taskIn(from);
          const { generation } = live;
          expect(live.change({ kind: 'status', state: to })).toBe(false);
          expect([live.state, live.generation, published]).toEqual([from, generation, []]);
        });
      }
    }
  }

  it('is taken up as it was kept, and not at all when no task can have come there', () => {
    const kept = (...states: readonly TaskState[]) => ({
      opening: OPENING,
      changes: states.map((state, at) => ({ kind: 'status' as const, state, generation: at + 1, atMs: 1 })),
    });
    const { live } = task();
    live.restore(kept('working', 'input-required'));
    expect([live.state, live.generation]).toEqual(['input-required', 2]);
    expect(live.change({ kind: 'status', state: 'completed' })).toBe(false);
    expect(() => task().live.restore(kept('working', 'completed', 'working'))).toThrow(
      expect.objectContaining({ code: 'REFUSED', message: expect.stringMatching(/change 3.*completed/) }),
    );
  });
});
