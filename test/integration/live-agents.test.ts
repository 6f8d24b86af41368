import { capability, defineAgent, startSystem, type Team } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { act } from '../fixtures/agents/member.ts';
import { agent, rejection, until } from '../fixtures/until.ts';

const open = capability({ id: 'open', description: 'Opens the harbour', input: z.null(), output: z.null() });
const opened = Promise.withResolvers<null>();
const harbour = defineAgent({
  id: 'harbour',
  name: 'HARBOUR',
  version: '1.0.0',
  description: 'Opens when it is told to',
  tier: 2,
}).handle(open, () => opened.promise);

let system: Team;

beforeAll(async () => {
  system = await startSystem({
    // Three threads: both members offer the same, and the first stands first.
    agents: [agent('member', { instances: ['first'] }), agent('member', { instances: ['second'] }), harbour],
    workers: 2,
    supervision: { intensity: { maxRestarts: 0 }, halfOpen: { firstMs: 3_600_000 } },
  });
});
afterAll(() => system.stop({ drainMs: 0 }));

const statusOf = async (id: string) => (await system.roster()).find((row) => row.id === id)?.status;
const hasFailed = (id: string) => until(`${id} has failed`, async () => (await statusOf(id)) === 'failed');
const crash = (id: string) => rejection(system.ask({ agent: id, capability: act }, 'crash'));

describe('A sub-task, in a running system', () => {
  it('goes to the agent that has less in hand and waiting, whoever gave the other one its work (N-8.2)', async () => {
    const plan = [
      { id: 'opening', requiredCapabilities: [open.id], input: null },
      { id: 'part', requiredCapabilities: [act.id], dependsOn: ['opening'], input: 'answer' },
    ];
    const limits = { recruitMs: 20_000, leaseMs: 20_000, graceMs: 20_000 };
    const { id } = await system.swarms.createSwarm('Sail', [], { plan, ...limits });
    await until('the team stands', () => system.swarms.getSwarm(id)?.subTasks[0]?.status === 'running');
    const begun = Promise.withResolvers<void>();
    const stop = new AbortController();
    const options = { onProgress: () => begun.resolve(), signal: stop.signal };
    const busy = rejection(system.ask({ agent: 'first', capability: act }, 'wait', options));
    await begun.promise;
    opened.resolve(null);
    const { subTasks } = await system.swarms.outcome(id);
    expect(subTasks[1]?.assignments.map(({ agentId, end }) => [agentId, end])).toEqual([
      ['second', 'completed'],
    ]);
    stop.abort();
    expect((await busy).code).toBe('CANCELLED');
  });
});

describe('What is asked for a capability, in a running system (N-4.3)', () => {
  it('goes to the first agent while that lives, and then to one that does; when none does it is told why', async () => {
    const [first, second] = await Promise.all(
      ['first', 'second'].map((id) => system.ask({ agent: id, capability: act }, 'answer')),
    );
    expect(await system.ask(act, 'answer')).toBe(first);
    await crash('first');
    await hasFailed('first');
    for (let asked = 0; asked < 3; asked += 1) expect(await system.ask(act, 'answer')).toBe(second);
    await crash('second');
    await hasFailed('second');
    expect(await rejection(system.ask(act, 'answer'))).toMatchObject({
      code: 'SUPERVISOR_GAVE_UP',
      message: expect.stringContaining('told to'),
    });
    expect((await system.conservation()).holds).toBe(true);
  });
});
