import { describe, expect, it } from 'vitest';
import type { SwarmSubTask } from '../../../../actors/swarm/swarm-session.ts';
import { answers, ends, fails, LIMITS, refusalOf, sleeps } from './swarm-deeds.ts';
import { able, SwarmWorld } from './swarm-world.ts';

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
