import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { type ScheduledStep, StepHeap } from '../../../runtime/simulate/step-heap.ts';

const stepOf = ([atMs, dueMs]: readonly [number, number], serial: number) =>
  ({ atMs, dueMs, serial }) as unknown as ScheduledStep;

describe('StepHeap (F-03)', () => {
  it('gives steps by their time, then by when they were due, then in the order of being added', () => {
    const times = fc.tuple(fc.integer({ min: 0, max: 9 }), fc.integer({ min: 0, max: 9 }));
    fc.assert(
      fc.property(fc.array(times, { maxLength: 80 }), (list) => {
        const heap = new StepHeap();
        const steps = list.map(stepOf);
        for (const step of steps) heap.push(step);
        const taken: ScheduledStep[] = [];
        for (let next = heap.pop(); next !== undefined; next = heap.pop()) taken.push(next);
        expect(taken).toEqual(
          steps.toSorted((a, b) => a.atMs - b.atMs || a.dueMs - b.dueMs || a.serial - b.serial),
        );
      }),
      { numRuns: 200 },
    );
  });
});
