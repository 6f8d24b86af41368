import { startSystem, systemSeams, type Team } from 'orrery';
import { type Serving, serve } from 'orrery/gateway';
import { memoryAdd, skillAgents } from 'orrery/skills';
import { A2AClient, type A2ATask, chainRpc, type SendMessageOptions, xprBinding } from 'orrery/xpr';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { publicKeyOfPrivate } from '../../gateway/xpr/chain/k1-signature.ts';
import { ChainNode } from '../fixtures/chain-node.ts';
import { ALICES_KEY } from '../fixtures/k1-keys.ts';

let node: ChainNode;
let system: Team;
let served: Serving;
let alice: A2AClient;
beforeAll(async () => {
  node = await ChainNode.start();
  node.keys.set('alice', [publicKeyOfPrivate(ALICES_KEY)]);
  node.agents.set('alice', { account: 'alice', owner: 'alice' });
  const agents = skillAgents({ store: ':memory:', embedding: 'none' });
  system = await startSystem({ agents, workers: 1, spareThread: false });
  const accounts = chainRpc({ endpoint: node.endpoint }, systemSeams());
  served = await serve(system, { bindings: [xprBinding({ accounts })] });
  alice = new A2AClient(served.url, { callerAccount: 'alice', signingKey: ALICES_KEY });
});
afterAll(async () => {
  await served.close({ drainMs: 0 });
  await system.stop();
  await node.stop();
});

const call = (tool: string, args: object, options: SendMessageOptions = {}): Promise<A2ATask> => {
  const data = { tool, arguments: args as never };
  return alice.sendMessage({ role: 'user', parts: [{ type: 'data', data }] }, options);
};

describe('An account of XPR that signs, which has no roles and no tenant', () => {
  it('reads what is of no tenant (A-04, A-05)', async () => {
    const { memory_id } = await system.ask(memoryAdd, { content: 'The port is 4710', layer: 'project' });
    const { status, artifacts } = await call('memory_search', { query: 'port' });
    expect(status.state).toBe('completed');
    expect(artifacts?.[0]?.parts[0]?.['data']).toMatchObject({ results: [{ memory_id }] });
  });

  it('writes nothing, whatever roles it claims (A-06)', async () => {
    for (const [tool, args] of [
      ['memory_add', { content: 'x' }],
      ['knowledge_add', { type: 'adr', title: 'x', content: 'x' }],
      ['governance_policy_put', { policy: { id: 'x', name: 'x', layer: 'project', rules: [] } }],
    ] as const) {
      const claims = { metadata: { roles: ['admin'], tenant: 'acme' } };
      const { status } = await call(tool, args, claims);
      expect([status.state, status.message?.parts]).toEqual([
        'failed',
        expect.arrayContaining([
          expect.objectContaining({ data: expect.objectContaining({ code: 'UNAUTHORIZED' }) }),
        ]),
      ]);
    }
  });
});
