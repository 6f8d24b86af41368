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

  const batch = (all: readonly WorkItem[], now: Statuses, maxParallel: number) =>
    ids(nextBatch(all, now, { maxParallel, isTogether: ({ isOfSwarm }) => isOfSwarm }));

  it('fills free places only', () => {
    const now = statuses({ a: 'working', b: 'ready', c: 'ready', d: 'ready' });
    expect(batch(items, now, 1)).toEqual([]);
    expect(batch(items, now, 3)).toEqual(['c', 'd']);
  });

  it('does not count what the gate judges, or what the assigner decides about', () => {
    const now = statuses({ a: 'judging', b: 'recovering', c: 'ready', d: 'ready' });
    expect(batch(items, now, 2)).toEqual(['c', 'd']);
    expect(batch(items, statuses({ a: 'proposed', b: 'judging', c: 'ready', d: 'ready' }), 2)).toEqual(['c']);
  });

  it('gives out the longest of equal priority first, and those of unknown length last', () => {
    const timed = itemsOf([
      { id: 'short', estimateMs: 10 },
      { id: 'unknown' },
      { id: 'long', estimateMs: 900 },
      { id: 'urgent', estimateMs: 1, priority: 1 },
    ]);
    const now = statuses({ short: 'ready', unknown: 'ready', long: 'ready', urgent: 'ready' });
    expect(batch(timed, now, 9)).toEqual(['urgent', 'long', 'short', 'unknown']);
  });

  it('begins the parts of a swarm together, where all have room or nothing else is worked on', () => {
    const swarmed = itemsOf([
      { id: 's', capability: undefined, requiredCapabilities: ['x', 'y', 'z'] },
      { id: 'solo' },
    ]);
    const parts = { 's/x': 'ready', 's/y': 'ready', 's/z': 'ready' } as const;
    expect(batch(swarmed, statuses({ ...parts, solo: 'working' }), 3)).toEqual([]);
    expect(batch(swarmed, statuses({ ...parts, solo: 'working' }), 4)).toEqual(['s/x', 's/y', 's/z']);
    expect(batch(swarmed, statuses({ ...parts, solo: 'ready' }), 2)).toEqual(['s/x', 's/y', 's/z']);
    expect(batch(swarmed, statuses({ 's/x': 'working', 's/y': 'working', solo: 'ready' }), 2)).toEqual([]);
  });

  it('finds what comes after tasks once they are over, however they ended', () => {
    const later = itemsOf([{ id: 'a' }, { id: 'b' }, { id: 'sum', after: ['a', 'b'] }]);
    expect(ids(ready(later, statuses({ a: 'failed', b: 'judging', sum: 'waiting' })))).toEqual([]);
    expect(ids(ready(later, statuses({ a: 'failed', b: 'nothing', sum: 'waiting' })))).toEqual(['sum']);
    expect(cutOff(later, statuses({ a: 'failed', b: 'nothing', sum: 'waiting' }))).toEqual([]);
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
    [['accepted', 'nothing'], undefined, 'all-accepted', 0],
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
