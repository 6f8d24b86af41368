import type { Task } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { TaskEngine } from 'orrery/tasks';
import { ANONYMOUS } from '../../runtime/protocol/principal.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { a2aPart, createA2AService } from '../../gateway/a2a/server/index.ts';
import { createGateway } from '../../gateway/http/gateway.ts';
import { listen } from '../../gateway/http/listen.ts';
import { TestTeam } from '../fixtures/test-team.ts';
import { BINDINGS, sdkClient, sendRequest } from '../fixtures/sdk-client.ts';
import { sseEvents } from '../fixtures/sse-reader.ts';
import { Workshop } from '../fixtures/workshop.ts';

/** The part on the gateway itself, which listens. */
async function startGateway() {
  const seams = systemSeams();
  const team = new TestTeam();
  const workshop = new Workshop();
  const tasks = await TaskEngine.open({ seams, run: workshop.run });
  const service = createA2AService({ tasks, team, clock: seams.clock });
  const gateway = createGateway({
    parts: [await a2aPart({ service, team })],
    admit: async () => ANONYMOUS,
    seams,
    limits: { maxBodyBytes: 300_000 },
  });
  const listening = await listen(gateway);
  return {
    ...listening,
    workshop,
    gateway,
    async [Symbol.asyncDispose]() {
      await listening.close();
      await tasks.close();
    },
  };
}

describe('A2A on the gateway', () => {
  it.each(BINDINGS)(
    "is reached by the SDK's client over %s, by the card that the gateway serves",
    async (binding) => {
      await using gateway = await startGateway();
      const client = await sdkClient(gateway.url, binding);
      const task = (await client.sendMessage(sendRequest(`echo ${'x'.repeat(200_000)}`))) as Task;
      const content = task.artifacts[0]?.parts[0]?.content;
      expect(content?.$case === 'text' && content.value.length).toBe(200_000);
      expect((await client.getTask({ tenant: '', id: task.id })).id).toBe(task.id);
      await expect(client.sendMessage(sendRequest('x'.repeat(400_000)))).rejects.toThrow(
        'larger than 300000 bytes',
      );
    },
  );

  it('has a route for every path that it says it serves, and none for others', async () => {
    await using gateway = await startGateway();
    for (const { method, path } of gateway.gateway.routes) {
      const url = `${gateway.url}${path.replaceAll(/\{\w+\}/g, 'mars')}`;
      const { status } = await fetch(url, { method });
      expect([status, method, path]).not.toEqual([405, method, path]);
      if (status === 404) expect(path).toContain('{');
    }
    expect((await fetch(`${gateway.url}/message:send`)).status).toBe(405);
    expect((await fetch(`${gateway.url}/nothing:here`)).status).toBe(404);
  });

  it('lets its streams end when it closes', async () => {
    const gateway = await startGateway();
    const headers = { 'Content-Type': 'application/json', 'A2A-Version': '1.0' };
    const message = { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'hold' }] };
    const response = await fetch(`${gateway.url}/message:stream`, {
      method: 'POST',
      headers,
      body: JSON.stringify({ message }),
    });
    const events = sseEvents(response);
    await events.next();
    await gateway.workshop.whenBegun(1);
    const closed = gateway[Symbol.asyncDispose]();
    // It ends, and not by being cut: that would throw.
    for await (const { data = '' } of events) expect(data).not.toContain('TASK_STATE_COMPLETED');
    await closed;
  });
});
