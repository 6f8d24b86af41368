import { defineAgent, type RemoteQuery, startSystem, type System } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDoubles } from '../fixtures/agents/asker.ts';
import { double } from '../fixtures/agents/answers.ts';
import { agent } from '../fixtures/until.ts';

const far = defineAgent({
  id: 'far',
  name: 'FAR',
  version: '1.0.0',
  description: 'Lives on another node',
  tier: 0,
}).handle(double, ({ n }) => n * 2);

const asked: RemoteQuery[] = [];
let system: System;

beforeAll(async () => {
  system = await startSystem({
    agents: [agent('asker'), agent('asker', { isolation: 'process', instances: ['apart'] } as const)],
    policies: {
      sandbox: { enforced: true, crossSandboxAllowList: [], allow: { 'b/': ['asker', 'apart'] } },
    },
    peers: {
      lookup: async (query) => {
        asked.push(query);
        return query.id === 'far' ? [{ agent: far, grant: { nodeId: 'b', grantedTier: 2 } }] : [];
      },
    },
  });
});
afterAll(() => system.stop());

describe('A system of threads and processes that asks other nodes (N-4.4, N-V02)', () => {
  it('finds an agent there once for all who ask for it at the same time', async () => {
    const by = (agentId: string, whom: string) =>
      system.ask({ agent: agentId, capability: askDoubles }, { agent: whom, times: 3 });
    const [inThread, inProcess, here] = await Promise.all([
      by('asker', 'far'),
      by('apart', 'far'),
      system.ask({ agent: 'far', capability: double }, { n: 4 }),
    ]);
    const doubles = [{ value: 0 }, { value: 2 }, { value: 4 }];
    expect({ inThread, inProcess, here }).toEqual({ inThread: doubles, inProcess: doubles, here: 8 });
    const missing = [...(await by('asker', 'nowhere')), ...(await by('apart', 'nowhere'))];
    expect(new Set(missing.map(({ code }) => code))).toEqual(new Set(['AGENT_NOT_FOUND']));
    expect(asked).toEqual([
      { kind: 'agent', id: 'far' },
      { kind: 'agent', id: 'nowhere' },
    ]);
    expect(await system.conservation()).toMatchObject({ inFlight: 0, holds: true });
  });
});
