import { isOver, type LoopEvent, plain, TaskStatus } from '@orrery/ralph-loop';
import {
  isTaskOver,
  readEvent,
  readState,
  Recording,
  type Scene,
  taskState,
  troublesOf,
  type WatchedEvent,
} from '@orrery/visualiser/model';
import type { SystemEvent } from 'orrery';
import type { MissionBoard } from 'orrery/gateway';
import { describe, expect, it } from 'vitest';
import { snapshotLines, taskLine, workLines } from '../../../team-lines.ts';
import { shownOf } from '../../../team-rows.ts';
import { MissionWatch } from '../../../watch/mission-watch.ts';
import { changed, coding, failing, FEEDBACK, gateBegun, gateOver, receipt, started } from '../code-events.ts';

/** A mission as it is heard of: its events, and its board after them. */
function heard(...events: readonly LoopEvent[]) {
  const notes: SystemEvent[] = [];
  const watch = new MissionWatch((event) => {
    notes.push({ timestamp: 60_000 + notes.length, ...event } as SystemEvent);
  });
  for (const event of events) watch.hear(event);
  return { notes, board: watch.board };
}

/** What watchers make of the events, as these come over the wire. */
function seen(notes: readonly SystemEvent[]): Scene {
  const recording = Recording.live();
  const events = notes.map((note) => readEvent(JSON.parse(JSON.stringify(note))));
  recording.appendEvents(events.filter((event): event is WatchedEvent => event !== undefined));
  return recording.latest;
}

const loginOf = (board: MissionBoard | undefined) => board?.tasks.find(({ id }) => id === 'login');
const working = changed('login', 'working');
const checking = [started, working, changed('login', 'checking')];

describe('the board of a mission that changes a repository', () => {
  it('has the gates of a change as they end, and its status, while nothing is judged by an agent', () => {
    const { board, notes } = heard(
      ...checking,
      gateBegun('login', 'lint'),
      gateOver('login', receipt({ gate: 'lint', why: 'exit code 0' })),
      gateOver('login', failing),
    );
    expect(loginOf(board)).toMatchObject({
      state: 'checking',
      gates: [
        { name: 'lint', passed: true, reason: 'exit code 0' },
        { name: 'test', passed: false, reason: 'exit code 1; 2 of 12 tests failed' },
      ],
    });
    const task = seen(notes).mission?.tasks.get('login');
    expect(task).toMatchObject({
      state: 'checking',
      attempts: 1,
      reason: 'exit code 1; 2 of 12 tests failed',
    });
    expect(task?.gates.map(({ name, passed }) => `${name} ${passed}`)).toEqual(['lint true', 'test false']);
    expect(task?.facts.get('tests')).toBe(12);
  });

  it('says that a gate is run before it has ended', () => {
    const { notes } = heard(...checking, gateBegun('login'));
    expect(seen(notes).mission?.tasks.get('login')).toMatchObject({
      state: 'checking',
      reason: 'the gate test is run',
      gates: [],
    });
  });

  it('has of each gate what it said last, a bounded number of gates, and of a reason its first line', () => {
    const again = changed('login', 'working', { attempt: 2, why: FEEDBACK });
    const { board, notes } = heard(
      ...checking,
      gateOver('login', failing),
      again,
      changed('login', 'merging'),
      gateOver('login'),
    );
    expect(loginOf(board)?.gates).toEqual([
      { name: 'test', passed: true, reason: 'exit code 0, 12 tests passed' },
    ]);
    expect(notes.map(({ reason = '' }) => reason).join()).not.toContain('FAIL');
    const many = Array.from({ length: 100 }, (_, at) => gateOver('login', receipt({ gate: `g${at}` })));
    expect(loginOf(heard(...checking, ...many).board)?.gates).toHaveLength(32);
  });

  it('tells the same to who hears the events and to who gets the board', () => {
    for (const status of ['checking', 'held', 'resting', 'merging', 'accepted', 'exhausted'] as const) {
      const { board, notes } = heard(...checking, gateOver('login'), changed('login', status));
      const state = readState({ format: 'orrery-watch', version: 1, nowMs: 90_000, mission: board });
      if (state === undefined) throw new Error('not a state');
      const recording = Recording.live();
      recording.appendState(state);
      for (const scene of [seen(notes), recording.latest]) {
        const task = scene.mission?.tasks.get('login');
        expect(task).toMatchObject({ state: status });
        expect(task?.gates).toMatchObject([{ name: 'test', passed: true }]);
      }
    }
  });

  it('does not count a rest as an attempt', () => {
    const { board } = heard(started, working, changed('login', 'resting'));
    expect(loginOf(board)).toMatchObject({ state: 'resting', attempts: 0 });
  });

  it('has what agents have used, of a limit that is near', () => {
    const usage = { inputTokens: 900, outputTokens: 100, costUsd: 0.5 };
    const events = [started, working, coding('login', { type: 'usage', usage })];
    expect(heard(started, working).board?.budget).toBeUndefined();
    const near: LoopEvent = {
      type: 'limit.near',
      atMs: 1,
      task: undefined,
      what: 'costUsd',
      used: 0.5,
      limit: 0.6,
    };
    const { board, notes } = heard(...events, near);
    expect(board?.budget).toEqual({ tokens: { spent: 1_000 }, costUsd: { spent: 0.5, limit: 0.6 } });
    expect(Object.fromEntries(seen(notes).mission?.tasks.get('login')?.facts ?? [])).toMatchObject({
      tokens: 1_000,
      costUsd: 0.5,
    });
  });

  it('keeps gates of agents as they were: one line for the gate that has judged', () => {
    const { board, notes } = heard(
      started,
      working,
      changed('login', 'judging'),
      changed('login', 'accepted', { why: 'good' }),
    );
    expect(loginOf(board)?.gates).toEqual([{ name: 'mercury', passed: true, reason: 'good' }]);
    expect(notes.filter(({ step }) => step === 'gate')).toHaveLength(1);
  });

  it('knows nothing of gates of tasks that it has not heard of', () => {
    expect(heard(gateOver('login')).board).toBeUndefined();
    expect(loginOf(heard(started, gateOver('other')).board)?.gates).toEqual([]);
  });

  const paused: LoopEvent = { type: 'mission.paused', atMs: 1, by: 'ann' };
  const resumed: LoopEvent = { type: 'mission.resumed', atMs: 2, by: 'bob' };
  const ended: LoopEvent = { type: 'mission.ended', atMs: 3, stopReason: 'interrupted' };

  it('tells who has paused it, and who has it go on', () => {
    const { notes } = heard(started, paused, resumed);
    expect(notes.slice(-2)).toMatchObject([
      { step: 'mission-paused', reason: 'paused by ann' },
      { step: 'mission-resumed', reason: 'bob wishes it' },
    ]);
  });

  it.each([
    { events: [paused], by: 'ann' },
    { events: [paused, resumed], by: undefined },
    { events: [paused, ended], by: undefined },
  ])('is paused by $by to who hears the events and to who gets the board', ({ events, by }) => {
    const { board, notes } = heard(started, ...events);
    const state = readState({ format: 'orrery-watch', version: 1, nowMs: 90_000, mission: board });
    if (state === undefined) throw new Error('not a state');
    const recording = Recording.live();
    recording.appendState(state);
    expect([board, seen(notes).mission, recording.latest.mission].map((one) => one?.pausedBy)).toEqual(
      Array.from({ length: 3 }, () => by),
    );
  });

  it('says in its reasons who was chosen among several', () => {
    const choice = {
      ...{ attempt: 1, agent: 'codex' },
      bids: [
        { agent: 'codex', load: 0 },
        { agent: 'claude', load: 2 },
      ],
      answers: [{ agent: 'codex', said: 'accepted' as const }],
    };
    const { notes } = heard(started, changed('login', 'working', { choice }));
    expect(seen(notes).mission?.tasks.get('login')?.reason).toBe('codex has it: 0 to do, claude 2');
  });
});

describe('orrery top of a mission that changes a repository', () => {
  const style = { columns: 120, paint: plain };

  it('shows what is checked, merged, held and resting as in hand, and why', () => {
    const scene = seen(heard(...checking, gateOver('login', failing), changed('cart', 'held')).notes);
    expect(workLines(scene.mission, scene, style)[1]).toMatch(
      /at login checking by claude .*, cart held by claude/,
    );
    const login = scene.mission?.tasks.get('login');
    expect(login && taskLine(login, scene, style)).toContain('exit code 1; 2 of 12 tests failed');
  });

  it('says who has paused it, and what is typed for a task that waits for people', () => {
    const { notes } = heard(...checking, changed('login', 'held'), {
      ...{ type: 'mission.paused', atMs: 1 },
      by: 'ann\x1b[2J',
    });
    const scene = seen(notes);
    const coloured = { columns: 120, paint: (colour: unknown, text: string) => `${colour} ${text}` };
    expect(workLines(scene.mission, scene, coloured)[0]).toMatch(
      /^yellow Work \[\.+\] 0 of 2 tasks done, paused by ann⟨U\+001B⟩\[2J$/,
    );
    const login = scene.mission?.tasks.get('login');
    expect(login && taskLine(login, scene, coloured)).toMatch(
      /^yellow ! held +login .*type 'orrery approve login'/,
    );
    expect(troublesOf(scene).map(({ level, text }) => `${level}: ${text}`)).toEqual([
      "warning: The task login waits until somebody approves it: 'orrery approve login'",
      "warning: The mission is paused by ann\x1b[2J: 'orrery continue' has it go on",
    ]);
    const lines = snapshotLines(shownOf(scene), style).join(' ');
    expect(lines).toContain('0 of 2 tasks are done, and it is paused by ann⟨U+001B⟩[2J');
    expect(lines).toContain("! The task login waits until somebody approves it: 'orrery approve login'");
  });

  it('knows of each status of a task whether it is over, as the loop does, and marks what came to nothing', () => {
    for (const status of TaskStatus.options) {
      expect({ status, isOver: isTaskOver(status) }).toEqual({ status, isOver: isOver(status) });
      expect({ status, icon: taskState(status).icon }).not.toEqual({ status, icon: 'unknown' });
    }
    const signs = Object.fromEntries(
      TaskStatus.options.map((status) => {
        const scene = seen(heard(started, changed('login', status)).notes);
        const login = scene.mission?.tasks.get('login');
        return [status, login && taskLine(login, scene, style).slice(0, 1)];
      }),
    );
    expect(signs).toMatchObject({ failed: '✕', exhausted: '✕', escalated: '✕', blocked: '✕' });
    expect(signs).toMatchObject({ accepted: '✓', nothing: '✓', cancelled: '·', held: '!', working: ' ' });
  });

  it.each([
    ['exhausted', 'bad: The task login has used up its attempts: a test fails'],
    ['escalated', 'bad: The task login is left to a human: a test fails'],
    ['blocked', 'warning: The task login is blocked: a test fails'],
  ] as const)('counts a task that is %s as trouble', (status, told) => {
    const scene = seen(heard(started, changed('login', status, { why: 'a test fails' })).notes);
    expect(troublesOf(scene).map(({ level, text }) => `${level}: ${text}`)).toEqual([told]);
  });
});
