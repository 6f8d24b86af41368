import type { LoopEvent, MissionControl } from '@orrery/ralph-loop';
import type { CodingEvent } from 'orrery/coding';
import { describe, expect, it } from 'vitest';
import { MissionOrder, obey } from '../../../missions/mission-order.ts';
import { costOf, MissionTally, NO_TALLY, tallied } from '../../../missions/mission-tally.ts';
import { runLines } from '../../../missions/ps-lines.ts';

type News<Event = LoopEvent> = Event extends unknown ? Omit<Event, 'atMs'> : never;

const started: News = {
  type: 'mission.started',
  mission: 'm',
  tasks: ['a', 'b', 'c'].map((id) => ({ id, title: id.toUpperCase(), estimateMs: undefined })),
  maxParallel: 2,
  assigner: 'sun',
  gate: 'mercury',
};
type Status = Extract<LoopEvent, { type: 'task.changed' }>['status'];
const changed = (task: string, status: Status, attempt = 1): News => ({
  type: 'task.changed',
  ...{ task, title: task, status, attempt, agent: 'claude', why: `why ${status}`, findings: [] },
});
const usage = (task: string, costUsd: number): News => ({
  type: 'task.coding',
  ...{ task, agent: 'claude', event: { type: 'usage', usage: { costUsd } } },
});
const after = (...events: readonly News[]): MissionTally =>
  [started, ...events].reduce((tally, event) => tallied(tally, { ...event, atMs: 0 } as LoopEvent), NO_TALLY);
const taskOf = (tally: MissionTally, id: string) => tally.tasks.find((task) => task.id === id);

describe('the tally of a mission', () => {
  it('has what each task is about', () => {
    const tool: CodingEvent = {
      type: 'tool.started',
      toolId: '1',
      kind: 'edit',
      title: 'Edit',
      paths: ['x', 'y'],
    };
    const tally = after(
      changed('a', 'working', 2),
      { type: 'task.coding', task: 'a', agent: 'claude', event: tool },
      { type: 'task.gate', task: 'a', event: { type: 'gate.started', gate: 'test' } },
      { type: 'loop.goes-on', why: 'a is worked on' },
    );
    expect(taskOf(tally, 'a')).toEqual({
      ...{ id: 'a', title: 'A', status: 'working', attempt: 2, agent: 'claude', why: 'why working' },
      ...{ doing: 'Edit', file: 'y', gate: 'test runs', costUsd: 0, attemptUsd: 0 },
    });
    expect(taskOf(tally, 'b')).toMatchObject({ status: 'waiting' });
    expect(tally.why).toBe('a is worked on');
    expect(MissionTally.parse(tally)).toEqual(tally);
  });

  it('adds what attempts cost, of which each says its own, also after a rest that is no attempt', () => {
    const tally = after(
      changed('a', 'working'),
      usage('a', 0.2),
      usage('a', 0.5),
      changed('a', 'resting'),
      changed('a', 'working'),
      usage('a', 0.1),
      changed('a', 'working', 2),
      usage('a', 0.3),
      changed('a', 'accepted', 2),
      changed('b', 'working'),
      usage('b', 1),
    );
    expect(costOf(tally)).toBeCloseTo(1.9);
    expect(taskOf(tally, 'a')?.costUsd).toBeCloseTo(0.9);
  });

  it('cuts what is said to it, so that it may be shown whole', () => {
    const tally = after({ type: 'loop.goes-on', why: 'x'.repeat(9_999) });
    expect(MissionTally.parse(tally).why).toHaveLength(300);
  });

  it('is paused until it goes on, and over in the end', () => {
    expect(after({ type: 'mission.paused', by: 'ada' }).pausedBy).toBe('ada');
    const resumed = after({ type: 'mission.paused', by: 'ada' }, { type: 'mission.resumed', by: 'bob' });
    expect(resumed).not.toHaveProperty('pausedBy');
    expect(after({ type: 'mission.ended', stopReason: 'interrupted' }).stopReason).toBe('interrupted');
  });
});

/** Takes the orders that `taken` says, and remembers them. */
const control = (taken: boolean) => {
  const heard: string[] = [];
  const on =
    (name: string) =>
    (...given: string[]) => {
      heard.push([name, ...given].join(' '));
      return taken;
    };
  const made: MissionControl = {
    pause: on('pause'),
    goOn: on('goOn'),
    skip: on('skip'),
    approve: on('approve'),
  };
  return { heard, made };
};

const orders = [
  { type: 'pause', by: 'ada' },
  { type: 'continue', by: 'ada' },
  { type: 'skip', task: 'a', by: 'ada' },
  { type: 'approve', task: 'b', by: 'ada' },
] as const;

const tally = after(changed('a', 'accepted'), changed('b', 'working'), changed('c', 'held'));
const steered = (over: Partial<Parameters<typeof obey>[1]> = {}) => ({
  ...{ mission: 'm', tally, control: control(true).made, stop: () => true },
  ...over,
});

describe('an order', () => {
  it('is given to the mission, with whose it is', () => {
    const { heard, made } = control(true);
    const said = orders.map((order) => obey(order, steered({ control: made })));
    expect(heard).toEqual(['pause ada', 'goOn ada', 'skip a ada', 'approve b ada']);
    expect(said).toEqual([
      '"m" is paused: no task is begun any more, until \'orrery continue\'',
      '"m" goes on',
      'a of "m" is skipped',
      'b of "m" is approved, and is merged',
    ]);
  });

  it('that changes nothing is refused, saying why', () => {
    const { made } = control(false);
    const refusal = (order: Parameters<typeof obey>[0], over = {}) => {
      try {
        return obey(order, steered({ control: made, ...over }));
      } catch (error) {
        return (error as Error).message;
      }
    };
    const paused = { ...tally, pausedBy: 'bob' };
    expect(refusal(orders[0], { tally: paused })).toBe('"m": bob has paused it already');
    expect(refusal(orders[1])).toBe('"m": it is not paused');
    expect(refusal(orders[2])).toBe('a of "m" is accepted: only a task that is not over can be skipped');
    expect(refusal(orders[3])).toBe('b of "m" is working: only a change that is held can be approved');
    expect(refusal({ ...orders[3], task: 'xyz' })).toBe('No task "xyz" in "m"; its tasks are a, b, c');
    expect(refusal({ type: 'stop', by: 'ada' }, { stop: () => false })).toBe(
      '"m": it is being stopped already',
    );
    for (const order of orders) {
      expect(refusal(order, { control: undefined })).toContain('its agents are starting');
      expect(refusal(order, { tally: { ...tally, stopReason: 'all-accepted' } })).toBe(
        '"m": it is over: all-accepted',
      );
    }
  });

  it('stops a mission also before its agents have started', () => {
    expect(obey({ type: 'stop', by: 'ada' }, steered({ control: undefined }))).toBe('"m" is being stopped');
  });

  it.each([
    ['of nobody', { type: 'pause' }],
    ['that is none', { type: 'explode', by: 'ada' }],
    ['with more than belongs to it', { type: 'pause', by: 'ada', task: 'a' }],
    ['without its task', { type: 'skip', by: 'ada' }],
    ['of a task with a huge name', { type: 'skip', by: 'ada', task: 'x'.repeat(600) }],
    ['of somebody with a huge name', { type: 'pause', by: 'x'.repeat(65) }],
  ])('%s is none', (_what, order) => {
    expect(MissionOrder.safeParse(order).success).toBe(false);
  });

  it('says who gave it without what a terminal would act on', () => {
    expect(MissionOrder.parse({ type: 'pause', by: '\u001b[2Jada' })).toEqual({
      type: 'pause',
      by: '\\x1b[2Jada',
    });
  });
});

describe('orrery ps', () => {
  it('has a head for each run, and a line for each task in hand', () => {
    const state = { ...tally, why: 'b is worked on', pausedBy: 'bob' };
    const facts = { pid: 7, startedAtMs: 0 };
    const ended = { stopReason: 'task-failed', endedAtMs: 30_000, exitCode: 1 } as const;
    const lines = runLines(
      [
        { status: 'running', mission: 'm', ...facts, state },
        { status: 'running', mission: 'deaf', ...facts, why: 'it does not answer' },
        { status: 'died', mission: 'dead\u001b[2J', ...facts },
        { status: 'ended', mission: 'over', ...facts, ended },
        { status: 'foreign', mission: 'theirs', file: '/f', why: 'it was not written by you' },
      ],
      { root: '/r', nowMs: 60_000 },
    );
    expect(lines).toEqual([
      'm: paused by bob, process 7, for 1 min 0 s',
      '  1 of 3 tasks accepted',
      '  goes on: b is worked on',
      '  b  working  claude, attempt 1  why working',
      "  c  held     claude, attempt 1  waits for 'orrery approve c'",
      'deaf: running, process 7, for 1 min 0 s',
      '  it does not answer',
      "dead\\x1b[2J: its process 7 died; it began 1 min 0 s ago; 'orrery resume' goes on with it",
      'over: ended 30.0 s ago, task-failed, exit code 1',
      'theirs: the record /f is not used: it was not written by you',
    ]);
    expect(runLines([], { root: '/r', nowMs: 0 })).toEqual(['No mission was run in /r']);
  });
});
