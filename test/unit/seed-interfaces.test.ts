import { capability, defineAgent, type TierRule } from 'orrery';
import { TaskNegotiator } from 'orrery/negotiator';
import { CRDTSyncChannel, InProcessHub } from 'orrery/shared-state';
import { SwarmCoordinator } from 'orrery/swarm';
import { describe, expect, it } from 'vitest';
import * as Y from 'yjs';
import { z } from 'zod';
import { defaultPolicies } from '../../policies/index.ts';
import { A2ALogEvent } from '../../runtime/protocol/log-event.ts';
import { rejection } from '../fixtures/until.ts';
import { negotiatingTeam, proposalOf, sun, worker } from './actors/negotiator/negotiating-team.ts';
import { SyncTeam, turns } from './actors/shared-state/sync-team.ts';
import { settle, swarmTeam } from './actors/swarm/swarm-team.ts';
import { cardOf, offers } from './routing/standalone-team.ts';

describe('What the interfaces of seed 1 have, in what is exported', () => {
  it('TaskNegotiator: propose, accept, reject, getProposal, listPending, onProposalReceived (N-D22)', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('venus')]);
    const [mars, venus, proposer] = ['mars', 'venus', 'sun'].map((id) => team.negotiator(id)) as [
      TaskNegotiator,
      TaskNegotiator,
      TaskNegotiator,
    ];
    expect(mars).toBeInstanceOf(TaskNegotiator);
    const heard: string[] = [];
    const unsubscribe = mars.onProposalReceived(({ proposalId }) => heard.push(proposalId));
    venus.onProposalReceived(() => undefined);
    const first = proposer.propose(proposalOf({ taskDescription: 'first' }));
    await team.settle();
    const [pending] = mars.listPending();
    expect(heard).toEqual([pending?.proposalId]);
    expect(mars.getProposal(heard[0] as string)).toMatchObject({
      taskDescription: 'first',
      status: 'pending',
    });
    expect(proposer.listPending()).toHaveLength(1);
    await venus.reject(heard[0] as string, 'BUSY');
    await mars.accept(heard[0] as string, 10);
    expect(await first).toMatchObject({ status: 'accepted', acceptedBy: 'mars', estimatedCompletionMs: 10 });
    expect(mars.getProposal(heard[0] as string)).toMatchObject({ status: 'accepted' });
    expect(proposer.listPending()).toEqual([]);
    unsubscribe();
    mars.onProposalReceived(() => undefined);
    const second = proposer.propose(proposalOf());
    await team.settle();
    expect(heard).toHaveLength(1);
    const [waiting] = mars.listPending();
    for (const one of [mars, venus]) await one.reject(waiting?.proposalId as string, 'NO');
    expect(await second).toMatchObject({ status: 'rejected', rejectionReason: 'NO' });
    expect(mars.getProposal('unheard-of')).toBeUndefined();
    expect((await rejection(mars.accept('unheard-of', 1))).code).toBe('REFUSED');
  });

  it('SwarmCoordinator: its methods, and the fields of a swarm and its sub-tasks (N-D23)', async () => {
    const team = swarmTeam(
      [
        cardOf('sun', { tier: 0, ...offers('plan') }),
        cardOf('mars', { tier: 2, ...offers('x') }),
        cardOf('venus', { tier: 2, ...offers('x') }),
      ],
      { owner: 'sun' },
    );
    const { owner } = team;
    expect(owner).toBeInstanceOf(SwarmCoordinator);
    const [mars, venus] = ['mars', 'venus'].map((agentId) => team.member(agentId).swarms) as [
      SwarmCoordinator,
      SwarmCoordinator,
    ];
    const plan = ['a', 'b', 'c'].map((id) => ({ id, requiredCapabilities: ['x'] }));
    const limits = { leaseMs: 100, graceMs: 50, recruitMs: 1_000 };
    const { id } = await owner.createSwarm('Audit', ['x'], { ...limits, plan });
    await settle();
    const session = owner.getSwarm(id);
    expect(session).toMatchObject({
      id,
      taskDescription: 'Audit',
      participants: ['mars', 'venus'],
      status: 'active',
      sharedState: {},
      createdAt: expect.any(Number),
    });
    expect(session?.subTasks[0]).toMatchObject({
      id: 'a',
      description: expect.any(String),
      assignedAgent: 'mars',
      requiredCapabilities: ['x'],
      status: 'running',
    });
    expect(session?.subTasks[0]?.result).toBeUndefined();
    expect(owner.listActiveSwarms().map((swarm) => swarm.id)).toEqual([id]);

    await mars.completeSubTask(id, 'a', 'done');
    await venus.leaveSwarm(id, 'venus');
    await settle();
    expect(owner.getSwarm(id)?.participants).toEqual(['mars']);
    await venus.joinSwarm(id, 'venus');
    expect(owner.getSwarm(id)).toMatchObject({
      participants: ['mars', 'venus'],
      sharedState: { a: 'done' },
      subTasks: [{ status: 'completed', result: 'done' }, { status: 'running', assignedAgent: 'venus' }, {}],
    });
    await venus.failSubTask(id, 'b', 'too hard');
    await mars.completeSubTask(id, 'c', 3);
    await settle();
    expect(owner.getSwarm(id)?.subTasks[1]).toMatchObject({ status: 'running', assignedAgent: 'mars' });
    await mars.completeSubTask(id, 'b', 2);
    await settle();
    expect(owner.getSwarm(id)).toMatchObject({ status: 'completed', sharedState: { a: 'done', b: 2, c: 3 } });
    expect(owner.listActiveSwarms()).toEqual([]);
  });

  it('CRDTSyncChannel: broadcast, onUpdate with its unsubscribe, getVectorClock, close (N-D24)', async () => {
    const team = new SyncTeam({ hub: new InProcessHub() });
    const [mars, venus] = [await team.open('mars'), await team.open('venus')];
    expect(mars).toBeInstanceOf(CRDTSyncChannel);
    const heard: Parameters<Parameters<typeof venus.onUpdate>[0]>[0][] = [];
    const unsubscribe = venus.onUpdate((message) => heard.push(message));
    const updateOf = (key: string): Uint8Array => {
      const doc = new Y.Doc();
      doc.getMap('plan').set(key, true);
      return Y.encodeStateAsUpdate(doc);
    };
    await mars.broadcast(updateOf('first'), 'mars');
    await turns(40);
    expect(heard).toMatchObject([
      { sourceAgentId: 'mars', vectorClock: { mars: 1 }, timestamp: expect.any(Number) },
    ]);
    expect(venus.document.getMap('plan').get('first')).toBe(true);
    expect(venus.getVectorClock()).toEqual(mars.getVectorClock());
    expect(mars.getVectorClock()).toMatchObject({ mars: 1 });
    unsubscribe();
    await mars.broadcast(updateOf('second'), 'mars');
    await turns(40);
    expect(heard).toHaveLength(1);
    expect(venus.getVectorClock()).toMatchObject({ mars: 2 });
    await mars.close();
    expect((await rejection(mars.broadcast(updateOf('third'), 'mars'))).code).toBe('CHANNEL_CLOSED');
  });

  it('a capability: a dotted id, name, description, and schemas of input and output, on the card as JSON Schema (N-D03)', () => {
    const check = capability({
      id: 'types.check',
      name: 'Check types',
      description: 'Checks the types',
      input: z.object({ root: z.string() }),
      output: z.array(z.string()),
    });
    const definition = defineAgent({ id: 'mars', name: 'MARS', version: '1.0.0', description: '', tier: 2 });
    const [described] = definition.handle(check, () => []).card(0).capabilities;
    expect(described).toMatchObject({
      id: 'types.check',
      name: 'Check types',
      description: 'Checks the types',
      inputSchema: { type: 'object', properties: { root: { type: 'string' } }, required: ['root'] },
      outputSchema: { type: 'array', items: { type: 'string' } },
    });
    for (const id of ['types..check', '.types', 'types check', ''])
      expect(() => capability({ id, description: '', input: z.string(), output: z.string() })).toThrow(
        /expected a dotted id such as "types\.check"/,
      );
    const rule: TierRule = { sourceTier: 1, allowedTargetTiers: [2], requiresEscalationJustification: true };
    expect(Object.keys(rule)).toHaveLength(3);
  });

  it('A2ALogEvent and TierRule: their fields, and which of them must be there (N-D25)', () => {
    const least = { type: 'routing-decision', timestamp: 1 } as const;
    expect(A2ALogEvent.parse(least)).toEqual(least);
    for (const field of ['type', 'timestamp'])
      expect(A2ALogEvent.safeParse({ ...least, [field]: undefined }).success).toBe(false);
    const all = {
      ...least,
      envelopeId: 'e',
      sender: 'a',
      recipient: 'b',
      messageType: 'request',
      toolName: 'b.add',
      duration: 1,
      success: true,
    } as const;
    for (const routingPath of ['local', 'remote', 'broadcast'] as const)
      expect(A2ALogEvent.parse({ ...all, routingPath })).toEqual({ ...all, routingPath });
    expect(A2ALogEvent.safeParse({ ...all, routingPath: 'elsewhere' }).success).toBe(false);
    const rule: TierRule = { sourceTier: 1, allowedTargetTiers: [2], requiresEscalationJustification: true };
    const rules = (changed: object) => () => defaultPolicies({ tiers: [{ ...rule, ...changed }] });
    expect(rules({})).not.toThrow();
    for (const field of Object.keys(rule))
      expect(rules({ [field]: undefined })).toThrow(`tiers.rules[0].${field}`);
  });
});
