import { parse } from 'parse5';
import { describe, expect, it } from 'vitest';
import type { LoopEvent } from '../../loop/loop-event.ts';
import { buildReport } from '../../report/build-report.ts';
import type { Choice } from '../../loop/choice.ts';
import { explainTask } from '../../report/explain-task.ts';
import { htmlReport } from '../../report/html-report.ts';
import { MissionReport } from '../../report/mission-report.ts';
import { plain } from '../../report/paint.ts';
import { advanceSpending, NO_SPENDING, usedBy } from '../../report/spending.ts';
import { terminalReport } from '../../report/terminal-report.ts';
import { shortUsage, usageText } from '../../report/usage-text.ts';
import { attempt, FEEDBACK, outcome, receipt, refused, tested, view } from './changes.ts';
import { finding } from './fake-team.ts';

const working = (task: string): LoopEvent => ({
  ...{ type: 'task.changed', atMs: 1, task, title: task, status: 'working', attempt: 1, agent: 'claude' },
  why: '',
  findings: [],
});
const used = (task: string, usage: object): LoopEvent => ({
  ...{ type: 'task.coding', atMs: 2, task, agent: 'claude' },
  event: { type: 'usage', usage },
});

const login = view('login', 'accepted', {
  attempts: [
    attempt({ ended: 'refused', reason: FEEDBACK }),
    attempt({ number: 2, usage: { costUsd: 0.5 } }),
  ],
  commit: 'c'.repeat(40),
  receipts: [receipt(), tested(), receipt(), tested()],
  why: 'merged as cccccccccc; its gates have passed: lint, test',
  result: { findings: [], notes: [], summary: 'All done!' },
});
const cart = view('cart', 'exhausted', {
  attempts: [attempt({ agent: 'codex', ended: 'refused', reason: FEEDBACK })],
  receipts: [refused()],
  why: FEEDBACK,
});
const search = view('search', 'cancelled', { why: 'the mission was stopped' });

describe('what coding agents have used', () => {
  const after = (...events: LoopEvent[]) => events.reduce(advanceSpending, NO_SPENDING).get('login');

  it('is the last that each has said, added up, with how often one was asked and has told it', () => {
    const spending = after(
      working('login'),
      used('login', { inputTokens: 10, costUsd: 0.25 }),
      used('login', { inputTokens: 30, costUsd: 0.5 }),
      working('login'),
      working('login'),
      used('login', { inputTokens: 5 }),
    );
    expect(spending && usedBy(spending)).toEqual({ inputTokens: 35, costUsd: 0.5 });
    expect(spending).toMatchObject({ asked: 3, told: 2 });
  });

  it('has what reviewers have used beside it, who are not asked to do the task', () => {
    const reviewed = { ...used('login', { costUsd: 0.25 }), agent: 'codex-review' } as LoopEvent;
    const once = [working('login'), used('login', { costUsd: 1 }), reviewed, reviewed];
    const [first, twice] = [after(...once), after(...once, ...once)];
    expect([first, twice].map((each) => each && usedBy(each))).toEqual([{ costUsd: 1.25 }, { costUsd: 2.5 }]);
    expect(twice).toMatchObject({ asked: 2, told: 2 });
  });

  it('keeps what an agent has not said again', () => {
    const spending = after(
      working('login'),
      used('login', { inputTokens: 10 }),
      used('login', { costUsd: 1 }),
    );
    expect(spending && usedBy(spending)).toEqual({ inputTokens: 10, costUsd: 1 });
  });

  it('is said as a person says it, and not at all where nothing is known', () => {
    expect(usageText({ costUsd: 0.4234, inputTokens: 12_000, outputTokens: 900 })).toBe(
      '$0.42, 12,000 tokens in, 900 out',
    );
    expect([{ costUsd: 0 }, { costUsd: 0.0042 }, { outputTokens: 7 }, {}].map(usageText)).toEqual([
      ...['$0.00', '$0.0042', '7 tokens out'],
      undefined,
    ]);
    expect(
      [{ costUsd: 2, inputTokens: 5 }, { inputTokens: 900, outputTokens: 100 }, {}].map(shortUsage),
    ).toEqual([...['$2.00', '1,000 tokens'], undefined]);
  });
});

describe('the report of a mission that changes the repository', () => {
  const report = buildReport(outcome([login, cart, search], { stopReason: 'interrupted' }));

  it('has the commit, the receipts, the gates that were not run, and what was used', () => {
    expect(report.tasks.map(({ commit, notRun, usage }) => ({ commit, notRun, usage }))).toEqual([
      { commit: 'c'.repeat(40), notRun: undefined, usage: { costUsd: 0.5, asked: 2, told: 1 } },
      { commit: undefined, notRun: ['lint'], usage: { asked: 1, told: 0 } },
      { commit: undefined, notRun: undefined, usage: undefined },
    ]);
    expect(report.tasks[0]?.receipts).toHaveLength(4);
    expect(report.code).toEqual({ branch: 'orrery/shop', base: 'b'.repeat(40) });
    expect(MissionReport.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
  });

  it('has what was told while it ran, in place of what its attempts have kept', () => {
    const events = [
      working('login'),
      used('login', { costUsd: 1 }),
      working('login'),
      used('login', { costUsd: 2 }),
    ];
    const spending = events.reduce(advanceSpending, NO_SPENDING);
    const [task] = buildReport(outcome([login]), { spending }).tasks;
    expect(task?.usage).toEqual({ costUsd: 3, asked: 2, told: 2 });
  });

  it('says nothing of changes where none was meant', () => {
    const { tasks, code } = buildReport(outcome([view('types', 'accepted')], { code: undefined as never }));
    expect(Object.keys(tasks[0] ?? {})).not.toContain('receipts');
    expect(code).toBeUndefined();
    expect(terminalReport(buildReport(outcome([view('types', 'accepted')])))).toEqual([
      'No findings.',
      '',
      'shop on /repo: all tasks accepted (all-accepted), 1 of 1 task accepted, 0 findings, 1 min 4 s',
    ]);
  });

  it('says on a terminal what was accepted as which commit, what was not and why, and how to look at it', () => {
    expect(terminalReport(report)).toEqual([
      'Changes on orrery/shop, from bbbbbbbbbb',
      '  login: accepted as cccccccccc by claude after 2 attempts; cost at least $0.50 (told 1 of 2 times)',
      '    lint passed on the merged files: exit code 0; no count of tests was found  log: .orrery/logs/r1/login/merge-1/1-lint.log',
      '    test passed on the merged files: exit code 0, 12 tests passed  log: .orrery/logs/r1/login/merge-1/2-test.log',
      '  cart: exhausted at the first attempt by codex: The gate "test" failed: exit code 1; 2 of 12 tests failed.; cost unknown, for no agent has told it',
      '    test failed in its worktree: exit code 1; 2 of 12 tests failed  log: .orrery/logs/r1/login/merge-1/2-test.log',
      '    not run: lint',
      '  search: cancelled, not begun: the mission was stopped',
      '  cost of all: at least $0.50 (told 1 of 3 times)',
      '  to look at it: git log --stat bbbbbbbbbb..orrery/shop',
      '',
      'Summaries',
      '  login, says its agent: All done!',
      '',
      'Retried',
      '  login, attempt 1 by claude: refused: The gate "test" failed: exit code 1; 2 of 12 tests failed.',
      '  login, attempt 2 by claude: accepted',
      '',
      'shop on /repo: stopped (interrupted), 1 of 3 tasks accepted, cost at least $0.50 (told 1 of 3 times), 1 min 4 s',
    ]);
    expect(terminalReport(report, plain, 'brief').filter((line) => line.startsWith('    '))).toEqual([]);
  });

  it('keeps what gates printed out of its lines, also where a task is explained', () => {
    for (const lines of [terminalReport(report, plain, 'full'), explainTask(report, 'cart')])
      expect(lines.join('\n')).not.toMatch(/FAIL|\\x0a/);
  });

  it('does not call a change checked that no receipt is known of, and says when nothing was merged', () => {
    const before = view('login', 'accepted', {
      attempts: [attempt()],
      commit: 'd'.repeat(40),
      why: 'it was merged as dddddddddd in a run before',
    });
    expect(terminalReport(buildReport(outcome([before]))).slice(1, 3)).toEqual([
      '  login: accepted as dddddddddd by claude at the first attempt: it was merged as dddddddddd in a run before; cost unknown, for no agent has told it',
      '    no receipt of a gate is known',
    ]);
    expect(terminalReport(buildReport(outcome([search], { stopReason: 'interrupted' })))).toContain(
      '  nothing was merged',
    );
  });

  it('keeps findings and changes apart in a mission that has both', () => {
    const types = view('types', 'accepted', { findings: [finding()] });
    const lines = terminalReport(buildReport(outcome([login, types])));
    expect(lines[0]).toBe('HIGH (1)');
    expect(lines.at(-1)).toContain('1 finding');
    const clean = terminalReport(
      buildReport(outcome([cart, view('types', 'accepted')], { stopReason: 'task-failed' })),
    );
    expect(clean[0]).toBe('No findings.');
  });

  it('quotes a branch whose name means something to a shell', () => {
    const code = { branch: "it's;rm", base: 'b'.repeat(40) };
    expect(terminalReport(buildReport(outcome([login], { code }))).join('\n')).toContain(
      "git log --stat 'bbbbbbbbbb..it'\\''s;rm'",
    );
  });

  it('prints nothing that a terminal would act on', () => {
    const hostile = view('cart', 'failed', {
      attempts: [attempt({ ended: 'lost', reason: '\x1b]0;owned\x07' })],
      receipts: [refused({ why: '\x1b[2J', logFile: '/repo/\u202e.log' })],
      why: '\x1b]0;owned\x07\nmore',
      result: { findings: [], notes: [], summary: '\x1b[31mred' },
    });
    const hostileReport = buildReport(outcome([hostile], { stopReason: 'task-failed' }));
    const text = terminalReport(hostileReport, plain, 'full').join('\n');
    expect(text).toContain('\\x1b]0;owned\\x07');
    for (const page of [text, htmlReport(hostileReport)])
      for (const sign of ['\x1b', '\x07', '\u202e']) expect(page).not.toContain(sign);
  });

  it('says beneath a task who bid for it, who was chosen and why, and who did not take it on', () => {
    const choices: Choice[] = [
      {
        ...{ attempt: 1, agent: 'gemini', reason: 'it has the least to do' },
        bids: [
          { agent: 'gemini', load: 0 },
          { agent: 'claude', load: 2 },
        ],
        answers: [
          { agent: 'gemini', said: 'declined', reason: 'BUSY\x1b', named: 'codex' },
          { agent: 'codex', said: 'accepted' },
        ],
      },
      {
        ...{ attempt: 2, agent: 'codex', reason: 'it has the least to do' },
        bids: [
          { agent: 'codex', load: 0 },
          { agent: 'claude', load: 2 },
          { agent: 'gemini', load: 0, out: 'declined: BUSY' },
        ],
        answers: [{ agent: 'codex', said: 'accepted' }],
      },
      { attempt: 2, agent: 'codex', bids: [], answers: [{ agent: 'codex', said: 'accepted' }] },
    ];
    const types = view('types', 'accepted', { choices: choices.slice(1, 2) });
    const chosen = buildReport(outcome([{ ...login, context: { ...login.context, choices } }, types]));
    expect(MissionReport.parse(JSON.parse(JSON.stringify(chosen))).tasks[0]?.choices).toEqual(
      choices.slice(0, 2),
    );
    const lines = terminalReport(chosen);
    expect(lines.slice(lines.findIndex((line) => line.startsWith('  login')) + 1)).toEqual(
      expect.arrayContaining([
        '    codex has it instead of gemini (0 to do, claude 2); gemini declined: BUSY\\x1b, and named codex',
        '    codex has it: it has the least to do (0 to do, claude 2); gemini declined: BUSY',
        'Chosen among several',
        '  types: codex has it: it has the least to do (0 to do, claude 2); gemini declined: BUSY',
      ]),
    );
    expect(explainTask(chosen, 'login').slice(2, 10)).toEqual([
      '    for attempt 1 sun chose gemini: it has the least to do',
      '      gemini: 0 to do',
      '      claude: 2 to do',
      '      gemini declined: BUSY\\x1b, and named codex',
      '      codex took it on',
      '    for attempt 2 sun chose codex: it has the least to do',
      '      codex: 0 to do',
      '      claude: 2 to do',
    ]);
    const page = htmlReport(chosen);
    expect(page).toContain('<th>for attempt 2</th>');
    expect(page).toContain(
      '<tr><td>codex</td><td>0</td><td>chosen: it has the least to do</td><td>codex took it on</td></tr>',
    );
    expect(page).toContain('<tr><td>gemini</td><td>0</td><td>declined: BUSY</td><td></td></tr>');
    expect(page).not.toContain('\x1b');
    expect(terminalReport(chosen, plain, 'brief').join()).not.toContain('has it');
  });

  it('says the same as a page', () => {
    const page = htmlReport(report);
    for (const part of [
      'On <code>orrery/shop</code>',
      '<code>git log --stat bbbbbbbbbb..orrery/shop</code>',
      'accepted as cccccccccc by claude after 2 attempts',
      '<td><code>npm test</code></td><td>merged files</td><td><strong class="good">passed</strong>: exit code 0, 12 tests passed</td><td>12 passed, 0 failed, 0 left out (vitest)</td>',
      '<td>not counted</td>',
      '<td>worktree</td><td><strong class="bad">failed</strong>',
      '<code>.orrery/logs/r1/login/merge-1/2-test.log</code>',
      '<p>not run: lint</p>',
      'Its agent says: All done!',
    ])
      expect(page).toContain(part);
    expect(page).not.toContain('FAIL');
    const faults: string[] = [];
    parse(page, { onParseError: ({ code }) => faults.push(code) });
    expect(faults).toEqual([]);
  });
});
