import { describe, expect, it } from 'vitest';
import { SwarmRecord } from '../../../../actors/swarm/swarm-record.ts';
import { InMemorySwarmStore } from '../../../../actors/swarm/swarm-store.ts';
import type { Deed } from './scripted-reach.ts';
import { answers, LIMITS, sleeps } from './swarm-deeds.ts';
import { able, SwarmWorld } from './swarm-world.ts';

describe('A coordinator that starts again', () => {
  const plan = ['a', 'b', 'c', 'd'].map((id) => ({ id, requiredCapabilities: ['x'] }));
  const agents = () => [
    able('mars', ['x'], { deeds: [answers(30)] }),
    able('venus', ['x'], { deeds: [answers(30)] }),
  ];

  it.each([5, 25, 45, 65])('goes on from its store, interrupted after %i ms', async (atMs) => {
    const store = new InMemorySwarmStore();
    const first = new SwarmWorld(agents(), { store });
    const { id } = await first.create(['x'], { ...LIMITS, plan });
    await first.clock.advanceAsync(atMs);
    const before = first.session(id);
    first.owned.close();

    const second = new SwarmWorld(agents(), { store, clock: first.clock });
    await second.owned.resume(second.reach);
    const outcome = await second.outcome(id);
    expect(outcome.status).toBe('completed');
    for (const done of before.subTasks.filter(({ status }) => status === 'completed'))
      expect(outcome.results[done.id]).toEqual(done.result);
    // What the first one had handed out is under an epoch of its own, so that a report on it would be late.
    for (const { id: subTaskId, epoch, status } of before.subTasks)
      if (status === 'running')
        expect(second.session(id).subTasks.find((one) => one.id === subTaskId)?.epoch).toBe(epoch + 1);
    expect(second.session(id).stateVersion).toBe(4);
  });

  it('takes over neither what it has already nor what others own', async () => {
    const store = new InMemorySwarmStore();
    const world = new SwarmWorld(agents(), { store });
    const { id } = await world.create(['x'], { ...LIMITS, plan });
    const record = store.list()[0] as SwarmRecord;
    store.put({ ...record, session: { ...record.session, id: '9@other', ownerId: 'other' } });
    await world.clock.advanceAsync(5);
    await world.owned.resume(world.reach);
    expect(world.owned.list().map((session) => session.id)).toEqual([id]);
    expect((await world.outcome(id)).subTasks.every(({ assignments }) => assignments.length === 1)).toBe(
      true,
    );
  });

  it('has nothing to do for what was over', async () => {
    const store = new InMemorySwarmStore();
    const first = new SwarmWorld(agents(), { store });
    const { id } = await first.create(['x'], LIMITS);
    const outcome = await first.outcome(id);
    first.owned.close();
    const second = new SwarmWorld(agents(), { store, clock: first.clock });
    await second.owned.resume(second.reach);
    expect(await second.owned.outcome(id)).toEqual(outcome);
    expect(second.reach.orders).toEqual([]);
  });
});

describe('A store', () => {
  it('can keep a record as JSON', async () => {
    const store = new InMemorySwarmStore();
    const deeds: Deed[] = [{ does: 'checkpoints', afterMs: 5, next: 'sleeps' }];
    const world = new SwarmWorld([able('mars', ['x'], { deeds }), able('venus', ['x'], { deeds })], {
      store,
    });
    await world.create(['x'], { ...LIMITS, timeoutMs: 5_000, escalationJustification: 'why' });
    await world.clock.advanceAsync(160);
    const [record] = store.list();
    expect(record?.session.subTasks[0]?.assignments).toHaveLength(2);
    const { graceMs, ...limits } = (record as SwarmRecord).limits;
    expect(SwarmRecord.parse(JSON.parse(JSON.stringify(record)))).toEqual({
      ...record,
      limits: { ...limits, graceMs },
    });
  });

  it('has an assignment before the agent has it', async () => {
    const kept = new InMemorySwarmStore();
    let gate = Promise.resolve();
    const store = {
      put: (record: SwarmRecord) => gate.then(() => kept.put(record)),
      list: () => kept.list(),
    };
    const world = new SwarmWorld([able('mars', ['x'])], { store });
    const { id } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(0);
    expect(world.reach.proposals).toHaveLength(1);
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    await world.clock.advanceAsync(50);
    expect(world.session(id).subTasks[0]).toMatchObject({ status: 'running', epoch: 1 });
    expect(world.reach.orders).toEqual([]);
    resolve();
    await world.clock.advanceAsync(1);
    expect(world.reach.orders).toHaveLength(1);
    expect(kept.list()[0]?.session.subTasks[0]).toMatchObject({ status: 'running', epoch: 1 });
  });
});

describe('A store that fails or takes its time (N-8.5)', () => {
  /** A store that takes nothing while `isBroken`. */
  function breaking() {
    const memory = new InMemorySwarmStore();
    const store = {
      isBroken: false,
      put: (record: SwarmRecord) => {
        if (store.isBroken) throw new Error('no room');
        memory.put(record);
      },
      list: () => memory.list(),
    };
    return store;
  }

  it('has a result not happened that it did not take: the agent keeps the sub-task, and its lease', async () => {
    const store = breaking();
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [{ does: 'sleeps' }] })], { store });
    const { id: swarmId } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(60);
    const report = { kind: 'swarm.fail' as const, swarmId, subTaskId: 'x', error: 'no' };
    store.isBroken = true;
    expect(() => world.owned.answer('mars', report)).toThrow('no room');
    expect(world.session(swarmId).subTasks[0]).toMatchObject({ status: 'running', assignedAgent: 'mars' });
    store.isBroken = false;
    const { subTasks } = await world.outcome(swarmId);
    expect(subTasks[0]?.assignments).toMatchObject([{ agentId: 'mars', end: 'stalled' }]);
  });

  it('has an end not happened that it did not take: swarm and sub-tasks go on', async () => {
    const store = breaking();
    const world = new SwarmWorld([able('mars', ['x']), able('venus', ['y'], { deeds: [answers(90)] })], {
      store,
    });
    const { id: swarmId } = await world.create(['x', 'y'], LIMITS);
    await world.clock.advanceAsync(30);
    store.isBroken = true;
    expect(() => world.owned.cancel(swarmId, 'enough')).toThrow('no room');
    const { status, subTasks } = world.session(swarmId);
    expect([status, ...subTasks.map((one) => one.status)]).toEqual(['active', 'completed', 'running']);
    store.isBroken = false;
    world.owned.cancel(swarmId, 'enough');
    expect(await world.outcome(swarmId)).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } });
    await world.clock.advanceAsync(1_000);
    expect(world.clock.pending).toBe(0);
  });

  const told = (world: SwarmWorld) =>
    world.reach.events.filter(({ errorCode }) => errorCode !== undefined).map(({ reason }) => reason);
  const NOT_KEPT = expect.stringMatching(/^The store of the swarm \S+ did not keep .*: no room$/);

  it('tells whoever watches of an answer that it did not take, and has it when it takes it', async () => {
    const store = breaking();
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [answers(30)] })], { store });
    const { id: swarmId } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(20);
    store.isBroken = true;
    await world.clock.advanceAsync(60);
    expect(world.session(swarmId).subTasks[0]).toMatchObject({ status: 'running', assignedAgent: 'mars' });
    expect(told(world)).toEqual([NOT_KEPT]);
    expect(world.reach.events.at(-1)).toMatchObject({ isGood: false, errorCode: 'STORE_FAILED' });
    store.isBroken = false;
    const { status, subTasks } = await world.outcome(swarmId);
    expect([status, subTasks[0]?.lates]).toEqual(['completed', []]);
    expect(subTasks[0]?.assignments).toMatchObject([{ agentId: 'mars', end: 'completed' }]);
    await world.clock.advanceAsync(1_000);
    expect(world.clock.pending).toBe(0);
  });

  const plods: Deed = { does: 'plods', everyMs: 50, times: 99 };
  const isTooLate = { status: 'failed', error: { code: 'DEADLINE_EXCEEDED' } };

  it.each([
    { what: 'the answer to a proposal', atMs: 0, deed: answers(10), ending: { status: 'completed' } },
    { what: 'the end of a lease', atMs: 100, deed: sleeps, ending: isTooLate },
    { what: 'the deadline of the swarm', atMs: 290, deed: plods, ending: isTooLate },
  ])('has $what when it takes it', async ({ atMs, deed, ending }) => {
    const store = breaking();
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [deed] })], { store });
    const { id } = await world.create(['x'], { ...LIMITS, timeoutMs: 300 });
    await world.clock.advanceAsync(atMs);
    store.isBroken = true;
    await world.clock.advanceAsync(70);
    expect(told(world)).toContainEqual(NOT_KEPT);
    store.isBroken = false;
    expect(await world.outcome(id)).toMatchObject(ending);
    await world.clock.advanceAsync(20_000);
    expect(world.clock.pending).toBe(0);
  });

  it('has the end of the time for answers when it takes it', async () => {
    const store = breaking();
    const agents = [able('mars', ['x']), able('venus', ['x'], { answers: 'never' })];
    const world = new SwarmWorld(agents, { store });
    const { id } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(40);
    store.isBroken = true;
    await world.clock.advanceAsync(20);
    expect(world.session(id).status).toBe('recruiting');
    expect(told(world)).toContainEqual(NOT_KEPT);
    store.isBroken = false;
    expect(await world.outcome(id)).toMatchObject({ status: 'completed', participants: ['mars'] });
  });

  it('has the end that a signal wanted when it takes it', async () => {
    const store = breaking();
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [plods] })], {
      store,
    });
    const abort = new AbortController();
    const { id } = await world.create(['x'], { ...LIMITS, signal: abort.signal });
    await world.clock.advanceAsync(20);
    store.isBroken = true;
    abort.abort();
    expect([world.session(id).status, told(world)]).toEqual(['active', [NOT_KEPT]]);
    store.isBroken = false;
    expect(await world.outcome(id)).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } });
  });

  it('is given what it rejects again: nothing that follows from it is done before', async () => {
    const kept = new InMemorySwarmStore();
    let isBroken = true;
    const store = {
      put: async (record: SwarmRecord) => {
        if (isBroken) throw new Error('no room');
        kept.put(record);
      },
      list: () => kept.list(),
    };
    const world = new SwarmWorld([able('mars', ['x'])], { store });
    const { id } = await world.create(['x'], { ...LIMITS, recruitMs: 5_000 });
    await world.clock.advanceAsync(500);
    expect(world.reach.proposals).toEqual([]);
    expect(told(world)).toContainEqual(NOT_KEPT);
    isBroken = false;
    expect(await world.outcome(id)).toMatchObject({ status: 'completed' });
    expect(kept.list()[0]?.session.status).toBe('completed');
    await world.clock.advanceAsync(20_000);
    expect(world.clock.pending).toBe(0);
  });

  it('is tried no longer when its coordinator is closed', async () => {
    const store = breaking();
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [answers(30)] })], { store });
    await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(20);
    store.isBroken = true;
    await world.clock.advanceAsync(20);
    expect(told(world)).toHaveLength(1);
    world.owned.close();
    expect(world.clock.pending).toBe(0);
  });

  it('has nothing cancelled by an end that it did not take: the work goes on, and counts', async () => {
    const store = breaking();
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [answers(60)] })], { store });
    const { id: swarmId } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(20);
    store.isBroken = true;
    expect(() => world.owned.cancel(swarmId, 'enough')).toThrow('no room');
    expect(world.reach.cancelled).toEqual([]);
    store.isBroken = false;
    expect(await world.outcome(swarmId)).toMatchObject({ status: 'completed' });
  });

  it('is not put down to an agent that it kept waiting for longer than a lease', async () => {
    const kept = new InMemorySwarmStore();
    let gate = Promise.resolve();
    const store = {
      put: (record: SwarmRecord) => gate.then(() => kept.put(record)),
      list: () => kept.list(),
    };
    const world = new SwarmWorld([able('mars', ['x']), able('venus', ['x'])], { store });
    const { id } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(0);
    const { promise, resolve } = Promise.withResolvers<void>();
    gate = promise;
    await world.clock.advanceAsync(LIMITS.leaseMs * 5);
    expect(world.reach.orders).toEqual([]);
    resolve();
    const { subTasks } = await world.outcome(id);
    expect(subTasks[0]?.assignments).toMatchObject([{ epoch: 1, end: 'completed' }]);
  });
});

describe('A store in memory', () => {
  it('forgets the oldest of those that are over, and nothing that goes on', async () => {
    const store = new InMemorySwarmStore(2);
    const world = new SwarmWorld([able('mars', ['x'])], { store });
    const busy = await world.create(['x'], { ...LIMITS, recruitMs: 100_000 });
    const ids: string[] = [];
    for (let at = 0; at < 4; at += 1) {
      const { id } = await world.create(['nobody has it'], LIMITS);
      ids.push(id);
    }
    const kept = store.list().map(({ session }) => session.id);
    expect(kept).toEqual([busy.id, ...ids.slice(-3)]);
  });
});
