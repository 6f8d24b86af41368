import type { LoopEvent, TaskStatus } from '@orrery/ralph-loop';
import { describe, expect, it } from 'vitest';
import { advanceProgress, NO_PROGRESS } from '../../progress.ts';
import { type Estimate, remainingMs, settled, toldMs } from '../../remaining.ts';

const started = (estimates: Readonly<Record<string, number | undefined>>, maxParallel = 1): LoopEvent => ({
  type: 'mission.started',
  atMs: 0,
  mission: 'audit',
  tasks: Object.entries(estimates).map(([id, estimateMs]) => ({ id, title: id, estimateMs })),
  maxParallel,
  assigner: 'sun',
  gate: 'mercury',
});
const changed = (task: string, status: TaskStatus, atMs: number): LoopEvent => ({
  ...{ type: 'task.changed', atMs, task, title: task, agent: 'mars', status, attempt: 1, why: '' },
  findings: [],
});
const after = (...events: LoopEvent[]) => events.reduce(advanceProgress, NO_PROGRESS);

describe('how long it will take', () => {
  const types = changed('types', 'working', 0);
  const cycles = [changed('cycles', 'working', 0), changed('cycles', 'accepted', 40_000)];

  it('is reckoned from the tasks that are over: the longest that is left, or all of it shared out', () => {
    const estimates = { types: 60_000, cycles: 20_000, secrets: 10_000, docs: 10_000 };
    expect(remainingMs(after(started(estimates), types, ...cycles), 40_000)).toBe(120_000);
    expect(remainingMs(after(started(estimates, 2), types, ...cycles), 40_000)).toBe(80_000);
  });

  it('does not believe an agent that is through a tenth of its files', () => {
    const said: LoopEvent = {
      ...{ type: 'task.progress', atMs: 39_000, task: 'types', agent: 'mars', fraction: 0.11 },
      note: undefined,
    };
    const events = [started({ types: 30_000, cycles: 20_000 }, 2), types, ...cycles];
    expect(remainingMs(after(...events, said), 40_000)).toBe(remainingMs(after(...events), 40_000));
  });

  it('takes tasks without an estimate for short where others have one, and for alike where none has', () => {
    const some = started({ types: 20_000, cycles: 20_000, count: undefined, deaths: undefined });
    expect(remainingMs(after(some, types, ...cycles), 40_000)).toBe(0);
    const none = started({ types: undefined, cycles: undefined, count: undefined });
    expect(remainingMs(after(none, types, ...cycles), 40_000)).toBe(40_000);
  });

  it('does not take tasks that had nothing to read for fast ones', () => {
    const nothing = [changed('styles', 'working', 0), changed('styles', 'nothing', 100)];
    const events = [started({ styles: 20_000, cycles: 20_000, types: 20_000 }), ...nothing];
    expect(remainingMs(after(...events), 100)).toBeUndefined();
    expect(remainingMs(after(...events, ...cycles), 40_000)).toBe(40_000);
  });

  it('is not known while too little is over', () => {
    const estimates = { types: 200_000, cycles: 20_000 };
    expect(remainingMs(after(started(estimates), types), 10_000)).toBeUndefined();
    expect(remainingMs(after(started(estimates), types, ...cycles), 40_000)).toBeUndefined();
  });
});

describe('what is told of it', () => {
  /** What is told each second, of what is reckoned each second. */
  const told = (reckoned: readonly (number | undefined)[]) => {
    let estimate: Estimate | undefined;
    return reckoned.map((seconds, at) => {
      const nowMs = at * 1_000;
      estimate = settled(estimate, seconds === undefined ? undefined : seconds * 1_000, nowMs);
      const ms = toldMs(estimate, nowMs);
      return ms === undefined ? undefined : ms / 1_000;
    });
  };

  it('is nothing before it has stood for five seconds, and nothing near the end', () => {
    expect(told([undefined, 12, 11, 10, 9, 8, 7, 6, 5, 4, 3])).toEqual([
      ...[undefined, undefined, undefined, undefined, undefined, undefined],
      ...[7, 6, 5, undefined, undefined],
    ]);
  });

  it('comes nearer, and never goes further away while it stands', () => {
    expect(told([60, 59, 58, 57, 56, 55, 60, 58, 50, 60]).slice(5)).toEqual([55, 54, 53, 50, 49]);
  });

  it('is nothing again once it is off by more than a third, until that has stood', () => {
    expect(told([60, 59, 58, 57, 56, 55, 200, 199, 198, 197, 196, 195]).slice(5)).toEqual([
      ...[55, undefined, undefined, undefined, undefined, undefined, 195],
    ]);
  });
});
