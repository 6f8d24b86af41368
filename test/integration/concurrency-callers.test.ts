import { startSystem, type Team } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { z } from 'zod';
import { apiKeys, newApiKey } from '../../gateway/admit/api-keys.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { juggle } from '../fixtures/agents/juggling.ts';
import { agent, until } from '../fixtures/until.ts';

type Input = z.input<typeof juggle.input>;

const INSTANCES = ['of-one', 'of-two', 'with-own', 'alone'] as const;
const eve = newApiKey({ kind: 'service', tenant: 'eve' });
const bob = newApiKey({ kind: 'service', tenant: 'bob' });
let system: Team;
let url: string;

beforeAll(async () => {
  system = await startSystem({
    agents: [agent('juggler', { instances: [...INSTANCES] })],
    // None shares its thread with another one that ends it.
    workers: INSTANCES.length,
    supervision: {
      backOff: { firstMs: 1, maxMs: 1 },
      refusal: { firstMs: 600_000, maxMs: 600_000 },
      halfOpen: false,
    },
  });
  ({ url } = await system.serve({
    authenticators: [apiKeys([eve.record, bob.record], { clock: systemClock })],
  }));
});
afterAll(() => system.stop({ drainMs: 0 }));

let calls = 0;

/** Asks over A2A; what is answered, as text. */
async function call(agentId: string, input: Input, { key }: { readonly key: string }): Promise<string> {
  calls += 1;
  const parts = [{ data: { tool: juggle.id, arguments: input } }];
  const message = { messageId: `m${calls}`, role: 'ROLE_USER', parts };
  const answer = await fetch(`${url}/${agentId}/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', 'x-api-key': key },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  });
  return answer.text();
}

const statusOf = async (id: string) => (await system.roster()).find((row) => row.id === id)?.status;

const refusalsBy = async (id: string) =>
  (await system.recentEvents(1_000)).filter(
    ({ type, agentId }) => type === 'outsider-refused' && agentId === id,
  );

/** Each time the agent's thread ends while none of its code runs. */
async function fourTimes(have: () => Promise<string>[]): Promise<void> {
  for (let n = 0; n < 4; n++)
    for (const answer of await Promise.all(have())) expect(answer).toContain('ACTOR_DIED');
}

describe('A thread that ends while an agent has several envelopes in hand, and none of its code runs (F-04)', () => {
  it('is charged to the caller outside who caused them all: the agent refuses them and answers everybody else', async () => {
    await fourTimes(() => [
      call('of-one', { how: 'keeps' }, eve),
      call('of-one', { how: 'exits', beside: 2 }, eve),
      call('of-one', { how: 'keeps' }, eve),
    ]);
    expect(await call('of-one', { how: 'answers' }, eve)).toContain('RATE_LIMITED');
    expect(await call('of-one', { how: 'answers' }, bob)).toContain('answered');
    expect(await statusOf('of-one')).toBe('running');
    expect(await refusalsBy('of-one')).toHaveLength(1);
  });

  it('is charged to the one whose envelope is left, although others were begun on later and are answered', async () => {
    for (let n = 0; n < 4; n++) {
      const last = call('alone', { how: 'exits', after: 1 }, eve);
      expect(await call('alone', { how: 'answers', beside: 1 }, bob)).toContain('answered');
      expect(await last).toContain('ACTOR_DIED');
    }
    expect(await call('alone', { how: 'answers' }, eve)).toContain('RATE_LIMITED');
    expect(await call('alone', { how: 'answers' }, bob)).toContain('answered');
    expect(await statusOf('alone')).toBe('running');
  });

  it.each([
    ['two callers', 'of-two', (agentId: string) => call(agentId, { how: 'keeps' }, bob)],
    [
      'a caller and the embedder',
      'with-own',
      (agent: string) =>
        system
          .ask({ agent, capability: juggle }, { how: 'keeps' })
          .catch(({ code }: { code: string }) => code),
    ],
  ] as const)(
    'is charged to the agent where they are of %s: nobody is refused for what another may have done',
    async (_, agentId, keep) => {
      await fourTimes(() => [keep(agentId), call(agentId, { how: 'exits', beside: 1 }, eve)]);
      await until('the agent is given up', async () => (await statusOf(agentId)) === 'failed');
      expect(await refusalsBy(agentId)).toEqual([]);
    },
  );
});
