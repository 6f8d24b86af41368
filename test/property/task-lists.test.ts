import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LiveTask } from '../../actors/tasks/live-task.ts';
import { InMemoryTaskLog } from '../../actors/tasks/task-log.ts';
import { TaskIndex } from '../../actors/tasks/task-index.ts';
import { TASK_STATES, type TaskState } from '../../runtime/protocol/task.ts';
import type { TaskQuery } from '../../runtime/protocol/task-service.ts';

const OWNERS = [
  { principalId: 'alice', tenant: 'acme' },
  { principalId: 'bob', tenant: 'acme' },
] as const;
const AGENTS = ['mars', 'venus'];
const CONTEXTS = ['c1', 'c2', 'c3'];

const arbQuery = fc.record({
  agentId: fc.option(fc.constantFrom(...AGENTS), { nil: undefined }),
  contextId: fc.option(fc.constantFrom(...CONTEXTS), { nil: undefined }),
  state: fc.option(fc.constantFrom(...TASK_STATES), { nil: undefined }),
  sinceMs: fc.option(fc.nat(60), { nil: undefined }),
  pageSize: fc.integer({ min: 1, max: 5 }),
});
const arbStep = fc.oneof(
  {
    weight: 2,
    arbitrary: fc.record({
      does: fc.constant('add' as const),
      owner: fc.nat(1),
      agentId: fc.constantFrom(...AGENTS),
      contextId: fc.constantFrom(...CONTEXTS),
    }),
  },
  {
    weight: 3,
    arbitrary: fc.record({
      does: fc.constant('move' as const),
      at: fc.nat(30),
      to: fc.constantFrom(...TASK_STATES),
    }),
  },
  { weight: 1, arbitrary: fc.record({ does: fc.constant('remove' as const), at: fc.nat(30) }) },
  {
    weight: 3,
    arbitrary: fc.record({ does: fc.constant('list' as const), owner: fc.nat(1), query: arbQuery }),
  },
);

/** All tasks of an owner that a query asks for, looked for one by one. */
function wanted(tasks: readonly LiveTask[], owner: (typeof OWNERS)[number], query: TaskQuery): LiveTask[] {
  const { agentId, contextId, state, sinceMs = 0 } = query;
  return tasks
    .filter(
      ({ opening, view }) =>
        opening.owner === owner &&
        (agentId === undefined || opening.agentId === agentId) &&
        (contextId === undefined || opening.contextId === contextId) &&
        (state === undefined || view.status.state === state) &&
        view.status.atMs >= sinceMs,
    )
    .sort((one, other) => other.view.status.atMs - one.view.status.atMs);
}

describe('Lists of tasks', () => {
  it('are what looking at every task would give, for any combination of agent, context and state (X-26)', () => {
    fc.assert(
      fc.property(fc.array(arbStep, { maxLength: 80, size: 'max' }), (steps) => {
        const book = new TaskIndex();
        let tasks: LiveTask[] = [];
        let now = 0;
        const move = (task: LiveTask, state: TaskState): void => {
          now += 1;
          task.view.apply({ kind: 'status', generation: now, atMs: now, state });
        };
        for (const step of steps) {
          if (step.does === 'add') {
            const { agentId, contextId } = step;
            const owner = OWNERS[step.owner] as (typeof OWNERS)[number];
            now += 1;
            const key = `t${now}`;
            const opening = { id: key, key, contextId, createdAtMs: now, owner, agentId };
            const task = new LiveTask(opening, {
              log: new InMemoryTaskLog(),
              nowMs: () => now,
              onPublished: () => {},
            });
            tasks.push(task);
            book.add(task);
          } else if (step.does === 'list') {
            const owner = OWNERS[step.owner] as (typeof OWNERS)[number];
            const expected = wanted(tasks, owner, step.query);
            const found: LiveTask[] = [];
            for (let pageToken = ''; ; ) {
              const page = book.page(owner, { ...step.query, pageToken });
              expect(page.total).toBe(expected.length);
              expect(page.tasks.length).toBeLessThanOrEqual(step.query.pageSize);
              found.push(...page.tasks);
              pageToken = page.nextPageToken;
              if (pageToken === '') break;
            }
            expect(found.map(({ id }) => id)).toEqual(expected.map(({ id }) => id));
          } else {
            const task = tasks[step.at % Math.max(1, tasks.length)];
            if (task === undefined) continue;
            if (step.does === 'remove') {
              book.remove(task);
              tasks = tasks.filter((one) => one !== task);
            } else {
              move(task, step.to);
              book.touch(task);
            }
          }
          for (const owner of OWNERS)
            expect(book.ofOwner(owner)?.size ?? 0).toBe(wanted(tasks, owner, { pageSize: 1 }).length);
          expect(book.ofTenant(OWNERS[0])?.size ?? 0).toBe(tasks.length);
          expect(book.all.bytes).toBe(tasks.reduce((sum, { bytes }) => sum + bytes, 0));
        }
      }),
      { numRuns: 200 },
    );
  });

  it('takes no token that it has not given', () => {
    const book = new TaskIndex();
    for (const pageToken of ['garbage', '0', '-1', 'a b', '1', 'x'.repeat(40)])
      expect(() => book.page(OWNERS[0], { pageSize: 1, pageToken })).toThrow(
        `pageToken is "${pageToken}", expected the nextPageToken of the page before`,
      );
  });
});
