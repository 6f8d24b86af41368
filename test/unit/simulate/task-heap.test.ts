import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type Task, TaskHeap } from '../../../runtime/simulate/task-heap.ts';

const taskOf = ([atMs, dueMs]: readonly [number, number], serial: number) =>
  ({ atMs, dueMs, serial }) as unknown as Task;

describe('TaskHeap (F-03)', () => {
  it('gives tasks by their time, then by when they were due, then in the order of being added', () => {
    const times = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }));
    fc.assert(
      fc.property(fc.array(times, { maxLength: 80 }), (list) => {
        const heap = new TaskHeap();
        const tasks = list.map(taskOf);
        for (const task of tasks) heap.push(task);
        const taken: Task[] = [];
        for (let next = heap.pop(); next !== undefined; next = heap.pop()) taken.push(next);
        expect(taken).toEqual(
          tasks.toSorted((a, b) => a.atMs - b.atMs || a.dueMs - b.dueMs || a.serial - b.serial),
        );
      }),
      { numRuns: 200 },
    );
  });
});
