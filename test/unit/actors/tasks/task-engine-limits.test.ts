import { describe, expect, it } from 'vitest';
import type { Said } from '../../../../runtime/protocol/task-service.ts';
import { KeptTasks } from '../../../fixtures/kept-tasks.ts';
import { rejection, until } from '../../../fixtures/until.ts';
import { ALICE, artifact, engineInHand, OTHERS, said } from './engine-in-hand.ts';

describe('Limits of an engine', () => {
  it('let an owner have so many tasks; those that are over make room, the oldest first', async () => {
    const { engine, turnOf, ended } = await engineInHand({ limits: { tasks: 2 } });
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
    const { engine, turnOf, ended } = await engineInHand({ limits: { tenantTasks: 2 } });
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
    const { engine, turnOf, ended } = await engineInHand({ limits: { tenantTasks: 1, totalTasks: 3 } });
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
    const { engine, turns, turnOf, ended } = await engineInHand({ limits });
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
    const { engine, turnOf, ended } = await engineInHand({ limits: { bytes: 2_000 } });
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
    const { engine, turns, turnOf, ended } = await engineInHand({ limits: { ownerBytes: 2_500 } });
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
    const { engine, turns, turnOf } = await engineInHand({ limits: { waiting: 1, turns: 1 } });
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
    const { clock, engine, turnOf, ended } = await engineInHand({ log, limits: { ttlMs: 100_000 } });
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
    const { engine, turnOf, ended } = await engineInHand({ log, onProblem, limits: { tasks: 1 } });
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
      expect((await rejection(engineInHand({ limits: limits as object }))).code).toBe('INVALID_OPTIONS');
    },
  );
});
