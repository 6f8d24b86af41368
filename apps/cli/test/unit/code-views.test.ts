import { type LoopEvent, MissionReport } from '@orrery/ralph-loop';
import { describe, expect, it } from 'vitest';
import { advance, emptyBoard } from '../../board.ts';
import { boardLines } from '../../board-lines.ts';
import { columnsOf } from '../../cells.ts';
import { codingText } from '../../coding-text.ts';
import { advanceHands, emptyHands } from '../../hand.ts';
import { handLines, partsIn } from '../../hand-lines.ts';
import { LinesView } from '../../lines-view.ts';
import { NdjsonView, reportLine } from '../../ndjson-view.ts';
import { advanceProgress, NO_PROGRESS, progressLine } from '../../progress.ts';
import { ProgressView } from '../../progress-view.ts';
import { remainingMs } from '../../remaining.ts';
import { VerboseView } from '../../verbose-view.ts';
import { FakeClock } from '../../../../test/fixtures/fake-clock.ts';
import { FakeScreen } from '../fake-screen.ts';
import {
  type Coding,
  changed,
  coding,
  ended,
  failing,
  FEEDBACK,
  gateBegun,
  gateOver,
  receipt,
  started,
  tool,
} from './code-events.ts';

const plain = (_: unknown, text: string) => text;
const after = (...events: LoopEvent[]) => events.reduce(advanceHands, emptyHands());
const lines = (events: readonly LoopEvent[], size = { columns: 200, rows: 10, nowMs: 61_000 }) =>
  handLines(after(...events), size, plain);
const working = changed('login', 'working');
const path = '/repo/.orrery/worktrees/shop/login-1-x/src/login.ts';
const edit = tool('t1', 'Edit: src/login.ts', { kind: 'edit', paths: [path] });
const used = (task: string, usage: Extract<Coding, { type: 'usage' }>['usage']) =>
  coding(task, { type: 'usage', usage });

describe('the line of a change in hand (F-11)', () => {
  it('says the agent, its tool, the file changed last, the cost, and nothing that was not told', () => {
    const events = [started, working, coding('login', { type: 'session.started', sessionId: 's' })];
    expect(lines(events)).toEqual(['login  claude 1:00 · waits for its model']);
    events.push(coding('login', edit));
    expect(lines(events)).toEqual(['login  claude 1:00 · Edit: src/login.ts']);
    events.push(coding('login', ended('t1')), coding('login', tool('t2', 'npm test')));
    events.push(used('login', { inputTokens: 1_000, outputTokens: 234 }));
    expect(lines(events)).toEqual(['login  claude 1:00 · npm test · changed src/login.ts · 1,234 tokens']);
    events.push(used('login', { costUsd: 0.42 }), coding('login', tool('t3', 'npm run lint')));
    expect(lines(events)).toEqual([
      'login  claude 1:00 · npm run lint (and 1 more) · changed src/login.ts · $0.42',
    ]);
  });

  it('does not call a file changed whose tool has failed, or that was only read', () => {
    const read = tool('t2', 'Read: a.ts', { kind: 'read', paths: ['a.ts'] });
    const events = [coding('login', edit), coding('login', ended('t1', true)), coding('login', read)];
    expect(lines([started, working, ...events, coding('login', ended('t2'))])).toEqual([
      'login  claude 1:00 · waits for its model',
    ]);
  });

  it('says which gate runs, whether the last has passed with how many tests, and on the way to what', () => {
    const checking = [started, working, coding('login', edit), changed('login', 'checking')];
    expect(lines([...checking, gateBegun('login')])[0]).toContain('is checked · gate test runs');
    expect(lines([...checking, gateOver('login')])[0]).toContain('is checked · gate test passed, 12 tests');
    expect(lines([...checking, gateOver('login', failing)])[0]).toContain(
      'gate test failed: exit code 1; 2 of 12 tests failed',
    );
    const { tests: _, ...uncounted } = receipt({ gate: 'lint' });
    expect(lines([...checking, gateOver('login', uncounted), changed('login', 'merging')])[0]).toContain(
      'is merged · gate lint passed',
    );
    expect(lines([...checking, changed('login', 'held')])[0]).toContain(
      'has passed, waits until somebody approves it',
    );
  });

  it('says why it goes on after an attempt that came to nothing, and adds up what was used', () => {
    const again = changed('login', 'working', { attempt: 2, why: FEEDBACK, atMs: 50_000 });
    const events = [started, working, used('login', { costUsd: 0.4 }), gateOver('login', failing), again];
    expect(lines(events)).toEqual([
      'login  claude 0:11 · begins · $0.40 · attempt 2: test failed: exit code 1; 2 of 12 tests failed.',
    ]);
    expect(lines([...events, used('login', { costUsd: 0.2 })])[0]).toContain('· $0.60 ·');
  });

  it('says that it rests, or that its provider lets it wait, until something happens again', () => {
    const limited = coding('login', { type: 'rate.limited', reason: 'too many\nrequests', isFinal: false });
    expect(lines([started, working, limited])).toEqual([
      'login  claude 1:00 · waits for its provider: too many',
    ]);
    expect(lines([started, working, limited, used('login', { inputTokens: 1 })])[0]).toContain(
      'waits for its',
    );
    expect(lines([started, working, limited, coding('login', edit)])[0]).toContain('Edit: src/login.ts');
    const resting = changed('login', 'resting', { why: 'claude takes no more work for now: limit' });
    expect(lines([started, working, limited, resting])[0]).toContain('rests: claude takes no more work');
  });

  it('is there only while the task is in hand, and for no task of another mission', () => {
    expect(lines([started, working, changed('login', 'judging')])).toEqual([]);
    expect(lines([started, working, coding('login', edit), changed('login', 'accepted')])).toEqual([]);
    expect(lines([started, working, coding('login', edit), changed('login', 'ready')])).toEqual([]);
    const known = [started, working].reduce(advanceHands, emptyHands(['login']));
    expect(handLines(known, { columns: 80, rows: 5, nowMs: 1_000 }, plain)).toEqual([
      'login  claude 0:00 · begins',
    ]);
  });

  it('takes what is told late, of a task that is over, for nothing but its cost', () => {
    const late = after(
      started,
      working,
      coding('login', edit),
      changed('login', 'accepted'),
      used('login', { costUsd: 1 }),
    );
    expect(late.tasks.size).toBe(0);
    expect(late.spending.get('login')).toMatchObject({ now: { costUsd: 1 } });
  });

  it('keeps a bounded number of tools that never end', () => {
    const flood = Array.from({ length: 5_000 }, (_, at) => coding('login', tool(`t${at}`, `tool ${at}`)));
    expect(after(started, working, ...flood).tasks.get('login')?.tools).toHaveLength(8);
  });

  it('fits any width, cuts the longest parts first, and lets nothing through that a terminal acts on', () => {
    const hostile = coding(
      'login',
      tool('t1', '\x1b[2J\u202e漢字'.repeat(50), { kind: 'edit', paths: ['\x07'] }),
    );
    const events = [
      ...[started, changed('login', 'working', { attempt: 2, why: `${'x'.repeat(5_000)}\x1b` })],
      ...[hostile, gateOver('login', receipt({ gate: '\x9b31m' })), used('login', { costUsd: 1 })],
    ];
    for (let columns = 1; columns < 240; columns++)
      for (const line of lines(events, { columns, rows: 5, nowMs: 61_000 })) {
        expect(columnsOf(line)).toBeLessThanOrEqual(columns);
        // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
        expect(line).not.toMatch(/[\x00-\x1f\x7f-\x9f\u202a-\u202e]/);
      }
    expect(lines(events, { columns: 100, rows: 5, nowMs: 61_000 })[0]).toContain('$1.00');
    expect(partsIn(['aaaaaaaaaaaaaaaaaaaaaaaaa', 'bb', 'ccccccccccccccccccccc'], 40)).toBe(
      'aaaaaaaaaaaaaaa… · bb · ccccccccccccccc…',
    );
  });

  it('says of a path its end where there is no room for more, and never the folder of the attempt', () => {
    const deep = `${path.slice(0, -'login.ts'.length)}components/forms/login.ts`;
    const [first, second] = ['t1', 't2'].map((id) =>
      coding('login', tool(id, `Edit: ${deep}`, { kind: 'edit', paths: [deep] })),
    );
    if (first === undefined || second === undefined) throw new Error('there are two');
    const events = [started, working, first, coding('login', ended('t1')), second];
    const at = (columns: number) => lines(events, { columns, rows: 5, nowMs: 61_000 })[0];
    expect(at(150)).toContain('Edit: src/components/forms/login.ts · changed src/components/forms/login.ts');
    expect(at(80)).toContain('Edit: src/components/forms/login.ts · changed login.ts');
  });

  it('counts those that the screen has no room for', () => {
    const tasks = Array.from({ length: 9 }, (_, at) => `t${at}`);
    const events = tasks.flatMap((id) => [changed(id, 'working'), coding(id, edit)]);
    const shown = lines([started, ...events], { columns: 80, rows: 4, nowMs: 2_000 });
    expect(shown).toHaveLength(4);
    expect(shown.at(-1)).toBe('and 6 more in hand');
  });
});

describe('the line over a mission that changes a repository', () => {
  const line = (...events: LoopEvent[]) =>
    progressLine(events.reduce(advanceProgress, NO_PROGRESS), { nowMs: 5_000, cost: '$1.20', columns: 90 });

  it('says what is done with tasks that nobody works at, who has paused it, and what it has cost', () => {
    expect(line(started, changed('login', 'checking'))).toBe('0/2 · login checked · $1.20 · 0:05');
    expect(line(started, changed('login', 'merging'))).toContain('login merged');
    expect(line(started, changed('login', 'held'))).toContain('login held until somebody approves');
    expect(line(started, changed('login', 'resting'))).toContain('login resting');
    const paused: LoopEvent = { type: 'mission.paused', atMs: 1, by: 'ann' };
    expect(line(started, paused, working)).toContain('paused by ann; login');
    expect(line(started, paused, { type: 'mission.resumed', atMs: 2, by: 'ann' })).not.toContain('paused');
  });

  it('does not reckon with work on changes that are checked, held or merged', () => {
    for (const status of ['checking', 'held', 'merging'] as const) {
      const events = [
        started,
        working,
        changed('login', 'accepted', { atMs: 9_000 }),
        changed('cart', status),
      ];
      expect(remainingMs(events.reduce(advanceProgress, NO_PROGRESS), 10_000)).toBe(0);
    }
  });
});

/** All that can happen to a mission that changes a repository. */
const story: readonly LoopEvent[] = [
  started,
  working,
  coding('login', edit),
  coding('login', ended('t1')),
  used('login', { costUsd: 0.4 }),
  changed('login', 'checking'),
  gateBegun('login'),
  gateOver('login', failing),
  changed('login', 'working', { attempt: 2, why: FEEDBACK }),
  coding('login', { type: 'rate.limited', reason: 'limit', isFinal: false }),
  coding('login', { type: 'rate.limited', reason: 'limit', isFinal: true }),
  changed('login', 'resting', { attempt: 2, why: 'claude takes no more work for now: limit' }),
  { type: 'mission.paused', atMs: 5_000, by: 'ann' },
  { type: 'mission.resumed', atMs: 5_000, by: 'ann' },
  changed('login', 'working', { attempt: 2, why: 'claude takes it on' }),
  { type: 'limit.near', atMs: 5_000, task: undefined, what: 'costUsd', used: 4.1, limit: 5 },
  changed('login', 'checking', { attempt: 2 }),
  gateOver('login'),
  changed('login', 'held', { attempt: 2 }),
  changed('login', 'merging', { attempt: 2 }),
  gateOver('login'),
  changed('login', 'accepted', {
    attempt: 2,
    atMs: 62_000,
    why: 'merged as 0123456789; its gates have passed: test',
  }),
  changed('cart', 'blocked', { agent: undefined, atMs: 63_000, why: 'nobody\nelse' }),
  { type: 'mission.ended', atMs: 63_000, stopReason: 'task-blocked' },
];

describe('a run that changes a repository, elsewhere than on a terminal', () => {
  it('prints a line for each gate, each attempt that came to nothing, and each change, not for tools', () => {
    const screen = new FakeScreen();
    const view = new LinesView(screen, ['login', 'cart']);
    for (const event of story) view.show(event);
    expect(screen.written.map((line) => line.trimEnd())).toEqual([
      '0:04  0/2  login: gate test failed in 1.5 s: exit code 1; 2 of 12 tests failed  log: /repo/.orrery/logs/r1/login/attempt-1/1-test.log',
      '0:01  0/2  login: attempt 1 (claude, $0.40 so far) came to nothing: The gate "test" failed: exit code 1; 2 of 12 tests failed.',
      '0:02  0/2  login: claude waits for its provider: limit',
      '0:01  0/2  login rests: claude takes no more work for now: limit',
      '0:05  0/2  paused by ann: no task is begun any more',
      '0:05  0/2  goes on, as ann wishes',
      '0:05  0/2  the mission has used $4.10 of $5.00 (82 %)',
      '0:04  0/2  login: gate test passed in 1.5 s: exit code 0, 12 tests passed',
      '0:01  0/2  login is held until somebody approves it',
      '0:04  0/2  login: gate test passed on the merged files in 1.5 s: exit code 0, 12 tests passed',
      '1:02  1/2  login accepted: merged as 0123456789; its gates have passed: test (claude, attempt 2, $0.40)',
      '1:03  2/2  cart blocked: nobody',
    ]);
  });
});

describe('an agent that was chosen among several', () => {
  const choice = {
    ...{ attempt: 1, agent: 'codex', reason: 'it has the least to do' },
    bids: [
      { agent: 'codex', load: 0 },
      { agent: 'claude', load: 2 },
      { agent: 'gemini', load: 0, out: 'declined: BUSY\x1b[2J' },
    ],
    answers: [{ agent: 'codex', said: 'accepted' as const }],
  };
  const proposed = changed('login', 'proposed', { choice: { ...choice, answers: [] } });
  const taken = changed('login', 'working', { choice });
  const line =
    'login: codex has it: it has the least to do (0 to do, claude 2); gemini declined: BUSY\\x1b[2J';

  it('is told in one line, once it has the task', () => {
    const screen = new FakeScreen();
    const view = new LinesView(screen, ['login']);
    for (const event of [started, proposed, taken, changed('login', 'checking')]) view.show(event);
    expect(screen.written).toEqual([`0:01  0/2  ${line}\n`]);
  });

  it('is told on a terminal where somebody was not to be had', () => {
    const printed = (...events: readonly LoopEvent[]) => {
      const screen = new FakeScreen();
      screen.columns = 200;
      const view = new ProgressView(screen, new FakeClock(0), ['login']);
      for (const event of events) view.show(event);
      return screen.written.join('');
    };
    expect(printed(started, proposed, taken)).toContain(line);
    const smooth = { ...choice, bids: choice.bids.slice(0, 2) };
    expect(printed(started, changed('login', 'working', { choice: smooth }))).not.toContain('has it');
  });

  it('is a part of the event for scripts, and of the line for each event', () => {
    const [script, verbose] = [new FakeScreen(), new FakeScreen()];
    new NdjsonView(script).show(taken);
    new VerboseView(verbose).show(taken);
    expect(JSON.parse(script.written.join(''))).toMatchObject({ status: 'working', choice });
    expect(verbose.written.join('')).toContain(line.replace('login: ', 'login is working: '));
  });
});

describe('a run that changes a repository, on a terminal', () => {
  it('draws a line for each change above that of the whole, and prints only what did not go well, and what is done', () => {
    const screen = new FakeScreen();
    screen.columns = 120;
    const clock = new FakeClock(0);
    const view = new ProgressView(screen, clock, ['login', 'cart']);
    for (const event of story.slice(0, 4)) view.show(event);
    clock.advance(1_000);
    expect(screen.written.at(-1)).toContain(
      'login  claude 0:00 · waits for its model · changed src/login.ts\n0/2 · login · 0:01\n',
    );
    for (const event of story.slice(4)) view.show(event);
    const written = screen.written.join('');
    for (const part of [
      'gate test failed in',
      'came to nothing: The gate',
      'login is held',
      'login accepted: merged as 0123456789',
    ])
      expect(written).toContain(part);
    expect(written).not.toContain('gate test passed in');
    view.close();
    expect(screen.written.at(-1)).toBe('\x1b[1A\r\x1b[0J');
  });

  it('leaves room for the line of the whole on a small screen', () => {
    const screen = new FakeScreen();
    screen.rows = 5;
    const clock = new FakeClock(0);
    const view = new ProgressView(screen, clock);
    view.show(started);
    for (let at = 0; at < 20; at++) {
      view.show(changed(`t${at}`, 'working'));
      view.show(coding(`t${at}`, edit));
    }
    clock.advance(1_000);
    expect(screen.written.at(-1)?.trimEnd().split('\n')).toHaveLength(4);
    view.close();
  });
});

describe('the board of a mission that changes a repository', () => {
  const board = (rows: number, ...events: LoopEvent[]) =>
    boardLines(
      events.reduce(advance, emptyBoard(['sun', 'mercury', 'claude'])),
      5_000,
      { columns: 100, rows },
      plain,
    );

  it('has a line for each change in hand below the agents, its cost, and a limit that is near', () => {
    const near: LoopEvent = {
      type: 'limit.near',
      atMs: 1,
      task: 'login',
      what: 'tokens',
      used: 8,
      limit: 10,
    };
    expect(board(20, started, working, coding('login', edit), used('login', { costUsd: 2 }), near)).toEqual([
      'shop, 0 of 2 accepted, 5.0 s, $2.00',
      '  sun      idle',
      '  mercury  idle',
      '  claude   works on login',
      'login  claude 0:04 · Edit: src/login.ts · $2.00',
      'login has used 8 tokens of 10 tokens (80 %)',
      'goes on: ',
    ]);
  });

  it('fits the rows that there are', () => {
    const many = Array.from({ length: 9 }, (_, at) => [changed(`t${at}`, 'working'), coding(`t${at}`, edit)]);
    for (const rows of [5, 6, 8, 20]) expect(board(rows, started, ...many.flat()).length).toBeLessThan(rows);
  });

  it('says that it is paused', () => {
    expect(board(10, started, { type: 'mission.paused', atMs: 1, by: 'ann' }).at(-1)).toBe(
      'goes on: it is paused by ann',
    );
  });
});

describe('tasks that are changing the same file', () => {
  it.each([LinesView, VerboseView])('are told while that can still be mended: %o', (View) => {
    const screen = new FakeScreen();
    const view = new View(screen);
    view.show({ type: 'tasks.overlap', atMs: 1, path: 'a.ts', tasks: ['login', 'cart'] });
    expect(screen.written.join('')).toContain('login and cart are changing a.ts at the same time');
  });
});

describe('the verbose view of a mission that changes a repository', () => {
  it('has a line for everything that an agent and a gate do', () => {
    const screen = new FakeScreen();
    const view = new VerboseView(screen);
    for (const event of story) view.show(event);
    expect(screen.written).toHaveLength(story.length);
    const written = screen.written.join('');
    for (const part of [
      `login, claude begins to edit: Edit: src/login.ts [${path}]`,
      'login, claude has used $0.40',
      'login, the gate test is run',
      'login, the gate test has failed in 1.5 s: exit code 1; 2 of 12 tests failed; npm test; log: /repo',
      'a limit is near: the mission has used $4.10 of $5.00 (82 %)',
      'paused by ann',
    ])
      expect(written).toContain(part);
  });

  const said: readonly [Coding, string][] = [
    [{ type: 'session.started', sessionId: 's1', model: 'm' }, 'begins session s1 with m'],
    [{ type: 'said', text: 'one\n two' }, 'says: one two'],
    [{ type: 'planned', entries: [{ text: 'a', status: 'open' }] }, 'plans: a (open)'],
    [{ type: 'permission.answered', kind: 'fetch', title: 'x', isAllowed: false }, 'may not fetch: x'],
    [{ type: 'usage', usage: {} }, 'has used something, and does not say what'],
    [
      { type: 'rate.limited', reason: 'r', retryAtMs: 0, isFinal: false },
      'waits for its provider: r, until 1970-01-01T00:00:00.000Z',
    ],
    [
      { type: 'rate.limited', reason: 'r', retryAtMs: 1e300, isFinal: true },
      'gives up at a limit of its provider: r, until nobody knows when',
    ],
    [{ type: 'ended', isError: false, reason: 'success' }, 'says that it is done: success'],
    [{ type: 'unreadable', text: 'x' }, 'prints what is no event: x'],
  ];
  it.each(said)('says of %j what it is', (event, text) => {
    expect(codingText(event)).toBe(text);
  });
});

describe('the view for scripts', () => {
  it('writes each event as one line of JSON, and the report as the last', () => {
    const screen = new FakeScreen();
    const view = new NdjsonView(screen);
    for (const event of story) view.show(event);
    view.close();
    const written = screen.written.join('').trimEnd().split('\n');
    expect(written.map((line) => JSON.parse(line) as unknown)).toEqual(
      story.map((event) => JSON.parse(JSON.stringify(event)) as unknown),
    );
    const report: MissionReport = {
      ...{ format: 'orrery-report', version: 1, mission: { name: 'shop' }, root: '/r', startedAtMs: 0 },
      ...{ durationMs: 1, stopReason: 'all-accepted', exitCode: 0, assigner: 'sun', gate: 'mercury' },
      ...{ findings: [], suppressed: [], refused: [], tasks: [] },
    };
    const last = JSON.parse(reportLine(report)) as { readonly type: string; readonly report: unknown };
    expect(last.type).toBe('report');
    expect(MissionReport.parse(last.report)).toEqual(report);
  });

  it('has no character in a line that a terminal acts on or that ends a line, and loses none', () => {
    const screen = new FakeScreen();
    const text = '\x1b[2J\x9b31m\u2028\u202e\n\x7f"\ud800';
    new NdjsonView(screen).show(coding('login', { type: 'said', text }));
    // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what must not be there
    expect(screen.written[0]?.slice(0, -1)).not.toMatch(/[\x00-\x1f\x7f-\x9f\u2028\u202e]/);
    expect(JSON.parse(screen.written[0] ?? '')).toMatchObject({ event: { text } });
  });
});
