import type { Finding, LoopEvent, TaskStatus } from '@orrery/ralph-loop';
import { describe, expect, it } from 'vitest';
import { advance, emptyBoard } from '../../board.ts';
import { boardLines } from '../../board-lines.ts';
import { BoardView } from '../../board-view.ts';
import { LinesView } from '../../lines-view.ts';
import { advanceProgress, clockTime, NO_PROGRESS, progressLine } from '../../progress.ts';
import { ProgressView } from '../../progress-view.ts';
import { VerboseView } from '../../verbose-view.ts';
import { FakeClock } from '../../../../test/fixtures/fake-clock.ts';
import { FakeScreen } from '../fake-screen.ts';

const started: LoopEvent = {
  type: 'mission.started',
  atMs: 0,
  mission: 'audit',
  tasks: [
    { id: 'types', title: 'Types', estimateMs: 60_000 },
    { id: 'cycles', title: 'Cycles', estimateMs: 20_000 },
  ],
  maxParallel: 2,
  assigner: 'sun',
  gate: 'mercury',
};
const finding: Finding = {
  id: 'f1',
  rule: 'lint/no-eval',
  severity: 'high',
  file: 'src/a.ts',
  line: 3,
  message: 'Text is run as code.',
  evidence: 'eval(text);',
  lineSha256: '0'.repeat(64),
  agent: 'mars',
};
type Changed = Extract<LoopEvent, { type: 'task.changed' }>;
const moved = (task: string, status: TaskStatus, over: Partial<Changed> = {}): LoopEvent => ({
  type: 'task.changed',
  atMs: 1_500,
  task,
  title: task,
  agent: 'mars',
  status,
  attempt: 1,
  why: 'because',
  findings: [],
  ...over,
});
const changed = (status: TaskStatus, attempt = 1): LoopEvent => moved('types', status, { attempt });
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

describe('the board on a terminal', () => {
  it('redraws in place, at most ten times a second, and leaves nothing behind', () => {
    const screen = new FakeScreen();
    const clock = new FakeClock(0);
    const view = new BoardView(screen, clock, ['mars']);
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
    const view = new BoardView(screen, clock, ['mars']);
    view.show(started);
    clock.advance(3_000);
    expect(screen.written.at(-1)).toContain('3.0 s');
    view.close();
  });
});

describe('the verbose view', () => {
  it('prints a line for each change, with the time since the start', () => {
    const screen = new FakeScreen();
    const view = new VerboseView(screen);
    for (const event of [started, changed('working', 2), progress(0.5)]) view.show(event);
    view.show({ type: 'mission.ended', atMs: 61_000, stopReason: 'all-accepted' });
    expect(screen.written).toEqual([
      '[   0.0 s] audit: 2 tasks, assigned by sun, judged by mercury\n',
      '[   1.5 s] types is working (attempt 2): because\n',
      '[  61.0 s] ended: all-accepted\n',
    ]);
  });
});

describe('the line over the whole', () => {
  const after = (...events: LoopEvent[]) => events.reduce(advanceProgress, NO_PROGRESS);
  const told = (task: string, fraction: number): LoopEvent => ({
    ...{ type: 'task.progress', atMs: 2_000, task, agent: 'mars', note: undefined },
    fraction,
  });

  it('says how many tasks are over, what runs now, how long it has taken, and what is left', () => {
    const progress = after(
      started,
      moved('types', 'working', { atMs: 0 }),
      moved('cycles', 'working', { atMs: 0 }),
      told('types', 0.25),
    );
    expect(progressLine(progress, { nowMs: 10_000, leftMs: 30_000, columns: 80 })).toBe(
      '0/2 · types 25 %, cycles · 0:10, about 0:30 to go',
    );
    expect(progressLine(progress, { nowMs: 10_000, columns: 80 })).toBe('0/2 · types 25 %, cycles · 0:10');
    expect(progressLine(progress, { nowMs: 10_000, columns: 30 })).toHaveLength(30);
  });

  it('says times as clocks do', () => {
    expect([0, 34_000, 725_000, 3_607_000].map(clockTime)).toEqual(['0:00', '0:34', '12:05', '1:00:07']);
  });
});

describe('a run on a terminal', () => {
  it('prints findings as they are accepted and what failed, above one line that is drawn in place', () => {
    const screen = new FakeScreen();
    screen.columns = 90;
    const clock = new FakeClock(0);
    const view = new ProgressView(screen, clock);
    view.show(started);
    clock.advance(200);
    view.show(moved('types', 'working'));
    view.show(moved('types', 'accepted', { findings: [finding] }));
    view.show(moved('cycles', 'failed', { why: 'it was refused twice' }));
    view.close();
    const written = screen.written.join('');
    expect(written).toContain('high      src/a.ts:3  Text is run as code.  lint/no-eval, mars\n');
    expect(written).toContain('cycles failed: it was refused twice\n');
    expect(written).toContain('1/2 · giving out tasks');
    expect(screen.written.at(-1)).toBe('\x1b[1A\r\x1b[0J');
  });

  it('does not print all of a hundred findings', () => {
    const screen = new FakeScreen();
    const view = new ProgressView(screen, new FakeClock(0));
    view.show(started);
    view.show(moved('types', 'accepted', { findings: Array.from({ length: 100 }, () => finding) }));
    expect(screen.written.join('').match(/no-eval/g)).toHaveLength(10);
    expect(screen.written.join('')).toContain('... and 90 more of types');
    view.close();
  });
});

describe('a run elsewhere', () => {
  it('says what an agent says of its answer, in place of no findings or beside those that it has', () => {
    const screen = new FakeScreen();
    const view = new LinesView(screen);
    view.show(started);
    const summary = '3 findings in 2 files.\nMore of it.';
    view.show(moved('types', 'accepted', { agent: 'neptune', summary }));
    view.show(moved('cycles', 'accepted', { findings: [finding], summary: 'one tool died' }));
    expect(screen.written).toEqual([
      '0:02  1/2  types: 3 findings in 2 files. (neptune)\n',
      '0:02  2/2  cycles: 1 finding; one tool died (mars)\n',
    ]);
  });

  it('prints a line a task, when it is over', () => {
    const screen = new FakeScreen();
    const view = new LinesView(screen);
    view.show(started);
    for (const status of ['ready', 'working', 'judging'] as const) view.show(changed(status));
    view.show(moved('types', 'accepted', { findings: [finding], atMs: 12_000 }));
    view.show(moved('cycles', 'nothing', { why: 'nothing to read: no scripts', atMs: 65_000 }));
    expect(screen.written).toEqual([
      '0:12  1/2  types: 1 finding (mars)\n',
      '1:05  2/2  cycles: nothing to read: no scripts\n',
    ]);
  });
});
