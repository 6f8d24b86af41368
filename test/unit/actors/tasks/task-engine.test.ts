import { describe, expect, it } from 'vitest';
import { TaskEngine, type TaskEngineOptions } from '../../../../actors/tasks/task-engine.ts';
import type { Turn, TurnOutcome } from '../../../../actors/tasks/turn.ts';
import { systemSeams } from '../../../../runtime/protocol/system-seams.ts';
import type { Task, TaskChange } from '../../../../runtime/protocol/task.ts';
import type { Said } from '../../../../runtime/protocol/task-service.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { KeptTasks } from '../../../fixtures/kept-tasks.ts';
import { rejection, until } from '../../../fixtures/until.ts';

const ALICE = { principalId: 'alice', tenant: 'acme' };
const OTHERS = [
  { principalId: 'bob', tenant: 'acme' },
  { principalId: 'alice', tenant: 'other' },
  { principalId: 'alice' },
];
const said = (messageId: string, changes: Partial<Said> = {}): Said => ({
  message: { messageId, role: 'user', parts: [{ text: messageId }] },
  agentId: 'mars',
  ...changes,
});
const agentSays = (text: string) => ({ messageId: `of ${text}`, role: 'agent' as const, parts: [{ text }] });
const artifact = (text: string) => ({ artifactId: 'a', parts: [{ text }] });
const textsOf = ({ history }: Task): string[] =>
  history.map(({ parts }) => (parts[0] as { text: string }).text);

/** An engine whose turns are in the hands of the test. */
async function setUp(options: Partial<TaskEngineOptions> = {}) {
  const clock = new FakeClock();
  const turns: { turn: Turn; end: (outcome: TurnOutcome) => void; fail: (error: Error) => void }[] = [];
  const run = (turn: Turn): Promise<TurnOutcome> =>
    new Promise((end, fail) => {
      turns.push({ turn, end, fail });
    });
  const engine = await TaskEngine.open({ seams: { ...systemSeams(), clock }, run, ...options });
  const turnOf = (at: number) => until(`turn ${at}`, () => turns[at]);
  const ended = (id: string): Promise<Task> => engine.whenIdle(ALICE, id);
  return { clock, engine, turns, turnOf, ended };
}

async function all(changes: AsyncIterable<TaskChange>): Promise<TaskChange[]> {
  const found: TaskChange[] = [];
  for await (const change of changes) found.push(change);
  return found;
}

describe('A task', () => {
  it('is made of a message, worked at, and done (X-25, X-26, X-28..X-30, X-50)', async () => {
    const { engine, turnOf, ended } = await setUp();
    const opened = await engine.send(ALICE, said('m1', { metadata: { 'xpr:jobId': 42 } }));
    expect(opened).toMatchObject({ history: [{ messageId: 'm1' }], metadata: { 'xpr:jobId': 42 } });
    const { turn, end } = await turnOf(0);
    expect(turn).toMatchObject({ message: { messageId: 'm1' }, again: false, opening: { agentId: 'mars' } });
    turn.working(agentSays('half'));
    turn.artifact(artifact('one'));
    turn.artifact(artifact('two'), { append: true, lastChunk: true });
    end({ state: 'completed', message: agentSays('done') });
    const task = await ended(opened.id);
    expect(task).toMatchObject({
      status: { state: 'completed', message: { parts: [{ text: 'done' }] } },
      artifacts: [{ artifactId: 'a', parts: [{ text: 'one' }, { text: 'two' }] }],
    });
    expect(textsOf(task)).toEqual(['m1', 'half']);
    const changes = await all(engine.changes(ALICE, task.id));
    expect(changes.map(({ generation }) => generation)).toEqual([1, 2, 3, 4, 5, 6]);
    expect(task.generation).toBe(6);
    expect(textsOf(engine.get(ALICE, task.id, { historyLength: 1 }))).toEqual(['half']);
    expect(engine.get(ALICE, task.id, { historyLength: 0, artifacts: false })).toMatchObject({
      history: [],
      artifacts: [],
    });
  });

  it('waits for its owner, and goes on with what that says (X-29, X-51, A-08)', async () => {
    const { engine, turnOf, ended } = await setUp();
    const { id, contextId } = await engine.send(ALICE, said('m1'));
    (await turnOf(0)).end({ state: 'input-required', message: agentSays('which one?') });
    expect((await ended(id)).status.state).toBe('input-required');
    const again = await engine.send(ALICE, said('m2', { taskId: id, contextId }));
    expect(again.id).toBe(id);
    const { turn, end } = await turnOf(1);
    expect(textsOf(turn.task)).toEqual(['m1', 'which one?', 'm2']);
    end({ state: 'completed' });
    expect((await ended(id)).status.state).toBe('completed');
  });

  it('has one turn after the other, and is not done before everything that was said is worked at', async () => {
    const { engine, turns, turnOf, ended } = await setUp();
    const { id } = await engine.send(ALICE, said('m1'));
    await turnOf(0);
    await engine.send(ALICE, said('m2', { taskId: id }));
    await engine.send(ALICE, said('m3', { taskId: id }));
    expect(turns).toHaveLength(1);
    for (const at of [0, 1]) {
      (await turnOf(at)).end({ state: at === 0 ? 'completed' : 'input-required' });
      await turnOf(at + 1);
      expect(engine.get(ALICE, id).status.state).toBe('working');
    }
    expect(turns.map(({ turn }) => turn.message.messageId)).toEqual(['m1', 'm2', 'm3']);
    (await turnOf(2)).end({ state: 'completed' });
    expect((await ended(id)).status.state).toBe('completed');
  });

  it('is one task however often its message is sent, also while it is being kept', async () => {
    const log = new KeptTasks(true);
    const { engine, turns } = await setUp({ log });
    const sent = [engine.send(ALICE, said('m1')), engine.send(ALICE, said('m1'))];
    await until('it is written', () => log.waiting === 1);
    log.keep();
    const [one, other] = await Promise.all(sent);
    expect(other?.id).toBe(one?.id);
    await until('it is begun', () => log.waiting === 1);
    log.keep();
    await until('it is worked at', () => turns.length === 1);
    expect((await engine.send(ALICE, said('m1'))).id).toBe(one?.id);
    expect([engine.size, turns.length]).toEqual([1, 1]);
    for (const owner of OTHERS) {
      const theirs = engine.send(owner, said('m1')).then(({ id }) => id);
      const id = await until('it is kept', () => {
        log.keep();
        return Promise.race([theirs, undefined]);
      });
      expect(id).not.toBe(one?.id);
    }
  });

  it('is cancelled at once, and so is the work at it (X-27, C-11)', async () => {
    const { engine, turnOf, ended } = await setUp();
    const { id } = await engine.send(ALICE, said('m1'));
    const { turn, end } = await turnOf(0);
    await engine.send(ALICE, said('m2', { taskId: id }));
    expect((await engine.cancel(ALICE, id)).status.state).toBe('canceled');
    expect(turn.signal.aborted).toBe(true);
    const { generation } = engine.get(ALICE, id);
    turn.artifact(artifact('late'));
    turn.working();
    end({ state: 'completed' });
    expect(await ended(id)).toMatchObject({ status: { state: 'canceled' }, artifacts: [], generation });
    expect(await rejection(engine.cancel(ALICE, id))).toMatchObject({ code: 'TASK_OVER' });
    expect(await rejection(engine.send(ALICE, said('m3', { taskId: id })))).toMatchObject({
      code: 'TASK_OVER',
    });
    const waiting = await engine.send(ALICE, said('n1'));
    (await turnOf(1)).end({ state: 'input-required' });
    await ended(waiting.id);
    expect((await engine.cancel(ALICE, waiting.id)).status.state).toBe('canceled');
  });

  it('fails when its agent does, and says why', async () => {
    const { engine, turnOf, ended } = await setUp();
    const { id } = await engine.send(ALICE, said('m1'));
    (await turnOf(0)).fail(new Error('the disk is gone'));
    expect(await ended(id)).toMatchObject({
      status: {
        state: 'failed',
        message: {
          role: 'agent',
          parts: [
            { text: 'the disk is gone' },
            { data: { code: 'ACTOR_DIED', message: 'the disk is gone' } },
          ],
        },
      },
    });
  });

  it('is nobody else’s: for them it is not there', async () => {
    const { engine } = await setUp();
    const { id } = await engine.send(ALICE, said('m1'));
    for (const owner of OTHERS) {
      const attempts = [
        async () => engine.get(owner, id),
        () => engine.cancel(owner, id),
        () => engine.send(owner, said('x', { taskId: id })),
        async () => engine.changes(owner, id),
        () => engine.whenIdle(owner, id),
      ];
      for (const attempt of attempts)
        expect(await rejection(attempt())).toEqual({
          code: 'TASK_NOT_FOUND',
          message: `There is no task "${id}"`,
        });
      expect(engine.list(owner, { pageSize: 10 })).toMatchObject({ tasks: [], total: 0 });
    }
    expect((await rejection(engine.send(ALICE, said('y', { taskId: 'none' })))).code).toBe('TASK_NOT_FOUND');
  });

  it.each<[string, object, string]>([
    ['another conversation', { contextId: 'another' }, 'said.contextId'],
    [
      'what its agent would say',
      { message: { messageId: 'x', role: 'agent', parts: [{ text: '' }] } },
      'said.message.role',
    ],
    ['nothing', { message: { messageId: 'x', role: 'user', parts: [] } }, 'said.message.parts'],
    [
      'two things at once',
      { message: { messageId: 'x', role: 'user', parts: [{ text: 'a', url: 'https://x' }] } },
      'said.message.parts',
    ],
    ['no agent', { agentId: '' }, 'said.agentId'],
  ])('is not told %s', async (_, changes, field) => {
    const { engine } = await setUp();
    const { id } = await engine.send(ALICE, said('m1'));
    const failed = await rejection(engine.send(ALICE, { ...said('m2', { taskId: id }), ...changes }));
    expect(failed.code).toBe('INVALID_OPTIONS');
    expect(failed.message).toContain(field);
    expect(engine.get(ALICE, id).history).toHaveLength(1);
  });
});

describe('The changes of a task', () => {
  it('are seen by all who read along, from any number on, at any pace', async () => {
    const { engine, turnOf } = await setUp();
    const { id } = await engine.send(ALICE, said('m1'));
    const { turn, end } = await turnOf(0);
    const early = all(engine.changes(ALICE, id));
    for (let n = 0; n < 500; n++) turn.artifact(artifact(`${n}`), { append: n > 0 });
    const middle = all(engine.changes(ALICE, id, { after: 200 }));
    end({ state: 'completed' });
    const whole = await early;
    expect(whole.map(({ generation }) => generation)).toEqual(Array.from({ length: 503 }, (_, at) => at + 1));
    expect(await middle).toEqual(whole.slice(200));
    expect(await all(engine.changes(ALICE, id, { after: 500 }))).toEqual(whole.slice(500));
    expect(await all(engine.changes(ALICE, id, { after: 9_999 }))).toEqual([]);
  });

  it('are not shown before they are kept', async () => {
    const log = new KeptTasks(true);
    const { engine, turnOf } = await setUp({ log });
    const sending = engine.send(ALICE, said('m1'));
    const keepOne = async (): Promise<void> => {
      await until('something is written', () => log.waiting > 0);
      log.keep();
    };
    await keepOne();
    const { id } = await sending;
    await keepOne();
    const { turn, end } = await turnOf(0);
    const seen: number[] = [];
    const reading = (async () => {
      for await (const { generation } of engine.changes(ALICE, id)) {
        expect(log.kept(id)?.changes.length).toBeGreaterThanOrEqual(generation);
        seen.push(generation);
      }
    })();
    turn.artifact(artifact('one'));
    turn.artifact(artifact('two'), { append: true });
    turn.artifact(artifact('three'), { append: true });
    await until('something is written', () => log.waiting > 0);
    expect(engine.get(ALICE, id).generation).toBe(2);
    await keepOne();
    await until('the first is shown', () => seen.length === 3);
    await keepOne();
    await until('the others are shown together', () => seen.length === 5);
    end({ state: 'completed' });
    await keepOne();
    await reading;
    expect(seen).toEqual([1, 2, 3, 4, 5, 6]);
  });

  it('can be left at any time, and nothing of that stays', async () => {
    const { engine, turnOf } = await setUp();
    const { id } = await engine.send(ALICE, said('m1'));
    await turnOf(0);
    const readers = Array.from({ length: 1_000 }, () => {
      const leaving = new AbortController();
      return { leaving, read: all(engine.changes(ALICE, id, { signal: leaving.signal })) };
    });
    for (const { leaving } of readers) leaving.abort();
    for (const { read } of readers) expect((await read).length).toBeLessThanOrEqual(2);
  });
});

describe('Limits of an engine', () => {
  it('let an owner have so many tasks; those that are over make room, the oldest first', async () => {
    const { engine, turnOf, ended } = await setUp({ limits: { tasks: 2 } });
    const first = await engine.send(ALICE, said('m1'));
    const second = await engine.send(ALICE, said('m2'));
    expect((await rejection(engine.send(ALICE, said('m3')))).code).toBe('QUOTA_EXCEEDED');
    await engine.send(OTHERS[0] as typeof ALICE, said('m3'));
    (await turnOf(1)).end({ state: 'completed' });
    await ended(second.id);
    const third = await engine.send(ALICE, said('m3'));
    expect(() => engine.get(ALICE, second.id)).toThrow('no task');
    expect(
      engine
        .list(ALICE, { pageSize: 10 })
        .tasks.map(({ id }) => id)
        .sort(),
    ).toEqual([first.id, third.id].sort());
    expect((await engine.send(ALICE, said('m1'))).id).toBe(first.id);
  });

  it('let all owners of a tenant have so many tasks together, and no other tenant less', async () => {
    const { engine, turnOf, ended } = await setUp({ limits: { tenantTasks: 2 } });
    const [bob, elsewhere] = OTHERS as [typeof ALICE, typeof ALICE];
    const { id } = await engine.send(ALICE, said('m1'));
    await engine.send(bob, said('m1'));
    const refused = await rejection(engine.send(bob, said('m2')));
    expect(refused).toMatchObject({ code: 'QUOTA_EXCEEDED', message: expect.stringContaining('tenant') });
    await engine.send(elsewhere, said('m1'));
    (await turnOf(0)).end({ state: 'completed' });
    await ended(id);
    // A newcomer is not refused because of what another owner has over.
    await engine.send(bob, said('m2'));
    expect(() => engine.get(ALICE, id)).toThrow('no task');
    expect(engine.size).toBe(3);
  });

  it('count owners without a tenant as strangers to each other, and all tasks in all', async () => {
    const { engine, turnOf, ended } = await setUp({ limits: { tenantTasks: 1, totalTasks: 3 } });
    const { id } = await engine.send(ALICE, said('m1'));
    await engine.send({ principalId: 'bob' }, said('m1'));
    await engine.send({ principalId: 'carol' }, said('m1'));
    const dave = { principalId: 'dave' };
    expect((await rejection(engine.send(dave, said('m1')))).code).toBe('QUOTA_EXCEEDED');
    (await turnOf(0)).end({ state: 'completed' });
    await ended(id);
    await engine.send(dave, said('m1'));
    expect(() => engine.get(ALICE, id)).toThrow('no task');
  });

  it('let so much of all tasks of one owner be held, and of all tasks; what is over makes room', async () => {
    const limits = { ownerBytes: 3_000, totalBytes: 5_000 };
    const { engine, turns, turnOf, ended } = await setUp({ limits });
    const long = (messageId: string, changes: Partial<Said> = {}): Said =>
      said(messageId, {
        message: { messageId, role: 'user', parts: [{ text: 'x'.repeat(1_000) }] },
        ...changes,
      });
    const bob = { principalId: 'bob', tenant: 'acme' };
    const carol = { principalId: 'carol' };
    const first = await engine.send(ALICE, long('m1'));
    const second = await engine.send(ALICE, long('m2'));
    expect(await rejection(engine.send(ALICE, long('m3')))).toMatchObject({
      code: 'QUOTA_EXCEEDED',
      message: 'No more than 3000 bytes of the tasks of one owner',
    });
    expect((await rejection(engine.send(ALICE, long('m3', { taskId: first.id })))).code).toBe(
      'QUOTA_EXCEEDED',
    );
    expect([engine.size, engine.get(ALICE, first.id).history.length]).toEqual([2, 1]);
    await engine.send(bob, long('m1'));
    await turnOf(2);
    expect(
      await rejection(engine.send(carol, long('m1', { metadata: { more: 'x'.repeat(600) } }))),
    ).toMatchObject({
      code: 'QUOTA_EXCEEDED',
      message: 'No more than 5000 bytes of the tasks of all owners',
    });
    await engine.send(carol, said('m1'));
    (await turnOf(1)).end({ state: 'completed' });
    await ended(second.id);
    // What would not do is not forgotten.
    const huge = long('m3', { metadata: { more: 'x'.repeat(2_000) } });
    expect((await rejection(engine.send(ALICE, huge))).code).toBe('QUOTA_EXCEEDED');
    expect(engine.get(ALICE, second.id).status.state).toBe('completed');
    await engine.send(carol, long('m2'));
    expect(() => engine.get(ALICE, second.id)).toThrow('no task');
    // What agents make counts as well: there is no room left for this.
    const { turn } = await turnOf(0);
    for (let n = 0; n < 10; n++) turn.artifact(artifact('y'.repeat(200)), { append: n > 0 });
    expect(await ended(first.id)).toMatchObject({
      status: { state: 'failed', message: { parts: [{}, { data: { code: 'QUOTA_EXCEEDED' } }] } },
    });
    expect(turns.filter(({ turn: { signal } }) => signal.aborted)).toHaveLength(1);
  });

  it('let so much of one task be held, whoever says or makes it', async () => {
    const { engine, turnOf, ended } = await setUp({ limits: { bytes: 2_000 } });
    const long = { messageId: 'long', role: 'user' as const, parts: [{ text: 'x'.repeat(2_000) }] };
    expect((await rejection(engine.send(ALICE, { ...said('long'), message: long }))).code).toBe(
      'QUOTA_EXCEEDED',
    );
    expect(engine.size).toBe(0);
    const { id } = await engine.send(ALICE, said('m1'));
    const { turn } = await turnOf(0);
    for (let n = 0; n < 20; n++) turn.artifact(artifact('y'.repeat(200)), { append: n > 0 });
    const task = await ended(id);
    expect(task.status).toMatchObject({
      state: 'failed',
      message: { parts: [{}, { data: { code: 'QUOTA_EXCEEDED' } }] },
    });
    expect(task.artifacts[0]?.parts.length).toBeLessThan(10);
    expect(turn.signal.aborted).toBe(true);
    const other = await engine.send(ALICE, said('n1'));
    (await turnOf(1)).turn.remember('z'.repeat(2_001));
    expect((await ended(other.id)).status.state).toBe('failed');
  });

  it('hold however many tasks have come and gone', async () => {
    const { engine, turns, turnOf, ended } = await setUp({ limits: { ownerBytes: 2_500 } });
    const long = (messageId: string): Said =>
      said(messageId, { message: { messageId, role: 'user', parts: [{ text: 'x'.repeat(900) }] } });
    for (let n = 0; n < 6; n++) {
      const { id } = await engine.send(ALICE, long(`m${n}`));
      (await turnOf(n)).end({ state: 'completed' });
      await ended(id);
    }
    expect(engine.size).toBe(2);
    await engine.send(ALICE, long('n1'));
    await engine.send(ALICE, long('n2'));
    expect((await rejection(engine.send(ALICE, long('n3')))).code).toBe('QUOTA_EXCEEDED');
    expect([engine.size, turns.length]).toEqual([2, 8]);
  });

  it('let so many messages wait for a task, and so many turns go on', async () => {
    const { engine, turns, turnOf } = await setUp({ limits: { waiting: 1, turns: 1 } });
    const { id } = await engine.send(ALICE, said('m1'));
    await turnOf(0);
    await engine.send(ALICE, said('m2', { taskId: id }));
    expect((await rejection(engine.send(ALICE, said('m3', { taskId: id })))).code).toBe('QUOTA_EXCEEDED');
    const other = await engine.send(ALICE, said('n1'));
    expect(other.status.state).toBe('submitted');
    (await turnOf(0)).end({ state: 'completed' });
    await turnOf(1);
    (await turnOf(1)).end({ state: 'completed' });
    await turnOf(2);
    expect(turns.map(({ turn }) => turn.message.messageId)).toEqual(['m1', 'n1', 'm2']);
  });

  it('forget what has been over for long, here and in the log', async () => {
    const log = new KeptTasks();
    const { clock, engine, turnOf, ended } = await setUp({ log, limits: { ttlMs: 100_000 } });
    const over = await engine.send(ALICE, said('m1'));
    const going = await engine.send(ALICE, said('m2'));
    (await turnOf(0)).end({ state: 'completed' });
    await ended(over.id);
    clock.advance(99_999);
    expect(engine.size).toBe(2);
    clock.advance(60_001);
    expect([engine.size, [...log.tasks.values()].map(({ opening }) => opening.id)]).toEqual([1, [going.id]]);
    expect((await engine.send(ALICE, said('m1'))).id).not.toBe(over.id);
  });

  it('forget a task also where its log cannot, and say so', async () => {
    const log = new KeptTasks();
    log.forget = () => Promise.reject(new Error('the disk is full'));
    const problems: string[] = [];
    const onProblem = (reason: string) => void problems.push(reason);
    const { engine, turnOf, ended } = await setUp({ log, onProblem, limits: { tasks: 1 } });
    const { id } = await engine.send(ALICE, said('m1'));
    (await turnOf(0)).end({ state: 'completed' });
    await ended(id);
    await engine.send(ALICE, said('m2'));
    await until('it is told', () => problems.length > 0);
    expect(problems).toEqual([`The task "${id}" is over, and could not be forgotten: the disk is full`]);
  });

  it.each([[{ tasks: 0 }], [{ ttlMs: -1 }], [{ turns: 1.5 }], [{ more: 1 }]])(
    'are not %j',
    async (limits) => {
      expect((await rejection(setUp({ limits: limits as object }))).code).toBe('INVALID_OPTIONS');
    },
  );
});

describe('The terms of a message', () => {
  const terms = (clock: FakeClock, inMs: number) => ({ tier: 2 as const, deadlineAtMs: clock.now() + inMs });

  it('go with it to whoever works at it; without any it has those of anybody', async () => {
    const { clock, engine, turnOf } = await setUp();
    await engine.send(ALICE, said('m1', { terms: terms(clock, 1_000) }));
    await engine.send(ALICE, said('n1'));
    expect((await turnOf(0)).turn.terms).toEqual({ ...terms(clock, 1_000), readOnly: false });
    expect((await turnOf(1)).turn.terms).toEqual({ tier: 3, readOnly: false });
  });

  it('end the task and the work at it when its deadline passes, with what the work came to', async () => {
    const { clock, engine, turnOf, ended } = await setUp();
    const { id } = await engine.send(ALICE, said('m1', { terms: terms(clock, 1_000) }));
    const { turn } = await turnOf(0);
    turn.partial(artifact('half'));
    clock.advance(999);
    expect(turn.signal.aborted).toBe(false);
    clock.advance(1);
    expect(turn.signal.aborted).toBe(true);
    expect(await ended(id)).toMatchObject({
      status: { state: 'failed', message: { parts: [{}, { data: { code: 'DEADLINE_EXCEEDED' } }] } },
      artifacts: [{ parts: [{ text: 'half' }] }],
    });
  });

  it('are those of what is said last, also for a task that waits for its owner', async () => {
    const { clock, engine, turnOf, ended } = await setUp();
    const { id } = await engine.send(ALICE, said('m1', { terms: terms(clock, 1_000) }));
    (await turnOf(0)).end({ state: 'input-required' });
    await ended(id);
    await engine.send(ALICE, said('m2', { taskId: id, terms: terms(clock, 5_000) }));
    (await turnOf(1)).end({ state: 'input-required' });
    await ended(id);
    clock.advance(4_999);
    expect(engine.get(ALICE, id).status.state).toBe('input-required');
    clock.advance(1);
    expect((await ended(id)).status.state).toBe('failed');
    expect(clock.pending).toBe(1);
  });

  it('are there after a restart', async () => {
    const log = new KeptTasks();
    const first = await setUp({ log });
    const { id } = await first.engine.send(ALICE, said('m1', { terms: terms(first.clock, 1_000) }));
    await first.turnOf(0);
    await first.engine.close();
    const { clock, turnOf, ended } = await setUp({ log, onRestart: () => 'again' });
    const { turn } = await turnOf(0);
    expect(turn).toMatchObject({ terms: { tier: 2 }, number: 2, again: true });
    clock.advance(1_000);
    expect(turn.signal.aborted).toBe(true);
    expect((await ended(id)).status.state).toBe('failed');
  });
});

describe('What is asked about tasks', () => {
  it('is who works at them, and what an engine hears of all changes when they are kept', async () => {
    const { engine, turnOf, ended } = await setUp();
    const news: unknown[] = [];
    const stop = engine.onChange(({ changes, ...about }) =>
      news.push([about, changes.map(({ kind, generation }) => `${generation} ${kind}`)]),
    );
    const { id, contextId } = await engine.send(ALICE, said('m1'));
    expect(engine.agentOf(ALICE, id)).toBe('mars');
    expect(() => engine.agentOf(OTHERS[0] as typeof ALICE, id)).toThrow('no task');
    (await turnOf(0)).end({ state: 'completed' });
    await ended(id);
    stop();
    await engine.send(ALICE, said('m2'));
    const about = { taskId: id, contextId, agentId: 'mars', owner: ALICE };
    expect(news).toEqual([
      [about, ['1 message']],
      [about, ['2 status']],
      [about, ['3 status']],
    ]);
  });

  it('is one by an id that its owner chooses: new the first time, and every owner has ids of their own', async () => {
    const { engine } = await setUp();
    const first = await engine.send(ALICE, said('m1', { newTaskId: 'mine' }));
    const second = await engine.send(ALICE, said('m2', { newTaskId: 'mine' }));
    expect([first.id, second.id, second.history.length]).toEqual(['mine', 'mine', 2]);
    for (const owner of OTHERS) {
      expect(() => engine.get(owner, 'mine')).toThrow('no task');
      expect((await engine.send(owner, said('m3', { newTaskId: 'mine' }))).history).toHaveLength(1);
    }
    expect(engine.size).toBe(4);
  });

  it('is refused by whoever checks it, before there is a task', async () => {
    const asked: unknown[] = [];
    const check: TaskEngineOptions['check'] = (one) => {
      asked.push([one.agentId, one.message.messageId, one.terms.tier]);
      if (one.message.messageId === 'no') throw new Error('no');
    };
    const { engine } = await setUp({ check });
    await expect(engine.send(ALICE, said('no'))).rejects.toThrow('no');
    expect(engine.size).toBe(0);
    const { id } = await engine.send(ALICE, said('yes'));
    await expect(engine.send(ALICE, said('no', { taskId: id, agentId: 'another' }))).rejects.toThrow('no');
    expect(engine.get(ALICE, id).history).toHaveLength(1);
    expect(asked).toEqual([
      ['mars', 'no', 3],
      ['mars', 'yes', 3],
      ['mars', 'no', 3],
    ]);
  });
});

describe('What is said to a task as it was', () => {
  it('is refused when the task has changed since, also when that is not kept yet', async () => {
    const log = new KeptTasks();
    const { engine, turnOf, ended } = await setUp({ log });
    const { id } = await engine.send(ALICE, said('m1'));
    (await turnOf(0)).end({ state: 'input-required' });
    const { generation: ifGeneration } = await ended(id);
    const changes = { taskId: id, ifGeneration };
    const answers = [said('yes', changes), said('no', changes), said('yes', changes)];
    const [yes, no, again] = await Promise.allSettled(answers.map((one) => engine.send(ALICE, one)));
    expect(no).toMatchObject({
      status: 'rejected',
      reason: { code: 'TASK_GENERATION_MISMATCH', details: { taskId: id } },
    });
    expect([yes?.status, again?.status]).toEqual(['fulfilled', 'fulfilled']);
    expect(textsOf(engine.get(ALICE, id))).toEqual(['m1', 'yes']);
    // The same message is the same message, whatever has changed since.
    expect((await engine.send(ALICE, said('yes', changes))).id).toBe(id);
  });
});

describe('An engine that is closed', () => {
  it('waits for what is being kept, and not for ever for a log that cannot keep it', async () => {
    const log = new KeptTasks(true);
    const { clock, engine } = await setUp({ log });
    void engine.send(ALICE, said('m1')).catch(() => undefined);
    await until('it is written', () => log.waiting === 1);
    let isClosed = false;
    const closing = engine.close().then(() => {
      isClosed = true;
    });
    await clock.advanceAsync(1_000);
    expect(isClosed).toBe(false);
    await clock.advanceAsync(1_000);
    await closing;
    expect(clock.pending).toBe(0);
  });

  it('is closed as soon as everything is kept', async () => {
    const log = new KeptTasks(true);
    const { clock, engine } = await setUp({ log });
    const sent = engine.send(ALICE, said('m1'));
    await until('it is written', () => log.waiting === 1);
    const closing = engine.close();
    while (log.waiting > 0) log.keep();
    await sent;
    while (log.waiting > 0) log.keep();
    await closing;
    expect(clock.pending).toBe(0);
  });
});

describe('An engine that takes up what another has left', () => {
  async function leave(log: KeptTasks): Promise<Record<'working' | 'waiting' | 'asking' | 'over', string>> {
    const { engine, turnOf, ended } = await setUp({ log, limits: { turns: 3 } });
    const ids: string[] = [];
    for (const name of ['over', 'asking', 'working', 'waiting'])
      ids.push((await engine.send(ALICE, said(name))).id);
    const [over = '', asking = '', working = '', waiting = ''] = ids;
    await turnOf(2);
    await engine.send(ALICE, said('more', { taskId: working }));
    await engine.send(ALICE, said('last', { taskId: waiting }));
    // No room for the last one to begin before the end.
    (await turnOf(1)).end({ state: 'input-required' });
    await ended(asking);
    (await turnOf(0)).end({ state: 'completed' });
    await ended(over);
    await engine.close();
    return { over, asking, working, waiting };
  }

  it('fails what was worked at, saying why, and does the rest', async () => {
    const log = new KeptTasks();
    const { over, asking, working } = await leave(log);
    const { engine } = await setUp({ log });
    expect(engine.get(ALICE, over).status.state).toBe('completed');
    expect(engine.get(ALICE, asking).status.state).toBe('input-required');
    expect(engine.get(ALICE, working).status).toMatchObject({
      state: 'failed',
      message: {
        parts: [
          { text: 'its server ended while it was worked at' },
          { data: { code: 'SYSTEM_STOPPED', message: 'its server ended while it was worked at' } },
        ],
      },
    });
    expect((await engine.send(ALICE, said('over'))).id).toBe(over);
  });

  it('has what whoever worked at a task remembered, and says so to whoever decides', async () => {
    const log = new KeptTasks();
    const first = await setUp({ log });
    const { id } = await first.engine.send(ALICE, said('m1'));
    const { turn } = await first.turnOf(0);
    turn.remember({ step: 1 });
    turn.remember({ step: 2 });
    const decisions: unknown[] = [];
    const onRestart: TaskEngineOptions['onRestart'] = ({ agentId }, memo, number) => {
      decisions.push([agentId, memo, number]);
      return 'again';
    };
    const { turnOf } = await setUp({ log, onRestart });
    const { turn: again } = await turnOf(0);
    expect(again).toMatchObject({ memo: { step: 2 }, number: turn.number, again: true, task: { id } });
    expect(decisions).toEqual([['mars', { step: 2 }, turn.number]]);
  });

  it('does again what was worked at, where that is wanted, and then what was said after it', async () => {
    const log = new KeptTasks();
    const { working } = await leave(log);
    const { engine, turns, turnOf, ended } = await setUp({ log, onRestart: () => 'again' });
    const ofWorking = () => turns.filter(({ turn }) => turn.task.id === working);
    const [first] = await until('it is worked at', () => ofWorking().length > 0 && ofWorking());
    expect(first?.turn).toMatchObject({ message: { messageId: 'working' }, again: true });
    first?.end({ state: 'completed' });
    const [, second] = await until('the next is worked at', () => ofWorking().length > 1 && ofWorking());
    expect(second?.turn).toMatchObject({ message: { messageId: 'more' }, again: false });
    second?.end({ state: 'completed' });
    const task = await ended(working);
    expect(task.status.state).toBe('completed');
    const generations = (await all(engine.changes(ALICE, working))).map(({ generation }) => generation);
    expect(generations).toEqual(generations.map((_, at) => at + 1));
    await turnOf(0);
  });
});
