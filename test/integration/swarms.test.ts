import { startSystem, type Team } from 'orrery';
import type { SwarmOutcome, SwarmSession } from 'orrery/swarm';
import fc from 'fast-check';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type Deed, Done, lead, look, notices, report, special, work } from '../fixtures/agents/crew.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

/** Nobody is to be too slow by chance. */
const LIMITS = { leaseMs: 20_000, graceMs: 20_000, recruitMs: 20_000 };
/** What stalling, freezing and being late are longer than. */
const LEASE_MS = 2_000;

const crewOf = (...instances: string[]) => agent('crew', { instances });

const planOf = (parts: number, deeds: Record<string, Deed> = {}) =>
  Array.from({ length: parts }, (_, at) => ({
    id: `part-${at}`,
    requiredCapabilities: [work.id],
    input: { deeds, leaseMs: LEASE_MS },
  }));

const PLAIN = ['answers', 'answers with progress', 'declines'] as const;

/** What has to be true of a swarm whenever it can be seen. */
function checkPicture({ subTasks, participants, sharedState, stateVersion, status }: SwarmSession): void {
  for (const agentId of participants)
    expect(subTasks.some(({ assignedAgent }) => assignedAgent === agentId)).toBe(true);
  const done = subTasks.filter((one) => one.status === 'completed');
  expect(sharedState).toEqual(Object.fromEntries(done.map(({ id, result }) => [id, result])));
  expect(stateVersion).toBe(done.length);
  if (status === 'completed') expect(done).toHaveLength(subTasks.length);
}

const triesOf = ({ subTasks }: SwarmOutcome, at = 0): string[] =>
  (subTasks[at]?.assignments ?? []).map(({ agentId, end }) => `${agentId} ${end}`);

describe('Swarms across threads (N-8.1, N-8.2, N-8.4, N-8.6)', () => {
  it('Feature: a2a-mcp-protocols, Property 26: Swarm sub-task assignment and state consistency', async () => {
    const agents = [crewOf('mars', 'venus'), crewOf('pluto', 'saturn')];
    await using system = await startSystem({ agents, workers: 2 });
    const seen: SwarmSession[] = [];
    system.swarms.onChange((session) => seen.push(session));
    const arbPart = fc.record({
      requiredCapabilities: fc.subarray([work.id, special.id], { minLength: 1 }),
      deeds: fc.dictionary(fc.constantFrom('mars', 'venus', 'pluto'), fc.constantFrom(...PLAIN)),
    });
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbPart, { minLength: 1, maxLength: 8 }),
        fc.integer({ min: 1, max: 3 }),
        async (parts, maxPerAgent) => {
          seen.length = 0;
          const plan = parts.map(({ requiredCapabilities, deeds }, at) => ({
            id: `part-${at}`,
            requiredCapabilities,
            input: { deeds },
          }));
          const limits = { recruitMs: 20_000, leaseMs: 20_000, maxPerAgent };
          const { id } = await system.swarms.createSwarm('Sail', [], { ...limits, plan });
          const outcome = await system.swarms.outcome(id);
          for (const session of seen) checkPicture(session);
          expect(outcome).toMatchObject({ status: 'completed', isEscalated: false });
          expect(outcome.participants.length).toBeLessThanOrEqual(Math.min(parts.length, 4));
          for (const { id: subTask, agentId, assignments, result, envelopeIds } of outcome.subTasks) {
            expect(result).toEqual({ agent: agentId, subTask, epoch: assignments.length });
            expect(outcome.results[subTask]).toEqual(result);
            expect(new Set(envelopeIds).size).toBe(assignments.length);
          }
        },
      ),
      { numRuns: 100 },
    );
    await until('everything is settled', async () => {
      const { holds, inFlight } = await system.conservation();
      return holds && inFlight === 0;
    });
    expect(await system.deadLetters()).toEqual([]);
  });

  it('keep everything in one conversation, under the ids that the outcome names', async () => {
    await using system = await startSystem({ agents: [crewOf('mars'), crewOf('venus')] });
    const { id } = await system.swarms.createSwarm('Sail', [work.id], { ...LIMITS, plan: planOf(3) });
    const { subTasks } = await system.swarms.outcome(id);
    const thread = await system.thread(id);
    const asked = thread.filter(
      ({ metadata, type }) => type === 'request' && metadata?.capability === work.id,
    );
    expect(asked.map((one) => one.id).toSorted()).toEqual(
      subTasks.flatMap((one) => one.envelopeIds).toSorted(),
    );
    expect(thread.filter(({ type }) => type === 'task-proposal').map(({ recipient }) => recipient)).toEqual([
      'mars',
      'venus',
    ]);
    expect(thread.filter(({ type }) => type === 'response')).toHaveLength(3);
    const events = (await system.recentEvents()).filter(({ type }) => type === 'swarm');
    expect(events).toMatchObject(
      ['active', 'completing', 'completed'].map((status) => ({
        agentId: 'system/host',
        correlationId: id,
        success: true,
        reason: expect.stringContaining(`is ${status}, `),
      })),
    );
  });

  it('is made by an agent within its work, which goes on while the agent waits for the outcome', async () => {
    await using system = await startSystem({ agents: [agent('captain'), crewOf('mars', 'venus')] });
    const { swarmId, outcome } = await system.ask(lead, { parts: 4, leaseMs: 20_000 });
    expect(outcome).toMatchObject({ status: 'completed', ownerId: 'captain', swarmId });
    // The work of the crew is below that of the captain.
    const thread = await system.thread((outcome as SwarmOutcome).correlationId);
    const asked = thread.filter(
      ({ metadata, type }) => type === 'request' && metadata?.capability === work.id,
    );
    expect(asked).toHaveLength(4);
    for (const { metadata, sender } of asked) {
      expect(sender).toBe('captain');
      expect(metadata?.path).toMatchObject([{ agent: 'captain', capability: lead.id }]);
    }
    const told = await system.ask({ agent: 'captain', capability: notices }, undefined);
    expect(told.map(({ kind }) => kind)).toEqual([...Array(4).fill('swarm.state'), 'swarm.ended']);
  });

  it('is over when the work is in which it was made', async () => {
    await using system = await startSystem({ agents: [agent('captain'), crewOf('mars', 'venus')] });
    const stalls = { mars: 'stalls', venus: 'stalls' } as const;
    const { swarmId } = await system.ask(lead, { parts: 3, deeds: stalls, leaseMs: 20_000, awaits: false });
    const told = await until('the captain is told', async () => {
      const all = await system.ask({ agent: 'captain', capability: notices }, undefined);
      return all.some(({ kind }) => kind === 'swarm.ended') && all;
    });
    expect(told).toEqual([{ kind: 'swarm.ended', swarmId }]);
    // Whoever worked for it is free again.
    expect(await system.ask({ agent: 'mars', capability: work }, {})).toMatchObject({ agent: 'mars' });
  });
});

describe('A coordinator', () => {
  it('is an actor of its agent in the roster, with its swarms, their sub-tasks, and who has these', async () => {
    await using system = await startSystem({ agents: [agent('captain'), crewOf('mars', 'venus')] });
    const coordinator = async () => {
      const rows = await system.roster({ actors: true });
      const { actors = [] } = rows.find(({ id }) => id === 'captain') ?? {};
      return actors.find(({ machine }) => machine === 'coordinator');
    };
    expect(await coordinator()).toBe(undefined);
    const abort = new AbortController();
    const deeds = { mars: 'stalls', venus: 'stalls' } as const;
    const options = { signal: abort.signal };
    const asked = system.ask(lead, { parts: 1, deeds, leaseMs: 20_000 }, options).catch(() => undefined);
    const actor = await until('somebody has the sub-task', async () => {
      const row = await coordinator();
      return row?.children?.[0]?.children?.[0]?.state === 'running.leased' && row;
    });
    const children = [
      { id: '1 mars', machine: 'assignment', state: 'active', facts: { assignee: 'mars', epoch: 1 } },
    ];
    const leased = { capability: work.id, assignee: 'mars', epoch: 1 };
    const subTask = { id: 'part-0', machine: 'subTask', state: 'running.leased', facts: leased, children };
    const facts = { owner: 'captain', subTasks: 1, done: 0 };
    const swarm = { machine: 'swarm', state: 'active', facts, children: [subTask] };
    const about = { id: 'coordinator', machine: 'coordinator', state: 'active' };
    expect(actor).toMatchObject({ ...about, children: [swarm] });
    abort.abort();
    await asked;
    await until('the swarm is over', async () => (await coordinator())?.children?.length === 0);
  });
});

describe('A system that stops', () => {
  it('ends what its swarms do, with what there is', async () => {
    const system = await startSystem({ agents: [crewOf('mars'), crewOf('venus')] });
    const plan = planOf(2, { venus: 'stalls' });
    const { id } = await system.swarms.createSwarm('Sail', [work.id], { ...LIMITS, plan });
    await until('one half is done', () => system.swarms.getSwarm(id)?.stateVersion === 1);
    const outcome = system.swarms.outcome(id);
    await system.stop();
    expect(await outcome).toMatchObject({ status: 'failed', isEscalated: true, participants: ['mars'] });
  });
});

describe('What becomes of a participant (N-8.5, N-T03, F-02, F-11)', () => {
  let system: Team;
  beforeAll(async () => {
    const supervision = { intensity: { maxRestarts: 100, withinMs: 60_000 } };
    system = await startSystem({ agents: [crewOf('mars'), crewOf('venus')], workers: 2, supervision });
  });
  afterAll(() => system.stop());

  it.each([
    ['throws', 'failed'],
    ['declines', 'failed'],
    ['asks nobody', 'failed'],
    ['stalls', 'stalled'],
    ['freezes', 'stalled'],
    ['answers late', 'stalled'],
    ['leaves', 'left'],
  ] as const)('that %s is replaced', async (deed, end) => {
    const leaseMs = end === 'stalled' ? LEASE_MS : LIMITS.leaseMs;
    // One that never answers is made to, the others are heard.
    const limits = { ...LIMITS, leaseMs, graceMs: deed === 'stalls' ? 100 : LIMITS.graceMs };
    const plan = planOf(1, { mars: deed });
    const { id } = await system.swarms.createSwarm('Sail', [work.id], { ...limits, plan });
    const outcome = await system.swarms.outcome(id);
    expect(triesOf(outcome)).toEqual([`mars ${end}`, 'venus completed']);
    expect(outcome.results).toMatchObject({ 'part-0': { agent: 'venus', epoch: 2 } });
    if (deed === 'freezes' || deed === 'answers late' || deed === 'leaves') {
      const late = await until(
        'the late result is there',
        () => system.swarms.getSwarm(id)?.subTasks[0]?.lates[0],
      );
      expect(late).toMatchObject({ agentId: 'mars', epoch: 1, kind: 'result', value: { agent: 'mars' } });
    }
    // Whatever it did, it is there for others.
    expect(await system.ask({ agent: 'mars', capability: special }, {})).toMatchObject({ agent: 'mars' });
  });

  it('whose thread dies is replaced', async () => {
    const { id } = await system.swarms.createSwarm('Sail', [work.id], {
      ...LIMITS,
      plan: planOf(1, { mars: 'stalls' }),
    });
    const place = await until('mars works on it', async () => {
      const session = system.swarms.getSwarm(id);
      if (session?.subTasks[0]?.assignments[0]?.envelopeId === undefined) return undefined;
      return (await system.roster()).find((row) => row.id === 'mars')?.place;
    });
    await system.terminate(place);
    expect(triesOf(await system.swarms.outcome(id)).at(-1)).toBe('venus completed');
  });

  it('has its partial result handed to the next, which goes on from there', async () => {
    const plan = planOf(1, { mars: 'checkpoints and throws' });
    const { id } = await system.swarms.createSwarm('Sail', [work.id], { ...LIMITS, plan });
    const outcome = await system.swarms.outcome(id);
    expect(triesOf(outcome)).toEqual(['mars failed', 'venus completed']);
    expect(outcome.results).toMatchObject({ 'part-0': { agent: 'venus', resumedFrom: { half: 'mars' } } });
  });

  it('fails the swarm, with all that there is, when nobody is left (N-V04)', async () => {
    const fails = { mars: 'throws', venus: 'checkpoints and throws' } as const;
    const plan = [...planOf(1, fails), { id: 'fine', requiredCapabilities: [special.id], input: {} }];
    const { id } = await system.swarms.createSwarm('Sail', [], { ...LIMITS, plan });
    const outcome = await system.swarms.outcome(id);
    expect(outcome).toMatchObject({ status: 'failed', isEscalated: true, results: { fine: {} } });
    expect(outcome.subTasks[0]).toMatchObject({
      status: 'failed',
      error: { code: 'HANDLER_FAILED' },
      partial: { agentId: 'venus', value: { half: 'venus' } },
    });
    expect(outcome.subTasks[0]?.error?.message).toContain('mars trips over part-0');
  });
});

describe('What participants can ask (N-8.3)', () => {
  it('is the shared state, and to report by themselves; others are refused', async () => {
    await using system = await startSystem({
      agents: [crewOf('mars'), crewOf('venus', 'pluto')],
      workers: 2,
    });
    const deeds = { venus: 'stalls', pluto: 'stalls' } as const;
    const { id: swarmId } = await system.swarms.createSwarm('Sail', [work.id], {
      ...LIMITS,
      plan: planOf(3, deeds),
    });
    const session = await until('mars is done', () => {
      const seen = system.swarms.getSwarm(swarmId);
      return seen?.stateVersion === 1 && seen.participants.length === 3 && seen;
    });
    const done = session.subTasks.find(({ status }) => status === 'completed')?.id ?? '';
    const open = session.subTasks.find(({ assignedAgent }) => assignedAgent === 'venus')?.id ?? '';
    const ask = { agent: 'mars', capability: look };
    expect(await system.ask(ask, { swarmId })).toEqual({ keys: [done], participants: session.participants });
    expect(await rejection(system.ask(ask, { swarmId: '1@nobody' }))).toMatchObject({
      code: 'AGENT_NOT_FOUND',
    });
    expect(await rejection(system.ask(ask, { swarmId: '1@venus' }))).toMatchObject({ code: 'REFUSED' });
    const asMars = { agent: 'mars', capability: report };
    expect(await rejection(system.ask(asMars, { swarmId, subTaskId: open }))).toMatchObject({
      code: 'REFUSED',
    });
    expect(await rejection(system.ask(asMars, { swarmId, subTaskId: done }))).toMatchObject({
      code: 'TAKEN',
    });
    await system.swarms.cancelSwarm(swarmId, 'seen enough');
    const outcome = await system.swarms.outcome(swarmId);
    expect(outcome).toMatchObject({ status: 'failed', error: { code: 'CANCELLED' } });
    expect(Done.parse(outcome.results[done])).toMatchObject({ agent: 'mars' });
  });
});
