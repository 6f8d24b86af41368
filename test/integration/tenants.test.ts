import { capability, defineAgent, type HandlingContext, Requester, startSystem, type Team } from 'orrery';
import { serve } from 'orrery/gateway';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { apiKeys, newApiKey } from '../../gateway/admit/api-keys.ts';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { whose } from '../fixtures/agents/tenant.agent.ts';
import { modernRpc } from '../fixtures/mcp/raw-mcp.ts';
import { agent, rejection } from '../fixtures/until.ts';

const acme = newApiKey({ kind: 'user', tenant: 'acme', roles: ['reader'] });
const other = newApiKey({ kind: 'user', tenant: 'other' });
const nobody = newApiKey({ kind: 'user' });

const ANOTHER = { principalId: 'key:another', tenant: 'another', roles: ['admin'] };

const front = capability({
  id: 'front.ask',
  description: 'Asks the others for whom they work',
  input: z.object({}),
  output: z.object({
    own: Requester.nullable(),
    thread: z.array(Requester.nullable()),
    process: z.array(Requester.nullable()),
    forged: z.string(),
  }),
});

async function answer(_: unknown, ctx: HandlingContext) {
  const asked = (agent: string) => ctx.ask({ agent, capability: whose }, {});
  const forged = await rejection(
    ctx.ask({ agent: 'in-thread', capability: whose }, {}, { metadata: { requester: ANOTHER } }),
  );
  return {
    own: ctx.requester ?? null,
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

const whoFor = ({ record: { id, tenant, roles } }: ReturnType<typeof newApiKey>) => {
  const requester = { principalId: `key:${id}`, ...(tenant === undefined ? {} : { tenant }), roles };
  return {
    own: requester,
    thread: [requester, requester],
    process: [requester, requester],
    forged: 'INVALID_OPTIONS',
  };
};

async function overA2A(key: string): Promise<unknown> {
  const parts = [{ kind: 'data', data: { tool: 'front.ask', arguments: {} } }];
  const metadata = { tenant: 'forged', requester: ANOTHER };
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

describe('For whom work is done: the caller, its tenant and its roles (A-04)', () => {
  it.each([
    ['acme', acme],
    ['other', other],
    ['nobody', nobody],
  ])(
    'goes with all the work that it causes, over A2A and MCP, in threads and processes: %s',
    async (_, caller) => {
      expect(await overA2A(caller.key)).toEqual(whoFor(caller));
      expect(await overMcp(caller.key)).toEqual(whoFor(caller));
    },
  );

  it('is nobody’s where the embedder asks', async () => {
    expect(await system.ask({ agent: 'in-thread', capability: whose }, {})).toEqual([null, null]);
  });
});
