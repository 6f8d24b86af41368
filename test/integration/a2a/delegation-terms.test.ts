import { capability, defineAgent, startSystem } from 'orrery';
import { assignmentIn } from 'orrery/swarm';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { DELEGATION_URI } from '../../../runtime/protocol/a2a-extension.ts';

const handedOver = capability({
  id: 'work.terms',
  description: 'Says what was handed over with it',
  input: z.unknown(),
  output: z.unknown(),
});
const worker = defineAgent({
  id: 'worker',
  name: 'Worker',
  version: '1.0.0',
  description: '',
  tier: 2,
}).handle(handedOver, async (_, ctx) => ({
  assignment: assignmentIn(ctx.envelope) ?? null,
  resumeFrom: (ctx.resumeFrom as z.core.util.JSONType | undefined) ?? null,
}));

const ASSIGNMENT = {
  swarmId: 'swarm-1',
  subTaskId: 'task-1',
  epoch: 3,
  description: 'Sum it up',
  requiredCapabilities: ['work.terms'],
  leaseMs: 30_000,
};

async function answerTo(url: string, messageId: string, headers: Record<string, string>): Promise<unknown> {
  const message = {
    messageId,
    role: 'ROLE_USER',
    parts: [{ data: { tool: 'work.terms', arguments: {} } }],
    metadata: { [DELEGATION_URI]: { assignment: ASSIGNMENT, resumeFrom: { page: 4 } } },
  };
  const answer = await fetch(`${url}/worker/rpc`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', 'a2a-version': '1.0', ...headers },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message } }),
  });
  type Sent = { result: { task: { artifacts: { parts: { data: unknown }[] }[] } } };
  const { result } = (await answer.json()) as Sent;
  return result.task.artifacts[0]?.parts[0]?.data;
}

it('hands over an assignment, and what was kept, only to who has activated the extension (F-02)', async () => {
  await using system = await startSystem({
    agents: [worker],
    workers: 1,
    spareThread: false,
  });
  const { url } = await system.serve({ a2a: { delegation: { node: 'here' } } });
  expect(await answerTo(url, 'm1', {})).toEqual({ assignment: null, resumeFrom: null });
  expect(await answerTo(url, 'm2', { 'A2A-Extensions': 'urn:another' })).toEqual({
    assignment: null,
    resumeFrom: null,
  });
  expect(await answerTo(url, 'm3', { 'A2A-Extensions': DELEGATION_URI })).toEqual({
    assignment: ASSIGNMENT,
    resumeFrom: { page: 4 },
  });
});
