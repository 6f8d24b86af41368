import { describe, expect, it } from 'vitest';
import type { SwarmSubTask } from '../../../../actors/swarm/swarm-session.ts';
import type { ActorRow } from '../../../../runtime/protocol/roster.ts';
import { rejection } from '../../../fixtures/until.ts';
import { answers, ends, fails, LIMITS, refusalOf, sleeps } from './swarm-deeds.ts';
import { able, SwarmWorld } from './swarm-world.ts';

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

  it('late pushes out what the same agent said before, and nothing that another one said', async () => {
    const world = two();
    const { id: swarmId } = await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(60);
    const subTaskId = 'x';
    const says = (agentId: string, result: unknown) =>
      refusalOf(() => world.owned.answer(agentId, { kind: 'swarm.complete', swarmId, subTaskId, result }))
        .code;
    world.owned.answer('mars', { kind: 'swarm.fail', swarmId, subTaskId, error: 'not mine' });
    expect(says('mars', 'after all')).toBe('TAKEN');
    world.owned.answer('venus', { kind: 'swarm.complete', swarmId, subTaskId, result: 'done' });
    for (let at = 1; at <= 200; at += 1) expect(says('venus', at)).toBe('TAKEN');
    const { lates } = world.session(swarmId).subTasks[0] as SwarmSubTask;
    const of = (agentId: string) => lates.filter((one) => one.agentId === agentId).map(({ value }) => value);
    expect(of('mars')).toEqual(['after all']);
    expect([of('venus').length < 50, of('venus').at(-1)]).toEqual([true, 200]);
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

describe('A coordinator as an actor', () => {
  const rows = (children: readonly ActorRow[] = []): unknown[] =>
    children.map((row) => [
      `${row.machine} ${row.id} ${row.state}`,
      ...(row.children === undefined ? [] : [rows(row.children)]),
    ]);

  it('has its swarms, sub-tasks and assignments as children, as long as they are not over', async () => {
    const world = new SwarmWorld([
      able('mars', ['x'], { deeds: [sleeps] }),
      able('venus', ['x'], { deeds: [answers(60)] }),
    ]);
    const { id } = await world.create(['x'], LIMITS);
    expect(world.owned.actor).toMatchObject({ id: 'coordinator', machine: 'coordinator', state: 'active' });
    expect(rows(world.owned.actor.children)).toEqual([[`swarm ${id} recruiting`, [['subTask x pending']]]]);
    await world.clock.advanceAsync(60);
    expect(rows(world.owned.actor.children)).toEqual([
      [`swarm ${id} active`, [['subTask x running.leased', [['assignment 1 mars active']]]]],
    ]);
    await world.clock.advanceAsync(90);
    expect(rows(world.owned.actor.children)).toEqual([
      [
        `swarm ${id} active`,
        [['subTask x running.leased', [['assignment 1 mars withdrawn'], ['assignment 2 venus active']]]],
      ],
    ]);
    await world.outcome(id);
    expect(world.owned.actor.children).toEqual([]);
  });

  it('is left when the system stops, with its swarms where they stand', async () => {
    const world = new SwarmWorld([able('mars', ['x'], { deeds: [sleeps] })]);
    await world.create(['x'], LIMITS);
    await world.clock.advanceAsync(60);
    world.owned.suspend();
    expect(world.owned.actor).toMatchObject({ state: 'left', children: [{ state: 'active' }] });
    world.owned.close();
    expect(world.owned.actor).toMatchObject({ state: 'closed', children: [] });
  });
});
