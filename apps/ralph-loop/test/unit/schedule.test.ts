import { describe, expect, it } from 'vitest';
import { cutOff, nextBatch, ready, type Statuses } from '../../loop/schedule.ts';
import { EXIT_CODES, StopReason, stopReasonOf } from '../../loop/stop-reason.ts';
import type { TaskStatus } from '../../loop/task-status.ts';
import { type WorkItem, workItems } from '../../loop/work-item.ts';
import { parseMission } from '../../mission/read-mission.ts';

const itemsOf = (tasks: readonly Record<string, unknown>[]): WorkItem[] => {
  const full = tasks.map((task) => ({ title: 'T', capability: 'c', ...task }));
  return workItems(
    parseMission(JSON.stringify({ version: 1, name: 'm', limits: { maxAttempts: 1 }, tasks: full }), 't'),
  );
};
const statuses = (over: Record<string, TaskStatus>): Statuses => new Map(Object.entries(over));
const ids = (items: readonly WorkItem[]) => items.map(({ id }) => id);

describe('the schedule', () => {
  const items = itemsOf([
    { id: 'a' },
    { id: 'b', dependsOn: ['a'] },
    { id: 'c', dependsOn: ['a', 'b'], priority: 2 },
    { id: 'd', priority: 9 },
  ]);

  it('finds what waits for nothing, by priority, then as in the file', () => {
    expect(ids(ready(items, statuses({ a: 'waiting', b: 'waiting', c: 'waiting', d: 'waiting' })))).toEqual([
      'd',
      'a',
    ]);
    expect(ids(ready(items, statuses({ a: 'accepted', b: 'accepted', c: 'waiting', d: 'waiting' })))).toEqual(
      ['c', 'd'],
    );
  });

  it('does not start what depends on a task in hand', () => {
    expect(ids(ready(items, statuses({ a: 'judging', b: 'waiting', c: 'waiting', d: 'failed' })))).toEqual(
      [],
    );
  });

  it('names the dependency that cut a task off', () => {
    const cut = cutOff(items, statuses({ a: 'accepted', b: 'exhausted', c: 'waiting', d: 'waiting' }));
    expect(cut.map(({ item, lost }) => [item.id, lost])).toEqual([['c', 'b']]);
  });

  it('fills free places only', () => {
    const now = statuses({ a: 'working', b: 'ready', c: 'ready', d: 'ready' });
    expect(ids(nextBatch(items, now, 1))).toEqual([]);
    expect(ids(nextBatch(items, now, 3))).toEqual(['c', 'd']);
  });
});

describe('the stop reason', () => {
  const cases: readonly [
    readonly TaskStatus[],
    'time-limit' | 'interrupted' | undefined,
    StopReason,
    number,
  ][] = [
    [['accepted', 'accepted'], undefined, 'all-accepted', 0],
    [['accepted'], 'time-limit', 'all-accepted', 0],
    [['accepted', 'cancelled'], 'time-limit', 'time-limit', 2],
    [['failed', 'cancelled'], 'interrupted', 'interrupted', 130],
    [['failed', 'blocked'], undefined, 'task-failed', 1],
    [['exhausted', 'blocked'], undefined, 'attempts-exhausted', 2],
    [['exhausted', 'failed'], undefined, 'task-failed', 1],
    [['escalated', 'failed', 'blocked'], undefined, 'human-needed', 3],
    [['blocked', 'accepted'], undefined, 'task-blocked', 1],
  ];

  it.each(cases)('of %j, cut off by %s, is %s', (ends, cut, reason, code) => {
    expect(stopReasonOf(ends, cut)).toBe(reason);
    expect(EXIT_CODES[reason]).toBe(code);
  });

  it('always has an exit code', () => {
    expect(Object.keys(EXIT_CODES).sort()).toEqual([...StopReason.options].sort());
  });
});
