import { describe, expect, it } from 'vitest';
import { InMemorySwarmStore, SwarmNotice, type SwarmSession } from '../../../../actors/swarm/index.ts';
import { rejection } from '../../../fixtures/until.ts';
import { cardOf, offers } from '../../routing/standalone-team.ts';
import { type Assigned, settle, swarmTeam } from './swarm-team.ts';

const TEAM = [
  cardOf('sun', { tier: 0, ...offers('plan') }),
  cardOf('mars', { tier: 2, ...offers('x') }),
  cardOf('venus', { tier: 2, ...offers('x', 'y') }),
  cardOf('pluto', { tier: 3, ...offers('y') }),
];
const LIMITS = { leaseMs: 100, graceMs: 50, recruitMs: 1_000 };

const last = (assigned: readonly Assigned[]): Assigned => assigned.at(-1) as Assigned;

const noticesTo = (team: ReturnType<typeof swarmTeam>, id: string) =>
  (team.inboxes.get(id) ?? [])
    .filter(({ type }) => type === 'notification')
    .map(({ payload }) => SwarmNotice.parse(payload));

describe('A coordinator over a router (N-8.1, N-8.2, N-8.4, N-8.6)', () => {
  it('takes a task from proposals to the report, all in one conversation', async () => {
    const team = swarmTeam(TEAM, { owner: 'sun' });
    const session = await team.owner.createSwarm('Audit', ['x', 'y'], { ...LIMITS, input: { root: '.' } });
    expect(session).toMatchObject({ status: 'recruiting', ownerId: 'sun', participants: [] });
    await settle();
    expect(team.owner.getSwarm(session.id)).toMatchObject({
      status: 'active',
      subTasks: [
        { id: 'x', assignedAgent: 'mars', status: 'running' },
        { id: 'y', assignedAgent: 'pluto', status: 'running' },
      ],
    });
    expect(team.owner.listActiveSwarms().map(({ id }) => id)).toEqual([session.id]);
    const [forMars, forPluto] = team.assigned as [Assigned, Assigned];
    expect(forMars.envelope).toMatchObject({
      type: 'request',
      sender: 'sun',
      recipient: 'mars',
      correlationId: session.id,
      payload: { root: '.' },
      metadata: { capability: 'x', swarm: { subTaskId: 'x', epoch: 1 } },
    });
    await forMars.answer(['finding']);
    await forPluto.answer('text');
    await settle();
    const outcome = await team.owner.outcome(session.id);
    expect(outcome).toMatchObject({
      status: 'completed',
      isEscalated: false,
      participants: ['mars', 'pluto'],
      results: { x: ['finding'], y: 'text' },
      subTasks: [{ agentId: 'mars', envelopeIds: [forMars.envelope.id] }, { agentId: 'pluto' }],
    });
    expect(team.owner.listActiveSwarms()).toEqual([]);
    expect(noticesTo(team, 'sun').map(({ kind }) => kind)).toEqual([
      'swarm.state',
      'swarm.state',
      'swarm.ended',
    ]);
    expect(noticesTo(team, 'sun').at(-1)).toMatchObject({
      outcome: { swarmId: session.id, results: { y: 'text' } },
    });
    const thread = team.router.thread(session.id).map(({ type }) => type);
    for (const type of ['task-proposal', 'task-accept', 'request', 'response', 'notification'])
      expect(thread).toContain(type);
  });

  it('replaces an agent that answers with an error (N-8.5)', async () => {
    const team = swarmTeam(TEAM, { owner: 'sun' });
    const { id } = await team.owner.createSwarm('Audit', ['x'], LIMITS);
    await settle();
    expect(last(team.assigned).agentId).toBe('mars');
    await last(team.assigned).fail('too hard');
    await settle();
    expect(last(team.assigned)).toMatchObject({ agentId: 'venus', epoch: 2 });
    await last(team.assigned).answer('done');
    const outcome = await team.owner.outcome(id);
    expect(outcome.subTasks[0]?.assignments).toMatchObject([
      { agentId: 'mars', end: 'failed', error: { code: 'REFUSED', message: 'too hard' } },
      { agentId: 'venus', end: 'completed' },
    ]);
  });

  it('takes what an agent says of somebody whom it did not find for a failure of its work', async () => {
    const team = swarmTeam(TEAM, { owner: 'sun' });
    const { id } = await team.owner.createSwarm('Audit', ['x'], LIMITS);
    await settle();
    const { envelope } = last(team.assigned);
    const payload = { code: 'AGENT_NOT_FOUND', message: 'there is no earth' };
    await team.router.send(team.factory.reply(envelope, { sender: 'mars', type: 'error', payload }));
    await settle();
    await last(team.assigned).answer('done');
    const outcome = await team.owner.outcome(id);
    expect(outcome.subTasks[0]?.assignments).toMatchObject([
      { agentId: 'mars', end: 'failed', error: payload },
      { agentId: 'venus', end: 'completed' },
    ]);
  });

  it('replaces an agent that nobody receives for', async () => {
    const team = swarmTeam(TEAM, { owner: 'sun' });
    const { id } = await team.owner.createSwarm('Audit', ['y'], LIMITS);
    await settle();
    const first = last(team.assigned);
    await first.fail('no');
    await settle();
    team.registry.unregister(last(team.assigned).agentId);
    team.clock.advance(101);
    await settle();
    expect(await team.owner.outcome(id)).toMatchObject({ status: 'failed', isEscalated: true });
  });

  it('renews the lease by progress, and hands a checkpoint to the next agent', async () => {
    const team = swarmTeam(TEAM, { owner: 'sun' });
    const { id } = await team.owner.createSwarm('Audit', ['x'], LIMITS);
    await settle();
    const first = last(team.assigned);
    for (let at = 0; at < 5; at += 1) {
      team.clock.advance(80);
      await first.progress();
      await settle();
    }
    await first.progress({ seen: 3 });
    await settle();
    expect(team.owner.getSwarm(id)?.subTasks[0]).toMatchObject({ epoch: 1, partial: { value: { seen: 3 } } });
    team.clock.advance(101);
    await settle();
    const second = last(team.assigned);
    expect(second).toMatchObject({ agentId: 'venus', epoch: 2 });
    expect(second.envelope.metadata?.['resumeFrom']).toEqual({ seen: 3 });
    expect(noticesTo(team, 'mars').at(-1)).toMatchObject({
      kind: 'swarm.withdrawn',
      subTaskId: 'x',
      reason: 'stalled',
    });
  });

  it('records a late answer however late it is (F-02)', async () => {
    const team = swarmTeam(TEAM);
    const { id } = await team.owner.createSwarm('Audit', ['x'], LIMITS);
    await settle();
    const first = last(team.assigned);
    team.clock.advance(101);
    await settle();
    await last(team.assigned).answer('in time');
    await settle();
    team.clock.advance(10_000);
    await first.answer('late');
    await first.fail('later still');
    await last(team.assigned).answer('twice');
    await settle();
    const [subTask] = (team.owner.getSwarm(id) as SwarmSession).subTasks;
    expect(subTask).toMatchObject({ status: 'completed', result: 'in time' });
    expect(subTask?.lates).toMatchObject([
      { agentId: 'mars', epoch: 1, kind: 'result', value: 'late' },
      { agentId: 'mars', epoch: 1, kind: 'error', value: { message: 'later still' } },
      { agentId: 'venus', epoch: 2, kind: 'result', value: 'twice' },
    ]);
  });

  it('takes no answer from an agent that was not asked', async () => {
    const team = swarmTeam(TEAM);
    const { id } = await team.owner.createSwarm('Audit', ['x'], LIMITS);
    await settle();
    const forged = team.factory.reply(last(team.assigned).envelope, { sender: 'venus', payload: 'mine' });
    expect(await team.router.send(forged)).toMatchObject({ delivered: true });
    await settle();
    expect(team.owner.getSwarm(id)?.subTasks[0]).toMatchObject({ status: 'running', lates: [] });
  });
});

describe('Taking part', () => {
  it('is by the agent itself: reading, joining, reporting, leaving', async () => {
    const team = swarmTeam(TEAM, { owner: 'sun' });
    const plan = ['a', 'b', 'c'].map((id) => ({ id, requiredCapabilities: ['x'] }));
    const { id } = await team.owner.createSwarm('Audit', ['x'], { ...LIMITS, plan });
    await settle();
    const mars = team.member('mars').swarms;
    const venus = team.member('venus').swarms;
    expect(mars.getSwarm(id)).toBeUndefined();
    expect((await mars.readSwarm(id)).participants).toEqual(['mars', 'venus']);
    expect(mars.getSwarm(id)?.id).toBe(id);
    expect(mars.listActiveSwarms().map((one) => one.id)).toEqual([id]);

    expect(await rejection(mars.completeSubTask(id, 'b', 'not mine'))).toMatchObject({ code: 'REFUSED' });
    expect(await rejection(mars.leaveSwarm(id, 'venus'))).toMatchObject({ code: 'REFUSED' });
    expect(await rejection(team.member('pluto').swarms.readSwarm(id))).toMatchObject({ code: 'REFUSED' });
    await mars.completeSubTask(id, 'a', 'mine');
    await venus.leaveSwarm(id, 'venus', 'too busy');
    await settle();
    expect(team.owner.getSwarm(id)).toMatchObject({
      participants: ['mars'],
      subTasks: [{ result: 'mine' }, { status: 'pending' }, { status: 'running', assignedAgent: 'mars' }],
    });
    expect(await rejection(venus.readSwarm(id))).toMatchObject({ code: 'REFUSED' });
    await venus.joinSwarm(id, 'venus');
    await venus.failSubTask(id, 'b', 'after all not');
    expect(await rejection(venus.completeSubTask(id, 'b', 'or yes'))).toMatchObject({ code: 'TAKEN' });
    await mars.completeSubTask(id, 'c', 3);
    await settle();
    await mars.completeSubTask(id, 'b', 2);
    expect(await team.owner.outcome(id)).toMatchObject({ results: { a: 'mine', b: 2, c: 3 } });
  });

  it('can be arranged by the owner, and for nobody by anybody else', async () => {
    const team = swarmTeam(TEAM, { owner: 'sun' });
    const { id } = await team.owner.createSwarm('Audit', ['x'], LIMITS);
    await settle();
    const mars = team.member('mars').swarms;
    await team.owner.leaveSwarm(id, 'mars', 'dismissed');
    await settle();
    expect(team.owner.getSwarm(id)?.participants).toEqual(['venus']);
    await team.owner.leaveSwarm(id, 'venus');
    expect(team.owner.getSwarm(id)?.status).toBe('failed');
    expect(await rejection(mars.outcome(id))).toMatchObject({ code: 'REFUSED' });
    expect(await rejection(mars.cancelSwarm(id))).toMatchObject({ code: 'REFUSED' });
    expect(await rejection(team.owner.outcome('7@sun'))).toMatchObject({ code: 'REFUSED' });
    expect(await rejection(mars.readSwarm('7@sun'))).toMatchObject({ code: 'REFUSED' });
    expect(await rejection(mars.readSwarm('7'))).toMatchObject({ code: 'REFUSED' });
  });

  it('believes no answer of anybody but the coordinator', async () => {
    const team = swarmTeam(TEAM);
    team.registry.register(cardOf('saturn', { tier: 2 }));
    const asked: string[] = [];
    team.router.onReceive('saturn', ({ id }) => void asked.push(id));
    const reading = team.member('mars').swarms.readSwarm('1@saturn');
    await settle();
    const session = { ...(await team.owner.createSwarm('Audit', ['x'], LIMITS)), id: '1@saturn' };
    const answer = (sender: string) =>
      team.router.send(
        team.factory.create({
          sender,
          recipient: 'mars',
          type: 'response',
          payload: { kind: 'swarm.picture', session: { ...session, ownerId: sender } },
          metadata: { inReplyTo: asked[0] as string },
        }),
      );
    expect(await answer('venus')).toMatchObject({ delivered: true });
    await settle();
    await answer('saturn');
    expect((await reading).ownerId).toBe('saturn');
  });

  it('is told what cannot be sent', async () => {
    const team = swarmTeam(TEAM);
    const { id } = await team.owner.createSwarm('Audit', ['x'], {
      ...LIMITS,
      sharedState: { at: new Date(5) },
    });
    await settle();
    const mars = team.member('mars').swarms;
    expect(await rejection(mars.readSwarm(id))).toMatchObject({ code: 'NOT_SERIALISABLE' });
    expect(await rejection(mars.completeSubTask(id, 'x', 5n))).toMatchObject({ code: 'NOT_SERIALISABLE' });
    expect(team.owner.getSwarm(id)?.subTasks[0]?.status).toBe('running');
  });

  it('refuses a request that is none', async () => {
    const team = swarmTeam(TEAM, { owner: 'sun' });
    const envelope = team.factory.create({
      sender: 'mars',
      recipient: 'sun',
      type: 'request',
      payload: { kind: 'swarm.explode', swarmId: '1@sun' },
      metadata: { escalationJustification: 'because' },
    });
    await team.router.send(envelope);
    await settle();
    const answer = team.inboxes.get('mars')?.find(({ metadata }) => metadata?.inReplyTo === envelope.id);
    expect(answer).toMatchObject({ type: 'error', payload: { code: 'INVALID_PAYLOAD' } });
  });
});

describe('Starting again', () => {
  it('goes on listening to what was handed out before', async () => {
    const store = new InMemorySwarmStore();
    const team = swarmTeam(TEAM, { owner: 'sun', store });
    const { id } = await team.owner.createSwarm('Audit', ['x', 'y'], LIMITS);
    await settle();
    const [forMars, forPluto] = team.assigned as [Assigned, Assigned];
    await forMars.answer(1);
    await settle();
    team.owner.close();

    const { SwarmCoordinator, routerPort } = await import('../../../../actors/swarm/index.ts');
    const { router, registry, clock } = team;
    const seams = { clock, newId: () => 'again' };
    const port = routerPort({ agentId: 'sun', router, registry, seams });
    const again = new SwarmCoordinator({ port, negotiator: team.member('sun').negotiator, store });
    await again.resume();
    await forPluto.answer(2);
    await settle();
    expect(await again.outcome(id)).toMatchObject({ status: 'completed', results: { x: 1, y: 2 } });
    expect(team.assigned).toHaveLength(2);
    again.close();
  });
});
