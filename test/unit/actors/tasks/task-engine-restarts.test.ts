import { describe, expect, it } from 'vitest';
import type { TaskEngineOptions } from '../../../../actors/tasks/task-engine.ts';
import { KeptTasks } from '../../../fixtures/kept-tasks.ts';
import { until } from '../../../fixtures/until.ts';
import { ALICE, all, engineInHand, said } from './engine-in-hand.ts';

describe('An engine whose log does not take what an agent has answered', () => {
  it.each(['throws', 'rejects'])('says so where it %s, and shows the task as it is kept', async (how) => {
    const log = new KeptTasks();
    const problems: string[] = [];
    const { engine, turnOf } = await engineInHand({ log, onProblem: (reason) => void problems.push(reason) });
    const { id } = await engine.send(ALICE, said('m1'));
    const first = await turnOf(0);
    await engine.send(ALICE, said('m2', { taskId: id }));
    log.append = () => {
      const full = new Error('the disk is full');
      if (how === 'throws') throw full;
      return Promise.reject(full);
    };
    first.end({ state: 'completed' });
    await until('it is told', () => problems.length > 0);
    expect(problems).toEqual([`The task "${id}" is not kept any more, and stays working: the disk is full`]);
    expect(engine.get(ALICE, id).status.state).toBe('working');
    await expect(engine.whenIdle(ALICE, id)).rejects.toThrow('the disk is full');
    await expect(engine.send(ALICE, said('m3', { taskId: id }))).rejects.toThrow('the disk is full');
  });
});

describe('An engine that is closed', () => {
  it('waits for what is being kept, and not for ever for a log that cannot keep it', async () => {
    const log = new KeptTasks(true);
    const { clock, engine } = await engineInHand({ log });
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
    const { clock, engine } = await engineInHand({ log });
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
    const { engine, turnOf, ended } = await engineInHand({ log, limits: { turns: 3 } });
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

  it('leaves out a task that has come where none can, and says so', async () => {
    const log = new KeptTasks();
    const { over, asking } = await leave(log);
    const kept = [...log.tasks.values()].find(({ opening }) => opening.id === over);
    const { generation = 0 } = kept?.changes.at(-1) ?? {};
    const again = { kind: 'status' as const, state: 'working' as const, generation: generation + 1, atMs: 1 };
    log.tasks.set(kept?.opening.key ?? '', {
      opening: kept?.opening as never,
      changes: [...(kept?.changes ?? []), again],
    });
    const problems: string[] = [];
    const { engine } = await engineInHand({ log, onProblem: (reason) => problems.push(reason) });
    expect(() => engine.get(ALICE, over)).toThrow(expect.objectContaining({ code: 'TASK_NOT_FOUND' }));
    expect(engine.get(ALICE, asking).status.state).toBe('input-required');
    expect(problems).toEqual([expect.stringMatching(`"${over}" of the log is left out: .*it is completed`)]);
    await engine.close();
  });

  it('works at each of several messages with one id, and knows each of them again', async () => {
    const log = new KeptTasks();
    const saying = (text: string, changes: object = {}) => ({
      ...said('m1', changes),
      message: { messageId: 'm1', role: 'user' as const, parts: [{ text }] },
    });
    const former = await engineInHand({ log });
    const { id } = await former.engine.send(ALICE, saying('one'));
    (await former.turnOf(0)).end({ state: 'input-required' });
    await former.ended(id);
    for (const text of ['two', 'three']) await former.engine.send(ALICE, saying(text, { taskId: id }));
    const other = await former.engine.send(ALICE, saying('two'));
    await former.engine.close();
    const { engine, turns, turnOf, ended } = await engineInHand({ log, onRestart: () => 'again' });
    const textOf = (at: number): unknown => turns[at]?.turn.message.parts[0];
    await turnOf(1);
    for (const text of ['two', 'three']) await engine.send(ALICE, saying(text, { taskId: id }));
    expect((await engine.send(ALICE, saying('one'))).id).toBe(id);
    expect((await engine.send(ALICE, saying('two'))).id).toBe(other.id);
    const first = turns.findIndex(({ turn }) => turn.opening.id === id);
    expect(textOf(first)).toEqual({ text: 'two' });
    turns[first]?.end({ state: 'input-required' });
    (await turnOf(2)).end({ state: 'completed' });
    expect(textOf(2)).toEqual({ text: 'three' });
    expect((await ended(id)).history).toHaveLength(3);
    expect([engine.size, turns.length]).toEqual([2, 3]);
  });

  it('fails what was worked at, saying why, and does the rest', async () => {
    const log = new KeptTasks();
    const { over, asking, working } = await leave(log);
    const { engine } = await engineInHand({ log });
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
    const first = await engineInHand({ log });
    const { id } = await first.engine.send(ALICE, said('m1'));
    const { turn } = await first.turnOf(0);
    turn.remember({ step: 1 });
    turn.remember({ step: 2 });
    const decisions: unknown[] = [];
    const onRestart: TaskEngineOptions['onRestart'] = ({ agentId }, memo, number) => {
      decisions.push([agentId, memo, number]);
      return 'again';
    };
    const { turnOf } = await engineInHand({ log, onRestart });
    const { turn: again } = await turnOf(0);
    expect(again).toMatchObject({ memo: { step: 2 }, number: turn.number, again: true, task: { id } });
    expect(decisions).toEqual([['mars', { step: 2 }, turn.number]]);
  });

  it('does again what was worked at, where that is wanted, and then what was said after it', async () => {
    const log = new KeptTasks();
    const { working } = await leave(log);
    const { engine, turns, turnOf, ended } = await engineInHand({ log, onRestart: () => 'again' });
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
