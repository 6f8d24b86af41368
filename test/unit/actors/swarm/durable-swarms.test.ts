import { describe, expect, it } from 'vitest';
import type { SwarmRecord } from '../../../../actors/swarm/swarm-record.ts';
import { LIMITS, Owner, work } from './durable-owner.ts';

describe('A durable swarm whose coordinator starts again (F-02, F-11)', () => {
  it('hands to durable agents what they have, under the epoch that they have it under', async () => {
    const owner = new Owner();
    const { id } = await owner.create(2);
    await owner.restart();
    const again = owner.handed.slice(2);
    expect(
      again.map(({ isAgain, order, inEnvelope }) => [isAgain, order.epoch, order.agentId, inEnvelope]),
    ).toEqual([
      [true, 1, 'mars', 'envelope a 1'],
      [true, 1, 'venus', 'envelope b 1'],
    ]);
    again[0]?.reports.completed('A');
    again[1]?.reports.completed('B');
    expect((await owner.owned.outcome(id)).results).toEqual({ a: 'A', b: 'B' });
  });

  it('gives at once to others what agents had of whom nothing is left, under the next epoch', async () => {
    const owner = new Owner();
    owner.isKept = false;
    const { id } = await owner.create(1);
    owner.agents = ['venus'];
    await owner.restart();
    await owner.clock.advanceAsync(0);
    expect(owner.handed.map(({ order, isAgain }) => [order.agentId, order.epoch, isAgain])).toEqual([
      ['mars', 1, false],
      ['venus', 2, false],
    ]);
    expect(owner.subTask(id)?.assignments[0]).toMatchObject({ end: 'lost' });
  });

  it('leaves a lease the time that it had', async () => {
    const owner = new Owner();
    const { id } = await owner.create(1);
    await owner.clock.advanceAsync(59);
    await owner.restart();
    await owner.clock.advanceAsync(39);
    expect(owner.subTask(id)).toMatchObject({ status: 'running', epoch: 1 });
    await owner.clock.advanceAsync(2);
    expect(owner.subTask(id)?.assignments[0]).toMatchObject({ end: 'stalled', agentId: 'mars' });
  });

  it('counts the lease from the last sign of life that is kept, a quarter of it old at most', async () => {
    const owner = new Owner();
    const { id } = await owner.create(1);
    for (let times = 0; times < 8; times += 1) {
      await owner.clock.advanceAsync(15);
      owner.handed[0]?.reports.progressed({});
    }
    await owner.restart();
    await owner.clock.advanceAsync(70);
    expect(owner.subTask(id)).toMatchObject({ status: 'running', epoch: 1 });
    await owner.clock.advanceAsync(31);
    expect(owner.subTask(id)?.assignments[0]).toMatchObject({ end: 'stalled' });
  });

  it('gives a lease that ran out meanwhile a quarter of it, so that what has come is heard', async () => {
    const owner = new Owner();
    const { id } = await owner.create(1);
    await owner.restart(10_000);
    await owner.clock.advanceAsync(24);
    expect(owner.subTask(id)).toMatchObject({ status: 'running', epoch: 1 });
    owner.handed[1]?.reports.completed('in time');
    expect((await owner.owned.outcome(id)).results).toEqual({ a: 'in time' });

    const { id: other } = await owner.create(1);
    await owner.restart(10_000);
    await owner.clock.advanceAsync(26);
    expect(owner.subTask(other)?.assignments[0]).toMatchObject({ end: 'stalled' });
  });

  it('hands over what was decided and not sent, once', async () => {
    const owner = new Owner();
    const { id } = await owner.create(1);
    const record = JSON.parse(owner.records.kept.get(id) as string) as SwarmRecord;
    delete record.session.subTasks[0]?.assignments[0]?.envelopeId;
    owner.records.put('swarm', id, record);
    await owner.restart();
    await owner.clock.advanceAsync(0);
    expect(owner.handed[1]).toMatchObject({ isAgain: false, order: { agentId: 'mars', epoch: 1 } });
    expect(owner.subTask(id)?.assignments).toMatchObject([{ envelopeId: 'envelope a 1' }]);
  });

  it('does not take the end of a process for a failure of its agent, unless that happens again', async () => {
    const owner = new Owner();
    owner.agents = ['mars'];
    const { id } = await owner.create(1);
    await owner.restart();
    const died = { code: 'ACTOR_DIED' as const, message: 'its process ended' };
    owner.handed[1]?.reports.failed(died);
    await owner.clock.advanceAsync(0);
    expect(owner.subTask(id)).toMatchObject({ status: 'running', epoch: 2, assignedAgent: 'mars' });
    await owner.restart();
    owner.handed[3]?.reports.failed(died);
    const { status, subTasks } = await owner.owned.outcome(id);
    expect(status).toBe('failed');
    expect(subTasks[0]?.assignments.map(({ end }) => end)).toEqual(['lost', 'lost']);
  });

  it('proposes anew to those that had not answered, and takes back the former proposals', async () => {
    const owner = new Owner();
    owner.answers = false;
    const { id } = await owner.create(1);
    for (let times = 0; times < 4; times += 1) await owner.restart(10);
    expect(owner.owned.get(id)?.status).toBe('recruiting');
    expect(owner.withdrawn).toEqual(Array.from({ length: 4 }, () => ['mars', 'venus']).flat());
    owner.answers = true;
    await owner.restart();
    await owner.clock.advanceAsync(1);
    expect(owner.owned.get(id)?.status).toBe('active');
    expect(owner.proposed).toHaveLength(12);
  });

  it('stays as it is when the system stops, and whoever waits for its end is told so', async () => {
    const owner = new Owner();
    const { id } = await owner.create(2);
    const kept = owner.records.kept.get(id);
    const outcome = owner.owned.outcome(id).catch(({ code }: { code: string }) => code);
    owner.handed[0]?.reports.suspended();
    owner.handed[1]?.reports.failed({ code: 'REFUSED', message: 'it stops, too' });
    await owner.clock.advanceAsync(1_000);
    expect(await outcome).toBe('SYSTEM_STOPPED');
    await expect(owner.owned.outcome(id)).rejects.toMatchObject({ code: 'SYSTEM_STOPPED' });
    expect(owner.clock.pending).toBe(0);
    expect(owner.records.kept.get(id)).toBe(kept);
  });
});

describe('A durable swarm whose system stops (N-8.5)', () => {
  it('leaves nothing behind, at whatever it is', async () => {
    const owner = new Owner();
    owner.answers = false;
    const { id } = await owner.create(1);
    const kept = owner.records.kept.get(id);
    owner.owned.suspend();
    await owner.clock.advanceAsync(1_000);
    expect(owner.owned.get(id)?.status).toBe('recruiting');
    expect(owner.records.kept.get(id)).toBe(kept);
    expect(owner.clock.pending).toBe(0);
  });

  it('does not tell the handler that it belongs to: what that handles is tried again', async () => {
    const owner = new Owner();
    const { id } = await owner.create(1, work());
    const told: unknown[] = [];
    const tell = (what: unknown): void => void told.push(what);
    void owner.owned.outcome(id).then(tell, tell);
    owner.handed[0]?.reports.suspended();
    void owner.owned.outcome(id).then(tell, tell);
    await owner.clock.advanceAsync(1_000);
    expect(told).toEqual([]);
  });
});

describe('A swarm that was made in work that a death cut off (N-8.5)', () => {
  it('is given to the next attempt of that, with what there is', async () => {
    const owner = new Owner();
    const { id } = await owner.create(2, work());
    owner.handed[0]?.reports.completed('A');
    await owner.restart();
    await owner.clock.advanceAsync(1_000);
    expect(owner.handed).toHaveLength(2);
    const again = await owner.create(2, work());
    expect(again.id).toBe(id);
    expect(owner.handed).toHaveLength(3);
    owner.handed[2]?.reports.completed('B');
    expect((await owner.owned.outcome(id)).results).toEqual({ a: 'A', b: 'B' });
    // Also when it is over by then.
    await owner.restart();
    expect((await owner.create(2, work())).status).toBe('completed');
    expect(owner.owned.list()).toHaveLength(1);
  });

  it('is not taken for another one: of another envelope, in another place, or with another task', async () => {
    const owner = new Owner();
    const { id } = await owner.create(1, work());
    await owner.restart();
    const ids = [
      (await owner.create(1, work({ envelopeId: 'envelope 2' }))).id,
      (await owner.create(1, work({ nth: 2 }))).id,
      (
        await owner.owned.create(
          owner.reach,
          { taskDescription: 'U', requiredCapabilities: ['x'], work: work() },
          LIMITS,
        )
      ).id,
    ];
    expect(new Set([id, ...ids]).size).toBe(4);
  });

  it('is cancelled at its agents when the attempt is the last one', async () => {
    const owner = new Owner();
    const { id } = await owner.create(3, work({ isTriedAgain: false }));
    await owner.restart();
    expect(owner.owned.get(id)).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } });
    expect(owner.handed.map(({ isAgain, cancelled }) => [isAgain, cancelled !== undefined])).toEqual([
      [false, false],
      [false, false],
      [true, true],
      [true, true],
    ]);
  });

  it('is cancelled when no attempt has claimed it by the deadline of the work, or within ten minutes', async () => {
    for (const [deadlineInMs, waitMs] of [
      [5_000, 5_000],
      [undefined, 600_000],
    ] as const) {
      const owner = new Owner();
      const deadlineAtMs =
        deadlineInMs === undefined ? {} : { deadlineAtMs: owner.clock.now() + deadlineInMs };
      const { id } = await owner.create(1, work(deadlineAtMs));
      await owner.restart();
      await owner.clock.advanceAsync(waitMs - 2);
      expect(owner.owned.get(id)?.status).toBe('active');
      await owner.clock.advanceAsync(2);
      expect(owner.owned.get(id)).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } });
      // The next attempt begins anew.
      expect((await owner.create(1, work())).id).not.toBe(id);
    }
  });

  it('is made anew when the attempt that made it has ended here', async () => {
    const owner = new Owner();
    const { id } = await owner.create(1, work());
    const again = await owner.create(1, work());
    expect(again.id).not.toBe(id);
    expect(owner.owned.get(id)).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } });
  });
});
