import { describe, expect, it } from 'vitest';
import { brokenPromises, newFigures, tableOf } from '../../chaos/figures.ts';
import { judgeMail, type MailPast } from '../../chaos/mail-judge.ts';
import { planOf, type Plan } from '../../chaos/mail-plan.ts';
import { judgeMission, type MissionPast } from '../../chaos/mission-judge.ts';
import { readLog } from '../../chaos/mission-log.ts';
import { growth, type Sample } from '../../chaos/soak-judge.ts';

/** The first number from `from` on that is planned so. */
function numberOf(wanted: Partial<Plan>, from = 0): number {
  for (let n = from; ; n++) {
    const plan = planOf(n);
    if (Object.entries(wanted).every(([field, value]) => plan[field as keyof Plan] === value)) return n;
  }
}

describe('What is counted of mail', () => {
  const handled = numberOf({ to: 'once-mail', deed: 'handle' });
  const later = numberOf({ to: 'once-mail', deed: 'handle' }, handled + 1);
  const brief = numberOf({ to: 'retry-mail', deed: 'brief' });
  const relayed = numberOf({ to: 'relay', deed: 'handle' });
  const done = (who: 'once-mail' | 'retry-mail' | 'relay', n: number, pid = 1) =>
    (['started', 'finished'] as const).map((what) => ({ what, who, n, pid }));
  const judged = (past: Partial<MailPast>) => {
    const figures = newFigures();
    judgeMail({ acknowledged: [], books: [], letters: [], ...past }, figures);
    return figures;
  };

  it('is whole when everything acknowledged came to an outcome that somebody knows', () => {
    const figures = judged({
      acknowledged: [handled, later, brief, relayed],
      books: [...done('once-mail', handled), ...done('relay', relayed), ...done('once-mail', relayed)],
      letters: [
        { recipient: 'once-mail', code: 'ACTOR_DIED', n: later },
        { recipient: 'retry-mail', code: 'POISON', n: relayed },
      ],
    });
    expect(brokenPromises(figures)).toEqual([]);
    expect(figures).toMatchObject({ accepted: 6, handled: 3, expired: 1, deadLettered: 2 });
  });

  it.each<[string, Partial<MailPast>, object]>([
    ['is acknowledged and gone', { acknowledged: [handled] }, { gone: 1 }],
    [
      'was passed on to one of two',
      { acknowledged: [relayed], books: [...done('relay', relayed), ...done('once-mail', relayed)] },
      { gone: 1 },
    ],
    [
      'was begun, and nobody knows more',
      { acknowledged: [handled], books: done('once-mail', handled).slice(0, 1) },
      { unknown: 1 },
    ],
    [
      'was begun twice for once',
      { books: [...done('once-mail', handled), ...done('once-mail', handled, 2)] },
      { appliedTwice: 1 },
    ],
    [
      'was done twice in one process for retry',
      { books: [...done('retry-mail', brief), ...done('retry-mail', brief)] },
      { appliedTwice: 1 },
    ],
  ])('names what %s', (_, past, counts) => {
    const figures = judged(past);
    expect(figures).toMatchObject(counts);
    expect(brokenPromises(figures)).not.toEqual([]);
  });

  it.each<[string, Partial<MailPast>]>([
    ['another order', { books: [...done('once-mail', later), ...done('once-mail', handled)] }],
    ['a letter without a name', { letters: [{ recipient: 'once-mail', code: 'ACTOR_DIED' }] }],
    [
      'a letter with another code',
      { letters: [{ recipient: 'once-mail', code: 'THREAD_DIED', n: handled }] },
    ],
    [
      'two letters of one',
      { letters: Array(2).fill({ recipient: 'once-mail', code: 'ACTOR_DIED', n: handled }) },
    ],
  ])('does not take %s', (_, past) => {
    expect(brokenPromises(judged(past))).not.toEqual([]);
  });

  it('lets retry try again in another process', () => {
    const figures = judged({ books: [...done('retry-mail', brief), ...done('retry-mail', brief, 2)] });
    expect(brokenPromises(figures)).toEqual([]);
    expect(figures.notes.get('tried again')).toBe(1);
  });
});

describe('What is counted of a mission', () => {
  const line = (text: string) => `[   0.1 s] ${text}`;
  const BEGINS = line('m: 2 tasks, assigned by sun, judged by mercury');
  const first = [
    BEGINS,
    line('a is working: x took it on'),
    line('a is accepted: approved'),
    line('b is working: x took it on'),
  ];
  const second = [
    BEGINS,
    line('a is accepted: it was accepted in a run before'),
    line('b is working: y took it on'),
    line('b is accepted: approved'),
  ];
  const effect = (kind: 'begun' | 'applied', task: string, pid: number) => ({ kind, task, pid });
  const effects = [
    ...(['begun', 'applied'] as const).map((kind) => effect(kind, 'a', 1)),
    effect('begun', 'b', 1),
    ...(['begun', 'applied'] as const).map((kind) => effect(kind, 'b', 2)),
  ];
  const attempt = {
    agent: 'x',
    place: 'worker-1',
    number: 1,
    startedAtMs: 0,
    durationMs: 1,
    ended: 'accepted',
  };
  const task = (id: string, status = 'accepted') => ({
    id,
    task: id,
    title: id,
    capability: 'c',
    status,
    why: 'w',
    correlationId: `m/${id}`,
    dependsOn: [],
    attempts: [attempt],
    notes: [],
  });
  const envelopes = {
    accepted: 3,
    handled: 2,
    rejected: 0,
    expired: 0,
    deadLettered: 0,
    inFlight: 1,
    holds: true,
  };
  const report = (over: object = {}) =>
    JSON.stringify({
      format: 'orrery-report',
      version: 1,
      mission: { name: 'm' },
      root: '/',
      startedAtMs: 0,
      durationMs: 1,
      stopReason: 'all-accepted',
      exitCode: 0,
      assigner: 'sun',
      gate: 'mercury',
      findings: [],
      refused: [],
      suppressed: [],
      tasks: [task('a'), task('b')],
      receipts: { envelopes, agents: [], deadLetters: [], threads: [] },
      ...over,
    });
  const judged = (over: Partial<MissionPast> & { second?: readonly string[] } = {}) => {
    const figures = newFigures();
    const lives = [first, over.second ?? second].map((lines, at) => ({
      pid: at + 1,
      log: readLog(lines),
      lines,
    }));
    judgeMission(
      { name: 'm', items: ['a', 'b'], lives, effects, findings: undefined, report: report(), ...over },
      figures,
    );
    return figures;
  };

  it('is whole when each task is accepted once, and nothing is done again', () => {
    const figures = judged();
    expect(brokenPromises(figures)).toEqual([]);
    expect(figures).toMatchObject({ accepted: 3, handled: 2 });
  });

  it.each<[string, Parameters<typeof judged>[0], object]>([
    [
      'is done again after it was reported',
      { second: [...second, line('a is working: x took it on')] },
      { appliedTwice: 1 },
    ],
    [
      'was reported and is forgotten',
      { second: second.filter((text) => !text.includes('run before')) },
      { gone: 1 },
    ],
    [
      'left a mark after it was accepted',
      { effects: [...effects, effect('begun', 'a', 2)] },
      { appliedTwice: 1 },
    ],
    ['left no mark', { effects: effects.filter((one) => one.task !== 'b') }, { gone: 1 }],
    ['was begun twice in one go', { effects: [...effects, effect('begun', 'b', 2)] }, { appliedTwice: 1 }],
    [
      'nobody can account for',
      {
        report: report({
          receipts: { envelopes: { ...envelopes, handled: 1 }, agents: [], deadLetters: [], threads: [] },
        }),
      },
      { unknown: 1 },
    ],
  ])('names what %s', (_, past, counts) => {
    const figures = judged(past);
    expect(figures).toMatchObject(counts);
    expect(brokenPromises(figures)).not.toEqual([]);
  });

  it.each<[string, Parameters<typeof judged>[0]]>([
    [
      'a task that could not be kept',
      { second: [...second, line('b is accepted, but that could not be kept: no room')] },
    ],
    ['a report with other tasks', { report: report({ tasks: [task('a')] }) }],
    [
      'a report of a task that is not accepted',
      { report: report({ tasks: [task('a'), task('b', 'failed')] }) },
    ],
    ['a report that ends otherwise', { report: report({ stopReason: 'task-failed' }) }],
    ['other findings', { findings: ['a code.eval a.ts:1'] }],
  ])('does not take %s', (_, past) => {
    expect(brokenPromises(judged(past))).not.toEqual([]);
  });
});

describe('What is made of samples', () => {
  const sample = (over: Partial<Sample> = {}): Sample => ({
    rssMb: 200,
    heapMb: 20,
    journalMb: 2,
    descriptors: 60,
    threads: 12,
    handles: 10,
    ...over,
  });

  it('is nothing where they go up and down, and while it warms up', () => {
    const samples = Array.from({ length: 100 }, (_, at) =>
      sample({ heapMb: 20 + (at % 10) * 3, rssMb: at < 20 ? 50 : 200 }),
    );
    expect(growth(samples)).toEqual([]);
  });

  it.each<[keyof Sample, number]>([
    ['rssMb', 4],
    ['heapMb', 1],
    ['descriptors', 1],
    ['threads', 0.5],
    ['handles', 1],
  ])('is growth of %s where it never stops', (name, step) => {
    const samples = Array.from({ length: 100 }, (_, at) => sample({ [name]: sample()[name] + at * step }));
    expect(growth(samples)).toEqual([expect.stringContaining(name)]);
  });
});

describe('The table', () => {
  it('has a row a scenario, and their sum', () => {
    const mail = { ...newFigures(), kills: 3, gone: 1, seconds: 1.25 };
    const lines = tableOf(
      new Map([
        ['mail', mail],
        ['soak', { ...newFigures(), kills: 4 }],
      ]),
    ).split('\n');
    expect(lines.map((text) => text.split(/ {2,}/).slice(0, 2))).toEqual([
      ['', 'kills'],
      ['mail', '3'],
      ['soak', '4'],
      ['all', '7'],
    ]);
    expect(brokenPromises(mail)).toEqual(['acknowledged but gone: 1']);
  });
});
