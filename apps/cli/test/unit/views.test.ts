import type { LoopEvent, TaskStatus } from '@orrery/ralph-loop';
import { describe, expect, it } from 'vitest';
import { advance, emptyBoard } from '../../board.ts';
import { boardLines } from '../../board-lines.ts';
import { LiveView } from '../../live-view.ts';
import { PlainView } from '../../plain-view.ts';
import { FakeClock } from '../../../../test/fixtures/fake-clock.ts';
import { FakeScreen } from './fake-screen.ts';

const started: LoopEvent = {
  type: 'mission.started',
  atMs: 0,
  mission: 'audit',
  tasks: [
    { id: 'types', title: 'Types' },
    { id: 'cycles', title: 'Cycles' },
  ],
  assigner: 'sun',
  gate: 'mercury',
};
const changed = (status: TaskStatus, attempt = 1): LoopEvent => ({
  ...{ type: 'task.changed', atMs: 1_500, task: 'types', title: 'Types', agent: 'mars' },
  status,
  attempt,
  why: 'because',
});
const progress = (fraction: number, note?: string): LoopEvent => ({
  ...{ type: 'task.progress', atMs: 2_000, task: 'types', agent: 'mars' },
  fraction,
  note,
});
const plain = (_: unknown, text: string) => text;
const size = { columns: 60, rows: 10 };

const shown = (events: readonly LoopEvent[], room = size) =>
  boardLines(events.reduce(advance, emptyBoard(['sun', 'mercury', 'mars'])), 2_000, room, plain);

describe('the board', () => {
  it('says what each agent does, and why the loop goes on', () => {
    const asked: LoopEvent = { type: 'assignment.asked', atMs: 1, agent: 'sun', tasks: ['types'] };
    const goesOn: LoopEvent = { type: 'loop.goes-on', atMs: 2, why: 'types is to be given out' };
    expect(shown([started, asked, goesOn])).toEqual([
      'audit, 0 of 2 accepted, 2.0 s',
      '  sun      assigns types',
      '  mercury  idle',
      '  mars     idle',
      'goes on: types is to be given out',
    ]);
    expect(shown([started, asked, changed('working', 2), progress(0.42, 'reading')]).slice(1, 4)).toEqual([
      '  sun      idle',
      '  mercury  idle',
      '  mars     works on types  [####......] 42 %  reading',
    ]);
    expect(shown([started, changed('working', 2)])[3]).toBe('  mars     works on types (attempt 2)');
    expect(shown([started, changed('working'), changed('judging')]).slice(2, 4)).toEqual([
      '  mercury  judges types',
      '  mars     idle',
    ]);
    expect(shown([started, changed('working'), changed('accepted')])[0]).toBe(
      'audit, 1 of 2 accepted, 2.0 s',
    );
  });

  it('shows the latest of several tasks that one agent has', () => {
    const other: LoopEvent = { ...changed('working'), task: 'cycles' } as LoopEvent;
    expect(shown([started, changed('working'), other])[3]).toBe('  mars     works on cycles  (and 1 more)');
    expect(shown([started, other, changed('working'), progress(0.1)])[3]).toBe(
      '  mars     works on types  (and 1 more)  [#.........] 10 %',
    );
    expect(shown([started, changed('working'), other, changed('accepted')])[3]).toBe(
      '  mars     works on cycles',
    );
  });

  it('fits the screen, and lets nothing through that a terminal acts on', () => {
    const lines = shown([started, changed('working'), progress(2, '\x1b[2Jgone\nnext')], {
      columns: 50,
      rows: 5,
    });
    expect(lines).toHaveLength(4);
    const wide = shown([started, changed('working'), progress(2, '\x1b[2Jgone\nnext')], {
      columns: 70,
      rows: 10,
    });
    expect(wide[3]).toBe('  mars     works on types  [##########] 100 %  \\x1b[2Jgone\\x0anext');
    for (const line of shown([started, changed('working')], { columns: 20, rows: 10 }))
      expect(line.length).toBeLessThanOrEqual(20);
  });
});

describe('the live view', () => {
  it('redraws in place, at most ten times a second, and leaves nothing behind', () => {
    const screen = new FakeScreen();
    const clock = new FakeClock(0);
    const view = new LiveView(screen, clock, ['mars']);
    view.show(started);
    for (let step = 0; step < 1_000; step++) {
      view.show(progress(step / 1_000));
      clock.advance(1);
    }
    expect(screen.written.length).toBeGreaterThanOrEqual(9);
    expect(screen.written.length).toBeLessThanOrEqual(11);
    expect(screen.written[1]?.startsWith('\x1b[3A\r\x1b[0Jaudit')).toBe(true);
    view.close();
    expect(screen.written.at(-1)).toBe('\x1b[3A\r\x1b[0J');
    const { length } = screen.written;
    clock.advance(10_000);
    expect(screen.written).toHaveLength(length);
  });

  it('keeps the time moving while nothing happens', () => {
    const screen = new FakeScreen();
    const clock = new FakeClock(0);
    const view = new LiveView(screen, clock, ['mars']);
    view.show(started);
    clock.advance(3_000);
    expect(screen.written.at(-1)).toContain('3.0 s');
    view.close();
  });
});

describe('the plain view', () => {
  it('prints a line for each change, with the time since the start', () => {
    const screen = new FakeScreen();
    const view = new PlainView(screen);
    for (const event of [started, changed('working', 2), progress(0.5)]) view.show(event);
    view.show({ type: 'mission.ended', atMs: 61_000, stopReason: 'all-accepted' });
    expect(screen.written).toEqual([
      '[   0.0 s] audit: 2 tasks, assigned by sun, judged by mercury\n',
      '[   1.5 s] types is working (attempt 2): because\n',
      '[  61.0 s] ended: all-accepted\n',
    ]);
  });
});
