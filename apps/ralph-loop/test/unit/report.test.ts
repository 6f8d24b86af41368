import type { A2AMessageType } from 'orrery';
import { describe, expect, it } from 'vitest';
import type { Severity } from '../../findings/finding.ts';
import type { MissionOutcome } from '../../loop/mission-outcome.ts';
import { type TaskContext, newTask } from '../../loop/task-context.ts';
import type { TaskStatus } from '../../loop/task-status.ts';
import type { TaskView } from '../../loop/why-it-goes-on.ts';
import { workItems } from '../../loop/work-item.ts';
import { parseMission } from '../../mission/read-mission.ts';
import { buildReport } from '../../report/build-report.ts';
import { Baseline } from '../../report/baseline.ts';
import { MissionReport, type Receipts } from '../../report/mission-report.ts';
import { plain } from '../../report/paint.ts';
import { byteCount, duration, printable } from '../../report/printable.ts';
import { explainTask } from '../../report/explain-task.ts';
import { terminalReport } from '../../report/terminal-report.ts';
import { type ThreadEntry, threadEntry } from '../../report/thread-entry.ts';
import { finding } from './fake-team.ts';

const mission = parseMission(
  JSON.stringify({
    version: 1,
    name: 'audit',
    limits: { maxAttempts: 2 },
    tasks: ['a', 'b', 'c', 'd'].map((id) => ({ id, title: id.toUpperCase(), capability: 'work' })),
  }),
  'test',
);
const items = workItems(mission);

const view = (id: string, status: TaskStatus, over: Partial<TaskContext> = {}): TaskView => {
  const item = items.find((candidate) => candidate.id === id);
  if (item === undefined) throw new Error(`no item ${id}`);
  return { status, context: { ...newTask({ item, maxAttempts: 2 }), ...over } };
};

const outcome = (tasks: readonly TaskView[], over: Partial<MissionOutcome> = {}): MissionOutcome => ({
  mission,
  root: '/repo',
  stopReason: 'all-accepted',
  startedAtMs: 1_000,
  endedAtMs: 5_200,
  assigner: 'sun',
  gate: 'mercury',
  tasks,
  ...over,
});

const envelope = (over: Partial<ThreadEntry>): ThreadEntry => ({
  id: 'e1',
  atMs: 1_500,
  sender: 'system/host',
  recipient: 'mars',
  type: 'task-proposal',
  says: 'proposes "A"',
  ...over,
});

const receipts: Receipts = {
  envelopes: { accepted: 5, handled: 4, rejected: 0, expired: 0, deadLettered: 1, inFlight: 0, holds: true },
  agents: [
    { id: 'mars', name: 'MARS', place: 'worker-1', status: 'running', restarts: 1 },
    { id: 'sun', name: 'SUN', place: 'worker-2', status: 'running', restarts: 0 },
  ],
  deadLetters: [{ sender: 'system/host', recipient: 'mars', code: 'ACTOR_DIED', reason: 'mars died' }],
  threads: [
    { correlationId: 'audit/a', envelopes: [envelope({}), envelope({ id: 'e2', type: 'task-accept' })] },
  ],
};

const attempt = { agent: 'mars', place: 'worker-1', startedAtMs: 1_000, durationMs: 1_500, gateMs: 20 };

describe('a report', () => {
  it('has the findings of all tasks, most severe first, each once', () => {
    const twice = finding({ id: 'same', severity: 'low' });
    const report = buildReport(
      outcome([
        view('a', 'accepted', { findings: [twice, finding({ id: 'f1', severity: 'medium' })] }),
        view('b', 'failed', { findings: [twice, finding({ id: 'f2', severity: 'critical' })] }),
      ]),
    );
    expect(report.findings.map(({ id, task }) => `${id} of ${task}`)).toEqual([
      'f2 of b',
      'f1 of a',
      'same of a',
    ]);
    expect(MissionReport.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
  });

  it('has what nobody judged any more, marked so, and once where another task had it judged', () => {
    const report = buildReport(
      outcome([
        view('a', 'cancelled', { unjudged: [finding({ id: 'f1' }), finding({ id: 'f2', severity: 'low' })] }),
        view('b', 'accepted', { findings: [finding({ id: 'f1' })] }),
      ]),
    );
    expect(report.findings.map(({ id, task, judged }) => [id, task, judged])).toEqual([
      ['f1', 'b', undefined],
      ['f2', 'a', false],
    ]);
    expect(MissionReport.parse(JSON.parse(JSON.stringify(report)))).toEqual(report);
  });

  const failing: readonly [Severity | undefined, Severity, string, number][] = [
    [undefined, 'critical', 'all-accepted', 0],
    ['high', 'medium', 'all-accepted', 0],
    ['high', 'high', 'findings-at-or-above', 1],
    ['high', 'critical', 'findings-at-or-above', 1],
    ['info', 'info', 'findings-at-or-above', 1],
  ];
  it.each(failing)(
    'with --fail-on %s and a %s finding ends as %s',
    (failOn, severity, stopReason, exitCode) => {
      const tasks = [view('a', 'accepted', { findings: [finding({ severity })] })];
      const report = buildReport(outcome(tasks), failOn === undefined ? {} : { failOn });
      expect(report).toMatchObject({ stopReason, exitCode });
    },
  );

  it('of a stopped run exits by its signal', () => {
    const stopped = outcome([view('a', 'cancelled')], { stopReason: 'interrupted' });
    expect(buildReport(stopped).exitCode).toBe(130);
    expect(buildReport(stopped, { signalNumber: 15 }).exitCode).toBe(143);
    expect(buildReport(outcome([view('a', 'accepted')]), { signalNumber: 15 }).exitCode).toBe(0);
  });
});

describe('a report on the terminal', () => {
  it('says what was found, who did what, and what was retried, refused, escalated and left', () => {
    const tasks = [
      view('a', 'accepted', {
        findings: [finding()],
        attempts: [
          { ...attempt, number: 1, ended: 'lost', code: 'ACTOR_DIED', reason: 'ACTOR_DIED: boom' },
          { ...attempt, number: 2, ended: 'accepted' },
        ],
        refused: [{ finding: finding({ id: 'f2', line: 9 }), reason: 'no such line' }],
        result: {
          findings: [],
          notes: [{ kind: 'binary', file: 'x.bin', reason: 'is binary' }],
          filesSeen: 1,
          bytesSeen: 2_500,
        },
      }),
      view('b', 'escalated', { why: 'nobody is left' }),
      view('c', 'cancelled', { why: 'the mission was stopped' }),
    ];
    const report = buildReport(outcome(tasks, { stopReason: 'human-needed' }), { receipts });
    expect(terminalReport(report)).toEqual([
      'HIGH (1)',
      '  a.ts:3  wrong  planted, mars',
      '      a();',
      '',
      'Retried',
      '  a, attempt 1 by mars: lost: ACTOR_DIED: boom',
      '  a, attempt 2 by mars: accepted',
      '',
      'Refused by mercury',
      '  a: a.ts:9 planted: no such line',
      '',
      'Escalated',
      '  b: nobody is left',
      '',
      'Left',
      '  c: the mission was stopped',
      '',
      'Notes: binary 1 (--verbose lists them)',
      'Receipts: 5 envelopes, each accounted for; 1 restart; 1 dead letter',
      'audit on /repo: a human is needed (human-needed), 1 of 3 tasks accepted, 1 finding, 4.2 s',
    ]);
    const brief = terminalReport(report, plain, 'brief');
    expect(brief).toHaveLength(5);
    expect(brief.at(-1)).toContain('a human is needed');
    const full = terminalReport(report, plain, 'full');
    expect(full.slice(full.indexOf('Tasks'), full.indexOf('Tasks') + 4)).toEqual([
      'Tasks',
      '  a  accepted   mars  worker-1  2 attempts  3.0 s  1 file, 2.5 KB',
      '  b  escalated  -     -         0 attempts  0 ms                   nobody is left',
      '  c  cancelled  -     -         0 attempts  0 ms                   the mission was stopped',
    ]);
    expect(full.slice(full.indexOf('Left out'))).toEqual([
      'Left out',
      '  a: x.bin is binary',
      '',
      'Receipts',
      '  envelopes: 5 accepted = 4 handled + 0 rejected + 0 expired + 1 dead-lettered + 0 in flight',
      '  restarts: mars 1',
      '  dead letter to mars: ACTOR_DIED: mars died',
      '',
      'audit on /repo: a human is needed (human-needed), 1 of 3 tasks accepted, 1 finding, 4.2 s',
    ]);
  });

  it('shows what nobody judged, what several tools say, what agents sum up, and what there was none of', () => {
    const nothing = { findings: [], notes: [], nothing: 'no stylesheets' };
    const tasks = [
      view('a', 'cancelled', { unjudged: [finding()], why: 'stopped' }),
      view('b', 'accepted', {
        findings: [finding({ id: 'x', line: 5, rule: 'one/no-eval' })],
        result: { findings: [], notes: [], summary: '3 of 4 tools ran' },
      }),
      view('c', 'accepted', { findings: [finding({ id: 'y', line: 5, rule: 'two/no-eval', agent: 'io' })] }),
      view('d', 'nothing', { result: nothing, why: 'nothing to read: no stylesheets' }),
    ];
    const lines = terminalReport(buildReport(outcome(tasks, { stopReason: 'interrupted' })));
    expect(lines).toContain('  a.ts:3  wrong  planted, mars, not judged');
    expect(lines).toContain('  a.ts:5  wrong  one/no-eval, mars; also two/no-eval, io');
    expect(lines).toContain('  b: 3 of 4 tools ran');
    expect(lines).toContain('Nothing to read: d (no stylesheets)');
    expect(lines.at(-1)).toContain('2 of 4 tasks accepted, 1 with nothing to read, 2 findings');
  });

  it('names a few of the tasks that were left for the same reason, and counts the others', () => {
    const left = (many: number) => {
      const whole = workItems({
        ...mission,
        tasks: Array.from({ length: many }, (_, at) => ({ id: `t${at}`, title: 'T', capability: 'work' })),
      });
      const tasks = whole.map((item): TaskView => {
        const context = { ...newTask({ item, maxAttempts: 1 }), why: 'the mission was stopped' };
        return { status: 'cancelled', context };
      });
      const lines = terminalReport(buildReport(outcome(tasks, { stopReason: 'interrupted' })));
      return lines.slice(lines.indexOf('Left') + 1, -2);
    };
    expect(left(2)).toEqual(['  2 tasks were not done: t0 and t1 (the mission was stopped)']);
    expect(left(4)).toEqual(['  4 tasks were not done: t0, t1, t2 and t3 (the mission was stopped)']);
    expect(left(19)).toEqual(['  19 tasks were not done: t0, t1, t2 and 16 more (the mission was stopped)']);
  });

  it('counts what the former report had, and what is off', () => {
    const tasks = [
      view('a', 'accepted', { findings: [finding(), finding({ id: 'f2', line: 9, rule: 'off/one' })] }),
    ];
    const baseline = Baseline.parse({ format: 'orrery-report', findings: [finding()] });
    const report = buildReport(outcome(tasks), {
      baseline,
      levels: new Map([['off', 'off']]),
      failOn: 'info',
    });
    expect(report.stopReason).toBe('all-accepted');
    expect(terminalReport(report).slice(0, 3)).toEqual([
      'No findings.',
      '1 finding of the former report not listed',
      '1 finding of rules that are off not listed',
    ]);
  });

  it('claims to have found nothing only of tasks that were accepted', () => {
    const first = (...statuses: TaskStatus[]) =>
      terminalReport(
        buildReport(outcome(statuses.map((status, index) => view('abc'[index] ?? '', status)))),
      )[0];
    expect(first('accepted', 'accepted')).toBe('No findings.');
    expect(first('accepted', 'cancelled', 'failed')).toBe(
      'No findings in 1 of 3 tasks; the others were not accepted.',
    );
    expect(first('cancelled', 'escalated')).toBe('Nothing can be said about findings: no task was accepted.');
  });

  it('does not list ten thousand findings', () => {
    const findings = Array.from({ length: 10_000 }, (_, index) => finding({ id: `f${index}` }));
    const lines = terminalReport(buildReport(outcome([view('a', 'accepted', { findings })])));
    expect(lines.length).toBeLessThan(150);
    expect(lines).toContain('  ... and 9980 more; --json FILE has them all');
  });

  it('prints nothing that a terminal would act on', () => {
    const hostile = finding({ file: '\x1b]0;owned\x07.ts', message: 'a\nb\u202Ec', evidence: '\u009b2J' });
    const text = terminalReport(buildReport(outcome([view('a', 'accepted', { findings: [hostile] })]))).join(
      '',
    );
    expect(text).toContain('\\x1b]0;owned\\x07.ts:3  a\\x0ab\\u202ec');
    expect(text).toContain('\\x9b2J');
  });
});

describe('numbers', () => {
  it('are said as a person says them', () => {
    expect([0, 999, 1_000, 59_999, 83_000].map(duration)).toEqual([
      '0 ms',
      '999 ms',
      '1.0 s',
      '60.0 s',
      '1 min 23 s',
    ]);
    expect([0, 999, 2_500, 2_000_000_000].map(byteCount)).toEqual(['0 B', '999 B', '2.5 KB', '2.0 GB']);
    expect(printable('plain ü text')).toBe('plain ü text');
  });
});

describe('the thread of a task', () => {
  const base = {
    id: 'e',
    schemaVersion: 1,
    sender: 'a',
    recipient: 'b',
    correlationId: 'c',
    timestamp: 5,
  } as const;
  const said: readonly [A2AMessageType, unknown, Record<string, unknown>, string][] = [
    [
      'task-proposal',
      { taskDescription: 'Check', requiredCapabilities: ['types.check'], deadlineMs: 5_000 },
      { escalationJustification: 'it is above me' },
      'proposes "Check" (types.check), answer within 5.0 s, because it is above me',
    ],
    ['task-accept', { estimatedCompletionMs: 61_000 }, {}, 'would take it on, about 1 min 1 s'],
    [
      'task-accept',
      { acceptedBy: 'mars', epoch: 2, leaseMs: 10_000 },
      {},
      'gives it to mars (epoch 2), for 10.0 s at a time',
    ],
    ['task-accept', { estimatedCompletionMs: 5, epoch: 2 }, {}, 'has it (epoch 2)'],
    ['task-reject', { rejectionReason: 'COMPLETED' }, {}, 'says that it is done'],
    [
      'task-reject',
      { rejectionReason: 'BUSY', alternativeSuggestion: 'venus' },
      {},
      'refuses: BUSY, names venus',
    ],
    ['request', { feedback: 'wrong line' }, { capability: 'work' }, 'asks for work, again: wrong line'],
    ['response', { findings: [1, 2] }, {}, '2 findings'],
    ['response', { verdict: 'REJECTED', feedback: 'no such line' }, {}, 'REJECTED: no such line'],
    ['response', { decision: 'human', reason: 'nobody left' }, {}, 'human: nobody left'],
    ['response', undefined, {}, 'nothing'],
    ['notification', { any: 'thing' }, {}, '{"any":"thing"}'],
    ['error', { code: 'ACTOR_DIED', message: 'mars died' }, {}, 'ACTOR_DIED: mars died'],
  ];
  it.each(said)('says what a %s with %j says', (type, payload, metadata, words) => {
    const entry = threadEntry({ ...base, type, payload, metadata: { tier: 2, ...metadata } });
    expect(entry).toEqual({ id: 'e', atMs: 5, sender: 'a', recipient: 'b', type, says: words });
  });

  it('cuts what is long, and names the envelope that is answered', () => {
    const payload = { any: 'x'.repeat(10_000) };
    const entry = threadEntry({ ...base, type: 'response', payload, metadata: { tier: 2, inReplyTo: 'q' } });
    expect(entry.says).toHaveLength(300);
    expect(entry.inReplyTo).toBe('q');
  });

  it('is explained line by line, with the ids of the envelopes', () => {
    const report = buildReport(outcome([view('a', 'accepted', { why: 'the gate approved it' })]), {
      receipts,
    });
    expect(explainTask(report, 'a')).toEqual([
      'Task a',
      '  a is accepted: the gate approved it',
      '',
      '  +500 ms  e1  system/host -> mars  task-proposal  proposes "A"',
      '  +500 ms  e2  system/host -> mars  task-accept    proposes "A"',
      '',
    ]);
    const { receipts: _, ...without } = report;
    expect(explainTask(without, 'a').join()).toContain('No envelope of it is known any more');
  });
});
