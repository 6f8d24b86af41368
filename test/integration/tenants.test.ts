import { capability, defineAgent, type HandlingContext, startSystem, type Team } from 'orrery';
import { serve } from 'orrery/gateway';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { apiKeys, newApiKey } from '../../gateway/admit/api-keys.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { whose } from '../fixtures/agents/tenant.agent.ts';
import { modernRpc } from '../fixtures/mcp/raw-mcp.ts';
import { agent, rejection } from '../fixtures/until.ts';

const acme = newApiKey({ kind: 'user', tenant: 'acme' });
const other = newApiKey({ kind: 'user', tenant: 'other' });
const nobody = newApiKey({ kind: 'user' });

const front = capability({
  id: 'front.ask',
  description: 'Asks the others for whom they work',
  input: z.object({}),
  output: z.object({
    own: z.string(),
    thread: z.array(z.string()),
    process: z.array(z.string()),
    forged: z.string(),
  }),
});

async function answer(_: unknown, ctx: HandlingContext) {
  const asked = (agent: string): Promise<string[]> => ctx.ask({ agent, capability: whose }, {});
  const forged = await rejection(
    ctx.ask({ agent: 'in-thread', capability: whose }, {}, { metadata: { tenant: 'another' } }),
  );
  return {
    own: ctx.tenant ?? 'nobody',
    thread: await asked('in-thread'),
    process: await asked('in-process'),
    forged: forged.code,
  };
}

let system: Team;
let url: string;
beforeAll(async () => {
  system = await startSystem({
    agents: [
      agent('tenant', { instances: ['in-thread'] }),
      agent('tenant', { isolation: 'process' as const, instances: ['in-process'] }),
      defineAgent({
        id: 'front',
        name: 'FRONT',
        version: '1.0.0',
        description: 'Is asked',
        tier: 2,
        defaultCapability: front.id,
      }).handle(front, answer),
    ],
    workers: 1,
    spareThread: false,
  });
  const authenticators = [
    apiKeys(
      [acme, other, nobody].map(({ record }) => record),
      { clock: systemClock },
    ),
  ];
  ({ url } = await serve(system, { authenticators }));
});
afterAll(() => system.stop());

const whoFor = (tenant: string) => ({
  own: tenant,
  thread: [tenant, tenant],
  process: [tenant, tenant],
  forged: 'INVALID_OPTIONS',
});

async function overA2A(key: string): Promise<unknown> {
  const parts = [{ kind: 'data', data: { tool: 'front.ask', arguments: {} } }];
  const metadata = { tenant: 'forged' };
  const message = { kind: 'message', messageId: crypto.randomUUID(), role: 'user', parts, metadata };
  const response = await fetch(`${url}/front/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'x-api-key': key },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'message/send',
      params: { message, metadata, configuration: { blocking: true } },
    }),
  });
  const { result } = (await response.json()) as {
    result: { artifacts: { parts: { data: unknown }[] }[] };
  };
  return result.artifacts[0]?.parts[0]?.data;
}

async function overMcp(key: string): Promise<unknown> {
  const called = { name: 'front.front.ask', arguments: {} };
  const { json } = await modernRpc(url, 'tools/call', called, { headers: { 'x-api-key': key } });
  return (json as { result: { structuredContent: unknown } }).result.structuredContent;
}

describe('The tenant of a caller (A-04)', () => {
  it.each([
    ['acme', acme],
    ['other', other],
    ['nobody', nobody],
  ])(
    'goes with all the work that it causes, over A2A and MCP, in threads and processes: %s',
    async (tenant, { key }) => {
      expect(await overA2A(key)).toEqual(whoFor(tenant));
      expect(await overMcp(key)).toEqual(whoFor(tenant));
    },
  );

  it('is nobody’s where the embedder asks', async () => {
    expect(await system.ask({ agent: 'in-thread', capability: whose }, {})).toEqual(['nobody', 'nobody']);
  });
});
