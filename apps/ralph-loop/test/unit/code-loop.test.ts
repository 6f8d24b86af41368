import { OrreryError } from 'orrery';
import { describe, expect, it } from 'vitest';
import { LimitedAgents } from '../../loop/limited-agents.ts';
import { rememberedEvents } from '../../loop/remembered-events.ts';
import type { RunMissionDeps } from '../../loop/mission-run.ts';
import { nextBatch } from '../../loop/schedule.ts';
import { type WorkItem, workItems } from '../../loop/work-item.ts';
import { parseMission } from '../../mission/read-mission.ts';
import { FakeTeam } from './fake-team.ts';
import { start } from './loop-of-fakes.ts';

const missionOf = (
  tasks: readonly Record<string, unknown>[],
  limits: object = { maxAttempts: 1 },
  code: object = {},
) =>
  parseMission(
    JSON.stringify({
      version: 1,
      name: 'm',
      limits,
      code: { gates: [{ name: 'g', run: 'true' }], ...code },
      tasks: tasks.map((task) => ({ title: 'T', ...task })),
    }),
    't',
  );

/** A repository in memory, where every change passes and is merged. */
const repository = (over: Partial<NonNullable<RunMissionDeps['code']>> = {}) =>
  ({
    begin: async () => '/worktree',
    check: async () => ({ isAccepted: true, feedback: '' }),
    changeOf: async () => ({ root: '/worktree', diff: '+one' }),
    merge: async () => ({
      kind: 'merged',
      commit: 'c'.repeat(40),
      verdict: { passed: true, receipts: [], notRun: [] },
    }),
    giveUp: async () => undefined,
    liveOverlaps: async () => [],
    overlaps: new Map(),
    left: { accepted: [], kept: [], removed: [], locks: [] },
    branch: { name: 'b', ref: 'refs/heads/b', base: 'a'.repeat(40) },
    ...over,
  }) as NonNullable<RunMissionDeps['code']>;

const limited = (retryAfterMs?: number) => (): never => {
  throw new OrreryError('RATE_LIMITED', 'enough for now', {
    details: retryAfterMs === undefined ? {} : { retryAfterMs },
  });
};

const lone = missionOf([{ id: 'a' }]);

describe('a task whose agent takes no more work', () => {
  it('rests as long as its agent says, and that costs no attempt', async () => {
    let asked = 0;
    const team = new FakeTeam().agent('claude', {
      'code.change': () => (asked++ === 0 ? limited(3_600_000)() : {}),
    });
    const { clock, events, seen, outcome } = start(team, lone, undefined, undefined, 1, repository());
    await seen((event) => event.type === 'task.changed' && event.status === 'resting');
    clock.advance(3_599_999);
    expect(asked).toBe(1);
    clock.advance(1);
    const { tasks } = await outcome;
    expect(tasks[0]).toMatchObject({ status: 'accepted' });
    expect(tasks[0]?.context.attempts.map(({ number, ended }) => [number, ended])).toEqual([[1, 'accepted']]);
    expect(events.some((event) => event.type === 'task.changed' && event.attempt > 1)).toBe(false);
  });

  it('goes to another agent at once, if one is there, and later tasks do so too', async () => {
    const team = new FakeTeam()
      .agent('claude', { 'code.change': limited(3_600_000) })
      .agent('codex', { 'code.change': () => ({}) });
    const two = missionOf([{ id: 'a' }, { id: 'b', dependsOn: ['a'] }]);
    const { tasks } = await start(team, two, undefined, undefined, 1, repository()).outcome;
    expect(tasks.map(({ status, context }) => [status, context.assignee?.agent])).toEqual([
      ['accepted', 'codex'],
      ['accepted', 'codex'],
    ]);
    expect(team.work.map(({ agent }) => agent)).toEqual(['claude', 'codex', 'codex']);
  });

  it('is not asked without an end by one that says so each time', async () => {
    const team = new FakeTeam().agent('claude', { 'code.change': limited() });
    const { clock, seen, outcome } = start(team, lone, undefined, undefined, 1, repository());
    let isOver = false;
    void outcome.then(() => {
      isOver = true;
    });
    await seen((event) => event.type === 'task.changed' && event.status === 'resting');
    while (!isOver) {
      clock.advance(900_000);
      for (let turn = 0; turn < 100; turn++) await Promise.resolve();
    }
    expect((await outcome).stopReason).toBe('attempts-exhausted');
    expect(team.work).toHaveLength(21);
  });
});

describe('agents that are limited', () => {
  const rows = new FakeTeam().agent('one', { c: () => ({}) }).agent('two', { c: () => ({}) }).rows;

  it('are skipped as long as another is there', () => {
    const agents = new LimitedAgents();
    agents.note('one', 10);
    expect([agents.toSkip(rows, 'c', 9), agents.free(rows, 'c', 9)]).toEqual([['one'], 'two']);
    agents.note('two', 10);
    expect([agents.toSkip(rows, 'c', 9), agents.free(rows, 'c', 9)]).toEqual([[], undefined]);
    expect(agents.free(rows, 'c', 10)).toBe('one');
  });
});

describe('what a run before has left', () => {
  const items = workItems(missionOf([{ id: 'a' }, { id: 'b' }, { id: 'c' }, { id: 'd' }]));
  const trailers = { mission: 'm', attempt: 1, run: 'r' };
  const merged = { ...trailers, task: 'a', commit: 'a'.repeat(40) };
  const kept = [1, 3].map((attempt) => ({
    ...{ ...trailers, attempt, task: 'b' },
    ...{ start: '', commit: '', ref: '' },
  }));
  const context = (commit: string) => ({ commit }) as never;

  it('is accepted if the branch has it, whether the journal knows or not; and only then', () => {
    const journal = new Map([['c', context('c'.repeat(40))]]);
    const events = rememberedEvents(items, { accepted: journal, left: { accepted: [merged], kept } });
    expect([...events]).toEqual([
      ['a', { type: 'change.remembered', commit: merged.commit }],
      ['b', { type: 'change.kept', attempt: 3 }],
    ]);
  });

  it('is what the journal has, where nothing is changed', () => {
    const events = rememberedEvents(items, { accepted: new Map([['d', {} as never]]) });
    expect([...events]).toEqual([['d', { type: 'work.remembered', context: {} }]]);
  });

  it('is checked at once, by nobody but the gates, and an attempt of those that there may be', async () => {
    const team = new FakeTeam().agent('claude', { 'code.change': () => ({}) });
    const left = { accepted: [], kept: [{ ...kept[0], task: 'a' }], removed: [], locks: [] } as never;
    const passes = await start(team, lone, undefined, undefined, 1, repository({ left })).outcome;
    expect([passes.tasks[0]?.status, team.work]).toEqual(['accepted', []]);
    const check = async () => ({ isAccepted: false, feedback: 'no' });
    const fails = await start(team, lone, undefined, undefined, 1, repository({ left, check })).outcome;
    expect([fails.tasks[0]?.status, team.work]).toEqual(['exhausted', []]);
  });
});

describe('a change that is reviewed', () => {
  const reviewed = missionOf([{ id: 'a' }], { maxAttempts: 2 }, { reviewers: ['claude', 'codex'] });
  const team = (claude: () => unknown, codex: () => unknown = () => ({ isVetoed: false, reason: '' })) =>
    new FakeTeam()
      .agent('coder', { 'code.change': () => ({}) })
      .agent('claude-review', { 'code.review': claude })
      .agent('codex-review', { 'code.review': codex });
  const asked = ({ work }: FakeTeam, id: string) => work.filter(({ agent }) => agent === id);

  it('is merged when nobody vetoes it, and is sent back with the reasons of whoever does', async () => {
    let times = 0;
    const once = team(() =>
      times++ === 0 ? { isVetoed: true, reason: 'it removes a test' } : { isVetoed: false, reason: '' },
    );
    const { tasks } = await start(once, reviewed, undefined, undefined, 1, repository()).outcome;
    expect(tasks[0]?.status).toBe('accepted');
    expect(asked(once, 'coder').map(({ input }) => input['feedback'])).toEqual([
      undefined,
      'claude-review vetoes it: it removes a test',
    ]);
    expect(asked(once, 'codex-review')[0]?.input).toMatchObject({
      root: '/worktree',
      diff: '+one',
      attempt: 1,
    });
  });

  it('is reviewed by nobody while its gates have not passed: reviews are never the only gate', async () => {
    const any = team(() => ({ isVetoed: false, reason: '' }));
    const check = async () => ({ isAccepted: false, feedback: 'no' });
    const { tasks } = await start(any, reviewed, undefined, undefined, 1, repository({ check })).outcome;
    expect([tasks[0]?.status, asked(any, 'claude-review')]).toEqual(['exhausted', []]);
  });

  it('is not merged while a reviewer cannot be had, who is asked once more', async () => {
    const gone = team(() => {
      throw new OrreryError('HANDLER_FAILED', 'no verdict');
    });
    const { tasks } = await start(gone, reviewed, undefined, undefined, 1, repository()).outcome;
    expect(tasks[0]).toMatchObject({
      status: 'blocked',
      context: { why: expect.stringContaining('no verdict') },
    });
    expect(asked(gone, 'claude-review')).toHaveLength(2);
  });

  it('needs its reviewers in the team', async () => {
    const nobody = new FakeTeam().agent('coder', { 'code.change': () => ({}) });
    const { outcome } = start(nobody, reviewed, undefined, undefined, 1, repository());
    await expect(outcome).rejects.toThrow('code.reviewers: the team has no "claude-review"');
  });
});

describe('a mission that does not get on (F-11)', () => {
  const limits = { maxAttempts: 3, maxFailuresInARow: 4 };
  const refusing = (ids: readonly string[]) => ({
    check: async ({ id }: { readonly id: string }) => ({ isAccepted: !ids.includes(id), feedback: 'no' }),
  });
  const tasks = ['a', 'b', 'c', 'd'].map((id, at, all) => ({ id, after: all.slice(0, at) }));
  const ended = async (refused: readonly string[]) => {
    const team = new FakeTeam().agent('coder', { 'code.change': () => ({}) });
    const code = repository(refusing(refused));
    const outcome = await start(team, missionOf(tasks, limits), undefined, undefined, 1, code).outcome;
    const all = outcome.tasks.flatMap(({ context }) => context.attempts.map(({ ended }) => ended));
    const judged = all.filter((how) => how !== 'cancelled').length;
    return [outcome.stopReason, ...outcome.tasks.map(({ status }) => status), judged];
  };

  it('ends after so many attempts in a row that came to nothing, of whichever tasks', async () => {
    expect(await ended(['a', 'b', 'c'])).toEqual([
      'no-progress',
      ...['exhausted', 'cancelled', 'cancelled', 'cancelled'],
      4,
    ]);
  });

  it('goes on as long as some are accepted in between', async () => {
    expect(await ended(['a', 'c'])).toEqual([
      'attempts-exhausted',
      ...['exhausted', 'accepted', 'exhausted', 'accepted'],
      8,
    ]);
  });
});

describe('tasks that are ready', () => {
  const items = workItems(missionOf([{ id: 'a' }, { id: 'b' }, { id: 'c' }])) as WorkItem[];
  const overlaps = new Map([
    ['a', ['b']],
    ['b', ['a']],
  ]);
  const batch = (statuses: Record<string, string>, maxParallel = 3) =>
    nextBatch(items, new Map(Object.entries(statuses)) as never, {
      maxParallel,
      isTogether: () => false,
      overlaps,
    }).map(({ id }) => id);

  it.each(['working', 'checking', 'reviewing', 'merging'])('wait for one that is %s, one at a time', (a) => {
    expect(batch({ a, c: 'ready' }, 1)).toEqual([]);
  });

  it.each(['held', 'resting', 'accepted'])('do not wait for one that is %s', (a) => {
    expect(batch({ a, c: 'ready' }, 1)).toEqual(['c']);
  });

  it('are not in hand at the same time if they touch the same files, until the first is merged', () => {
    expect(batch({ a: 'ready', b: 'ready', c: 'ready' })).toEqual(['a', 'c']);
    expect(batch({ a: 'merging', b: 'ready', c: 'ready' })).toEqual(['c']);
    expect(batch({ a: 'accepted', b: 'ready', c: 'ready' })).toEqual(['b', 'c']);
  });
});

describe('what a mission may use (F-04)', () => {
  const team = (usage: object) =>
    new FakeTeam().agent('claude', {
      'code.change': (_input, { onProgress }) => {
        onProgress?.({ fraction: 0, note: undefined, report: { type: 'usage', usage } } as never);
        return {};
      },
    });
  const two = missionOf([{ id: 'a' }, { id: 'b', dependsOn: ['a'] }], { maxAttempts: 1, maxCostUsd: 1 });

  it('is what is left of it for each attempt, with a warning at four fifths, and its end ends the mission', async () => {
    const claude = team({ costUsd: 0.85 });
    const { events, outcome } = start(claude, two, undefined, undefined, 1, repository());
    const { stopReason, tasks } = await outcome;
    expect(claude.work.map(({ input }) => (input['limits'] as { maxCostUsd: number }).maxCostUsd)).toEqual([
      1,
      expect.closeTo(0.15),
    ]);
    expect(events.filter(({ type }) => type === 'limit.near')).toMatchObject([
      { what: 'costUsd', used: 0.85, limit: 1 },
    ]);
    expect([stopReason, tasks.map(({ status }) => status)]).toEqual([
      'budget-limit',
      ['accepted', 'cancelled'],
    ]);
  });

  it('counts what a reviewer has used whose verdict never came, and who is asked again', async () => {
    const reviewed = missionOf([{ id: 'a' }], { maxAttempts: 1, maxCostUsd: 1 }, { reviewers: ['codex'] });
    let times = 0;
    const claude = team({ costUsd: 0.1 }).agent('codex-review', {
      'code.review': (_input, { onProgress }) => {
        const report = { type: 'usage', usage: { costUsd: 0.3 } };
        onProgress?.({ fraction: 0, note: undefined, report } as never);
        if (times++ === 0) throw new OrreryError('HANDLER_FAILED', 'no verdict');
        return { isVetoed: false, reason: '' };
      },
    });
    const spent = new Map<string, { costUsd: number }>();
    const progress = {
      ...{ runId: 'r', accepted: new Map(), accept: () => Promise.resolve(), spent: new Map() },
      spend: async (task: string, used: { costUsd: number }) => void spent.set(task, used),
    };
    const { stopReason } = await start(claude, reviewed, undefined, progress, 1, repository()).outcome;
    const leftForReview = claude.work
      .filter(({ agent }) => agent === 'codex-review')
      .map(({ input }) => (input['limits'] as { maxCostUsd: number }).maxCostUsd);
    expect([stopReason, leftForReview, spent.get('a')?.costUsd]).toEqual([
      'all-accepted',
      [expect.closeTo(0.9), expect.closeTo(0.6)],
      expect.closeTo(0.7),
    ]);
  });

  it('counts what was used before it was interrupted', async () => {
    const claude = team({ costUsd: 0.1 });
    const progress = {
      ...{ runId: 'r', accepted: new Map(), accept: () => Promise.resolve() },
      spent: new Map([['a', { tokens: 0, costUsd: 1 }]]),
    };
    const { stopReason } = await start(claude, two, undefined, progress, 1, repository()).outcome;
    expect([stopReason, claude.work]).toEqual(['budget-limit', []]);
  });
});
