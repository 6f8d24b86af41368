import { describe, expect, it } from 'vitest';
import { InMemorySwarmStore } from '../../../../actors/swarm/swarm-store.ts';
import { SwarmRecord } from '../../../../actors/swarm/swarm-record.ts';
import type { SwarmSubTask } from '../../../../actors/swarm/swarm-session.ts';
import { rejection } from '../../../fixtures/until.ts';
import type { Deed } from './scripted-reach.ts';
import { able, SwarmWorld } from './swarm-world.ts';

const LIMITS = { recruitMs: 50, leaseMs: 100, graceMs: 100 };
const sleeps: Deed = { does: 'sleeps' };
const answers = (afterMs: number): Deed => ({ does: 'answers', afterMs });
const fails = (code: 'ACTOR_DIED' | 'THREAD_DIED' | 'REFUSED' | 'NOT_HERE', afterMs = 10) => ({
  does: 'fails' as const,
  afterMs,
  code,
});

const ends = ({ assignments }: Pick<SwarmSubTask, 'assignments'>) =>
  assignments.map(({ agentId, end }) => `${agentId} ${end}`);

const refusalOf = (act: () => unknown): { code: string; message: string } => {
  try {
    act();
  } catch (error) {
    return error as { code: string; message: string };
  }
  throw new Error('It was not refused');
};

describe('Replacing a participant (N-8.5, N-T03, N-V04)', () => {
  it.each([
    ['dies', fails('ACTOR_DIED'), 'failed'],
    ['declines what it was assigned', fails('REFUSED'), 'failed'],
    ['was in a thread that died', fails('THREAD_DIED'), 'lost'],
    ['stalls', sleeps, 'stalled'],
  ])('gives the sub-task of an agent that %s to another capable one', async (_what, deed, end) => {
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [deed] }), able('venus', ['x'])]);
    const { id } = await world.create(['x'], LIMITS);
    const outcome = await world.outcome(id);
    expect(outcome).toMatchObject({ status: 'completed', isEscalated: false, participants: ['venus'] });
    expect(ends(world.session(id).subTasks[0] as SwarmSubTask)).toEqual([`mars ${end}`, 'venus completed']);
    expect(outcome.results).toEqual({ x: { subTaskId: 'x', agentId: 'venus', epoch: 2 } });
  });

  it('escalates to the owner with what there is when nobody is left', async () => {
    const world = new SwarmWorld([
      able('mars', ['x'], { deeds: [{ does: 'checkpoints', afterMs: 5, next: 'fails' }] }),
      able('venus', ['x'], { deeds: [sleeps] }),
      able('pluto', ['y']),
    ]);
    const { id } = await world.create(['x', 'y'], LIMITS);
    const outcome = await world.outcome(id);
    expect(outcome).toMatchObject({
      status: 'failed',
      isEscalated: true,
      results: { y: { agentId: 'pluto' } },
    });
    const [failed] = outcome.subTasks;
    expect(failed).toMatchObject({ id: 'x', status: 'failed', agentId: 'venus' });
    expect(failed?.error?.message).toContain('mars failed: it said ACTOR_DIED; venus stalled');
    expect(failed?.partial).toMatchObject({ agentId: 'mars', value: { half: { agentId: 'mars' } } });
    const told = world.reach.notices.filter(({ to }) => to === 'owner').map(({ notice }) => notice);
    expect(told.map(({ kind }) => kind)).toEqual(['swarm.state', 'swarm.escalated', 'swarm.ended']);
    expect(world.reach.events.map(({ reason }) => reason)).toEqual([
      expect.stringContaining('is active, 0 of 2 sub-tasks completed'),
      '"x" was taken from mars: failed',
      '"x" was taken from venus: stalled',
      expect.stringContaining('Nobody is left for "x"'),
      expect.stringContaining('is failed, 1 of 2 sub-tasks completed, done by pluto: '),
    ]);
    expect(told.at(-1)).toMatchObject({
      kind: 'swarm.ended',
      outcome: { swarmId: id },
    });
  });

  it('asks those that were silent once more before it gives up', async () => {
    const world = new SwarmWorld([
      able('mars', ['x'], { deeds: [fails('ACTOR_DIED')] }),
      able('venus', ['x'], { answers: 'never' }),
    ]);
    const { id } = await world.create(['x'], LIMITS);
    expect(await world.outcome(id)).toMatchObject({ status: 'failed' });
    expect(world.reach.proposals.map(({ agentId }) => agentId)).toEqual(['mars', 'venus', 'venus']);
  });

  it('proposes to an agent that has come meanwhile', async () => {
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [fails('ACTOR_DIED', 60)] })]);
    const { id } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(20);
    world.reach.add(able('venus', ['x']));
    expect(await world.outcome(id)).toMatchObject({ status: 'completed', participants: ['venus'] });
  });

  it('does not ask again who is gone, for anything', async () => {
    const world = new SwarmWorld([
      able('mars', ['x'], { deeds: [fails('NOT_HERE')] }),
      able('venus', ['x'], { deeds: [answers(40)] }),
    ]);
    const plan = ['a', 'b', 'c'].map((id) => ({ id, requiredCapabilities: ['x'] }));
    const { id } = await world.create(['x'], { ...LIMITS, plan });
    expect(await world.outcome(id)).toMatchObject({ status: 'completed' });
    expect(world.reach.orders.filter(({ agentId }) => agentId === 'mars')).toHaveLength(1);
  });

  it('fails before any work when some sub-task has nobody', async () => {
    const world = new SwarmWorld([able('mars', ['x']), able('venus', ['y'], { answers: 'declined' })]);
    const { id } = await world.create(['x', 'y'], LIMITS);
    const outcome = await world.outcome(id);
    expect(outcome).toMatchObject({
      status: 'failed',
      isEscalated: true,
      error: { code: 'CAPABILITY_NOT_FOUND' },
    });
    expect(outcome.error?.message).toContain('venus declined (BUSY)');
    expect(world.reach.orders).toEqual([]);
    expect(world.reach.dismissed).toEqual(['mars']);
  });

  it('stops at the first failure when it is told to', async () => {
    const world = new SwarmWorld([
      able('mars', ['x'], { deeds: [fails('REFUSED')] }),
      able('venus', ['y'], { deeds: [answers(80)] }),
    ]);
    const { id } = await world.create(['x', 'y'], { ...LIMITS, onFailure: 'stop' });
    const outcome = await world.outcome(id);
    expect(outcome.subTasks.map(({ status }) => status)).toEqual(['failed', 'failed']);
    expect(ends(outcome.subTasks[1] as never)).toEqual(['venus cancelled']);
    expect(world.reach.cancelled.map(({ agentId }) => agentId)).toEqual(['venus']);
  });
});

describe('Progress, and the want of it (F-02, F-11)', () => {
  it('leaves a sub-task to an agent for as long as it makes progress', async () => {
    const world = new SwarmWorld([
      able('mars', ['x'], { deeds: [{ does: 'plods', everyMs: 90, times: 10 }] }),
      able('venus', ['x']),
    ]);
    const { id } = await world.create(['x'], LIMITS);
    const outcome = await world.outcome(id);
    expect(ends(outcome.subTasks[0] as never)).toEqual(['mars completed']);
    expect(outcome.endedAtMs - outcome.createdAtMs).toBeGreaterThan(900);
  });

  it('hands the partial result of a stalled agent to the next one', async () => {
    const world = new SwarmWorld([
      able('mars', ['x'], { deeds: [{ does: 'checkpoints', afterMs: 40, next: 'sleeps' }] }),
      able('venus', ['x']),
    ]);
    const plan = [{ id: 'a', requiredCapabilities: ['x'], input: { n: 1 }, resumeAs: 'resumeFrom' }];
    const { id } = await world.create(['x'], { ...LIMITS, plan });
    await world.outcome(id);
    const half = { half: { subTaskId: 'a', agentId: 'mars', epoch: 1 } };
    expect(world.reach.orders).toMatchObject([
      { agentId: 'mars', input: { n: 1 } },
      { agentId: 'venus', epoch: 2, partial: half, input: { n: 1, resumeFrom: half } },
    ]);
    expect(world.reach.orders[0]).toMatchObject({ partial: undefined });
  });

  it('keeps the partial result that comes with an error', async () => {
    const world = new SwarmWorld([
      able('mars', ['x'], { deeds: [{ ...fails('ACTOR_DIED'), partial: { most: 1 } }] }),
      able('venus', ['x']),
    ]);
    const { id } = await world.create(['x'], LIMITS);
    await world.outcome(id);
    expect(world.reach.orders[1]).toMatchObject({ agentId: 'venus', partial: { most: 1 } });
  });

  it('records a result as late that comes after the sub-task was taken away, whoever has it then', async () => {
    const world = new SwarmWorld([
      able('mars', ['x'], { deeds: [answers(150)] }),
      able('venus', ['x'], { deeds: [answers(90)] }),
    ]);
    const { id } = await world.create(['x'], LIMITS);
    const outcome = await world.outcome(id);
    const [subTask] = outcome.subTasks;
    expect(subTask?.result).toMatchObject({ agentId: 'venus', epoch: 2 });
    expect(subTask?.lates).toMatchObject([
      { agentId: 'mars', epoch: 1, kind: 'result', value: { agentId: 'mars' } },
    ]);
  });

  it('records a late result even when the swarm is over, until the grace is', async () => {
    const late = new SwarmWorld([able('mars', ['x'], { deeds: [answers(180)] }), able('venus', ['x'])]);
    const { id } = await late.create(['x'], LIMITS);
    await late.outcome(id);
    expect(late.session(id).subTasks[0]?.lates).toEqual([]);
    await late.clock.advanceAsync(1_000);
    expect(late.session(id).subTasks[0]?.lates).toMatchObject([{ agentId: 'mars', epoch: 1 }]);
    expect(late.reach.cancelled).toEqual([]);

    const tooLate = new SwarmWorld([able('mars', ['x'], { deeds: [answers(500)] }), able('venus', ['x'])]);
    const { id: other } = await tooLate.create(['x'], LIMITS);
    await tooLate.outcome(other);
    await tooLate.clock.advanceAsync(1_000);
    expect(tooLate.session(other).subTasks[0]?.lates).toEqual([]);
    expect(tooLate.reach.cancelled).toMatchObject([{ agentId: 'mars' }]);
  });

  it('does not take what an agent began before it left for what it does after it came back', async () => {
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [answers(90), answers(95)] })]);
    const { id: swarmId } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(30);
    // Both at once: with nobody left in between, the sub-task would fail.
    world.clock.setTimer(1, () => {
      world.reach.add(able('venus', ['x'], { answersAfterMs: 40 }));
      world.owned.answer('mars', { kind: 'swarm.leave', swarmId });
      world.owned.answer('mars', { kind: 'swarm.join', swarmId });
    });
    const outcome = await world.outcome(swarmId);
    expect(ends(outcome.subTasks[0] as never)).toEqual(['mars left', 'mars completed']);
    expect(outcome.results).toEqual({ x: { subTaskId: 'x', agentId: 'mars', epoch: 2 } });
    expect(outcome.subTasks[0]?.lates).toMatchObject([{ agentId: 'mars', epoch: 1 }]);
  });

  it('does not blame an agent for the time in which the coordinator itself stood still', async () => {
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [answers(110)] }), able('venus', ['x'])]);
    const { id } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(10);
    // The timer of the lease comes to its turn before the answer does, as after a long pause of the thread.
    world.clock.jump(5_000);
    const outcome = await world.outcome(id);
    expect(ends(outcome.subTasks[0] as never)).toEqual(['mars completed']);
  });

  it('prefers agents that have nothing of its own unanswered', async () => {
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [sleeps] }), able('venus', ['x'])]);
    const plan = ['a', 'b', 'c'].map((id, at) => ({
      id,
      requiredCapabilities: ['x'],
      dependsOn: at === 0 ? [] : [['a', 'b'][at - 1] as string],
    }));
    const { id } = await world.create(['x'], { ...LIMITS, graceMs: 10_000, plan });
    const outcome = await world.outcome(id);
    expect(outcome.subTasks.map(({ agentId }) => agentId)).toEqual(['venus', 'venus', 'venus']);
    expect(world.reach.orders.filter(({ agentId }) => agentId === 'mars')).toHaveLength(1);
  });
});

describe('Reporting by oneself', () => {
  const two = () =>
    new SwarmWorld([
      able('mars', ['x'], { deeds: [answers(90)] }),
      able('venus', ['x'], { deeds: [sleeps] }),
    ]);

  it('counts for the agent that has the sub-task, and what its handler returns then is no late result', async () => {
    const world = two();
    const { id: swarmId } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(60);
    const report = { kind: 'swarm.complete' as const, swarmId, subTaskId: 'x', result: 'mine' };
    expect(refusalOf(() => world.owned.answer('venus', report))).toMatchObject({ code: 'REFUSED' });
    expect(refusalOf(() => world.owned.answer('owner', report))).toMatchObject({ code: 'REFUSED' });
    expect(refusalOf(() => world.owned.answer('mars', { ...report, epoch: 7 }))).toMatchObject({
      code: 'REFUSED',
    });
    expect(world.owned.answer('mars', report)).toEqual({ kind: 'swarm.done' });
    expect(await world.outcome(swarmId)).toMatchObject({ status: 'completed', results: { x: 'mine' } });
    await world.clock.advanceAsync(1_000);
    expect(world.session(swarmId).subTasks[0]?.lates).toEqual([]);
  });

  it('is refused as TAKEN when it is late, and kept', async () => {
    const world = two();
    const { id: swarmId } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(60);
    const subTaskId = 'x';
    world.owned.answer('mars', { kind: 'swarm.fail', swarmId, subTaskId, error: 'not mine' });
    const again = refusalOf(() =>
      world.owned.answer('mars', { kind: 'swarm.complete', swarmId, subTaskId, result: 'after all' }),
    );
    expect(again).toMatchObject({ code: 'TAKEN' });
    expect(world.session(swarmId).subTasks[0]).toMatchObject({
      status: 'running',
      assignedAgent: 'venus',
      lates: [{ agentId: 'mars', epoch: 1, kind: 'result', value: 'after all' }],
    });
  });
});

describe('Joining and leaving in mid-work', () => {
  const plan = ['a', 'b', 'c'].map((id) => ({ id, requiredCapabilities: ['x'] }));

  it('gives a newcomer what waits', async () => {
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [answers(80)] })]);
    const { id: swarmId } = await world.create(['x'], { ...LIMITS, plan });
    await world.clock.advanceAsync(20);
    world.reach.add(able('venus', ['x']));
    expect(world.owned.answer('venus', { kind: 'swarm.join', swarmId })).toMatchObject({
      session: { participants: ['mars', 'venus'] },
    });
    const outcome = await world.outcome(swarmId);
    expect(outcome.participants).toEqual(['mars', 'venus']);
    // One that joined by itself is told of what happens.
    const told = world.reach.notices.filter(({ to }) => to === 'venus').map(({ notice }) => notice.kind);
    expect(told).toEqual(['swarm.state', 'swarm.state', 'swarm.state', 'swarm.ended']);
  });

  it('does not admit one that would get nothing, but thinks of it when somebody fails', async () => {
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [sleeps] })]);
    const { id: swarmId } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(20);
    world.reach.add(able('venus', ['x']));
    world.reach.add(able('pluto', ['y']));
    const join = (agentId: string) => () => world.owned.answer(agentId, { kind: 'swarm.join', swarmId });
    expect(refusalOf(join('pluto')).message).toContain('capabilities');
    expect(refusalOf(join('stranger'))).toMatchObject({ code: 'REFUSED' });
    expect(refusalOf(join('venus')).message).toContain('kept in mind');
    expect(world.session(swarmId).participants).toEqual(['mars']);
    const outcome = await world.outcome(swarmId);
    expect(ends(outcome.subTasks[0] as never)).toEqual(['mars stalled', 'venus completed']);
    expect(world.reach.proposals.map(({ agentId }) => agentId)).toEqual(['mars']);
    expect(refusalOf(join('venus')).message).toContain('it is completed');
  });

  it('gives what somebody leaves to others, and it may come back', async () => {
    const slow = [answers(80)];
    const world = new SwarmWorld([
      able('mars', ['x'], { deeds: slow }),
      able('venus', ['x'], { deeds: slow }),
    ]);
    const { id: swarmId } = await world.create(['x'], { ...LIMITS, plan });
    await world.clock.advanceAsync(20);
    expect(refusalOf(() => world.owned.answer('pluto', { kind: 'swarm.leave', swarmId })).code).toBe(
      'REFUSED',
    );
    world.owned.answer('mars', { kind: 'swarm.leave', swarmId });
    expect(world.session(swarmId)).toMatchObject({
      participants: ['venus'],
      subTasks: [{ status: 'pending', assignedAgent: '' }, { assignedAgent: 'venus' }, {}],
    });
    expect(refusalOf(() => world.owned.answer('mars', { kind: 'swarm.read', swarmId })).code).toBe('REFUSED');
    world.owned.answer('mars', { kind: 'swarm.join', swarmId });
    const outcome = await world.outcome(swarmId);
    expect(outcome).toMatchObject({ status: 'completed' });
    expect(outcome.participants.toSorted()).toEqual(['mars', 'venus']);
  });
});

describe('The shared state (N-8.3, N-8.4)', () => {
  it('is read by participants and the owner, and by nobody else', async () => {
    const world = new SwarmWorld([able('mars', ['x']), able('venus', ['y'], { deeds: [sleeps] })]);
    const { id: swarmId } = await world.create(['x', 'y'], { ...LIMITS, sharedState: { goal: 'g' } });
    await world.clock.advanceAsync(40);
    const expected = { goal: 'g', x: { subTaskId: 'x', agentId: 'mars', epoch: 1 } };
    for (const reader of ['mars', 'venus', 'owner'])
      expect(world.owned.answer(reader, { kind: 'swarm.read', swarmId })).toMatchObject({
        session: { sharedState: expected, stateVersion: 1 },
      });
    expect(refusalOf(() => world.owned.answer('pluto', { kind: 'swarm.read', swarmId })).code).toBe(
      'REFUSED',
    );
    world.owned.answer('mars', { kind: 'swarm.leave', swarmId });
    expect(world.session(swarmId).participants).toContain('mars');
    const asMars = () => world.owned.answer('mars', { kind: 'swarm.read', swarmId });
    expect(refusalOf(asMars)).toMatchObject({ code: 'REFUSED' });
    const changes = world.reach.notices.filter(({ notice }) => notice.kind === 'swarm.state');
    expect(changes.map(({ to }) => to)).toEqual(['owner', 'mars', 'venus']);
  });
});

describe('The end of a swarm (N-8.6)', () => {
  it('comes by its deadline, with what there is', async () => {
    const world = new SwarmWorld([
      able('mars', ['x']),
      able('venus', ['y'], { deeds: [{ does: 'plods', everyMs: 50, times: 100 }] }),
    ]);
    const { id } = await world.create(['x', 'y'], { ...LIMITS, timeoutMs: 300 });
    const outcome = await world.outcome(id);
    expect(outcome).toMatchObject({
      status: 'failed',
      error: { code: 'DEADLINE_EXCEEDED' },
      results: { x: {} },
    });
    expect(outcome.endedAtMs - outcome.createdAtMs).toBe(300);
    expect(world.reach.orders.every(({ deadlineAtMs }) => deadlineAtMs === outcome.endedAtMs)).toBe(true);
  });

  it.each(['recruiting', 'active'] as const)('comes by being cancelled while %s', async (status) => {
    const world = new SwarmWorld([able('mars', ['x'], { answersAfterMs: 20, deeds: [sleeps] })]);
    const abort = new AbortController();
    const { id } = await world.create(['x'], { ...LIMITS, signal: abort.signal });
    await world.clock.advanceAsync(status === 'recruiting' ? 5 : 40);
    expect(world.session(id).status).toBe(status);
    abort.abort();
    expect(await world.outcome(id)).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } });
    await world.clock.advanceAsync(100);
    expect(world.clock.pending).toBe(0);
    expect(world.reach.dismissed).toEqual(['mars']);
  });

  it('is there for whoever asks later, and not for a swarm that nobody knows', async () => {
    const world = new SwarmWorld([able('mars', ['x'])]);
    const { id } = await world.create(['x'], LIMITS);
    const first = await world.outcome(id);
    expect(await world.owned.outcome(id)).toEqual(first);
    expect(await rejection((async () => world.owned.outcome('2@owner'))())).toMatchObject({
      code: 'REFUSED',
    });
    await world.clock.advanceAsync(200);
    expect(world.clock.pending).toBe(0);
  });
});

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
