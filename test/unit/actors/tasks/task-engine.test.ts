import { describe, expect, it } from 'vitest';
import type { TaskEngineOptions } from '../../../../actors/tasks/task-engine.ts';
import type { Task } from '../../../../runtime/protocol/task.ts';
import { KeptTasks } from '../../../fixtures/kept-tasks.ts';
import { rejection, until } from '../../../fixtures/until.ts';
import { ALICE, all, artifact, engineInHand, OTHERS, said } from './engine-in-hand.ts';

const agentSays = (text: string) => ({ messageId: `of ${text}`, role: 'agent' as const, parts: [{ text }] });
const textsOf = ({ history }: Task): string[] =>
  history.map(({ parts }) => (parts[0] as { text: string }).text);

describe('A task', () => {
  it('is made of a message, worked at, and done (X-25, X-26, X-28..X-30, X-50)', async () => {
    const { engine, turnOf, ended } = await engineInHand();
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
    const { engine, turnOf, ended } = await engineInHand();
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

  it('does not ask whoever has answered once more, while that is being kept (X-51)', async () => {
    const log = new KeptTasks(true);
    const { engine, turnOf, ended } = await engineInHand({ log });
    const kept = async <Result>(work: Promise<Result>): Promise<Result> => {
      let isDone = false;
      const result = work.finally(() => {
        isDone = true;
      });
      await until('it is kept', () => {
        if (!isDone) log.keep();
        return isDone;
      });
      return result;
    };
    const { id } = await kept(engine.send(ALICE, said('m1')));
    (await kept(turnOf(0))).end({ state: 'input-required', message: agentSays('which one?') });
    expect((await kept(ended(id))).status.state).toBe('input-required');
    const answered = await kept(engine.send(ALICE, said('m2', { taskId: id })));
    expect(answered.status.state).toBe('working');
    expect(textsOf(answered)).toEqual(['m1', 'which one?', 'm2']);
  });

  it('has one turn after the other, and is not done before everything that was said is worked at', async () => {
    const { engine, turns, turnOf, ended } = await engineInHand();
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

  it('has a copy of what was said, unless that was handed over; both are looked through', async () => {
    const { engine, turnOf } = await engineInHand();
    const data = { list: [{ a: 1 }] };
    const message = { messageId: 'm', role: 'user' as const, parts: [{ data }], metadata: { list: [1] } };
    const metadata = { of: { a: 'task' } };
    await engine.send(ALICE, said('', { message, metadata }));
    await engine.send(OTHERS[0] as typeof ALICE, said('', { message, metadata, isHandedOver: true }));
    const [copy, own] = [(await turnOf(0)).turn, (await turnOf(1)).turn];
    data.list.push({ a: 2 });
    expect(copy.message.parts).toEqual([{ data: { list: [{ a: 1 }] } }]);
    expect(own.message.parts).toEqual([{ data: { list: [{ a: 1 }, { a: 2 }] } }]);
    expect(own.message.metadata).toBe(message.metadata);
    expect([copy.opening.metadata, own.opening.metadata]).toEqual([metadata, metadata]);
    const wrong = { ...message, messageId: 'n', parts: [{ data: [new Date(0)] as never }] };
    for (const isHandedOver of [false, true])
      expect(await rejection(engine.send(ALICE, said('', { message: wrong, isHandedOver })))).toMatchObject({
        code: 'INVALID_OPTIONS',
      });
    expect((await rejection(engine.send(ALICE, undefined as never))).code).toBe('INVALID_OPTIONS');
  });

  it('is one task however often its message is sent, also while it is being kept', async () => {
    const log = new KeptTasks(true);
    const { engine, turns } = await engineInHand({ log });
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

  it('is another one for a message that says something else under the same id, or to another task, which is told', async () => {
    const reused: unknown[] = [];
    const onReusedId = (...told: string[]): void => void reused.push(told);
    const { engine, turns, turnOf, ended } = await engineInHand({ onReusedId });
    const saying = (text: string, changes: object = {}) => ({
      ...said('m1', changes),
      message: { messageId: 'm1', role: 'user' as const, parts: [{ text }] },
    });
    const one = await engine.send(ALICE, saying('pay Bob'));
    const other = await engine.send(ALICE, saying('pay Eve'));
    const venus = await engine.send(ALICE, saying('pay Bob', { agentId: 'venus' }));
    expect(new Set([one.id, other.id, venus.id]).size).toBe(3);
    expect(reused).toEqual([
      ['mars', 'm1'],
      ['venus', 'm1'],
    ]);
    expect([other.history, turns.length]).toMatchObject([[{ parts: [{ text: 'pay Eve' }] }], 3]);
    // Each is itself when it is sent again, whatever came between.
    expect((await engine.send(ALICE, saying('pay Bob'))).id).toBe(one.id);
    expect((await engine.send(ALICE, saying('pay Eve'))).id).toBe(other.id);
    expect((await engine.send(ALICE, saying('pay Bob', { agentId: 'venus' }))).id).toBe(venus.id);
    // Said to its task it is the next thing said, once.
    await engine.send(ALICE, saying('pay Bob', { taskId: one.id }));
    await engine.send(ALICE, saying('pay Bob', { taskId: one.id }));
    expect(engine.get(ALICE, one.id).history).toHaveLength(2);
    (await turnOf(0)).end({ state: 'completed' });
    (await turnOf(3)).end({ state: 'completed' });
    expect((await ended(one.id)).status.state).toBe('completed');
    expect([turns.length, reused.length]).toEqual([4, 3]);
  });

  it('is cancelled at once, and so is the work at it (X-27, C-11)', async () => {
    const { engine, turnOf, ended } = await engineInHand();
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

  it('fails when its agent does, and says nothing of what was thrown', async () => {
    const { engine, turnOf, ended } = await engineInHand();
    const { id } = await engine.send(ALICE, said('m1'));
    (await turnOf(0)).fail(new Error('the disk is gone'));
    expect(await ended(id)).toMatchObject({
      status: {
        state: 'failed',
        message: {
          role: 'agent',
          parts: [
            { text: 'The agent failed at this' },
            {
              data: {
                code: 'HANDLER_FAILED',
                message: 'The agent failed at this',
                id: expect.any(String) as string,
              },
            },
          ],
        },
      },
    });
  });

  it('is nobody else’s: for them it is not there', async () => {
    const { engine } = await engineInHand();
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
    const { engine } = await engineInHand();
    const { id } = await engine.send(ALICE, said('m1'));
    const failed = await rejection(engine.send(ALICE, { ...said('m2', { taskId: id }), ...changes }));
    expect(failed.code).toBe('INVALID_OPTIONS');
    expect(failed.message).toContain(field);
    expect(engine.get(ALICE, id).history).toHaveLength(1);
  });
});

describe('What is asked about tasks', () => {
  it('is who works at them, and what an engine hears of all changes when they are kept', async () => {
    const { engine, turnOf, ended } = await engineInHand();
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
    const { engine } = await engineInHand();
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
    const { engine } = await engineInHand({ check });
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
    const { engine, turnOf, ended } = await engineInHand({ log });
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
