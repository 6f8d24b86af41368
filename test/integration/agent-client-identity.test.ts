import { describe, expect, it } from 'vitest';
import { RemoteAgentClient } from '../../gateway/a2a/client/remote-agent-client.ts';
import type { ClientOptions } from '../../gateway/a2a/client/client-options.ts';
import { newCertificates } from '../fixtures/certificate.ts';
import { cardOf, result, ScriptedAgent, taskOf } from '../fixtures/scripted-agent.ts';
import { quick, say } from '../fixtures/scripted-events.ts';

describe('what a client proves, and says that it speaks', () => {
  it('stands in its headers, over the very body that is sent', async () => {
    await using agent = await ScriptedAgent.listen();
    const ours = { uri: 'urn:orrery:a2a:ext:delegation:1', params: { node: 'b' } };
    agent.card = (base) => cardOf(base, { capabilities: { streaming: false, extensions: [ours] } });
    const seen: Record<string, unknown>[] = [];
    agent.answer = (call) => {
      seen.push(call.request.headers);
      result(call, { task: taskOf('t', 'COMPLETED') });
    };
    const send = async (options: ClientOptions): Promise<Record<string, unknown>> => {
      using client = new RemoteAgentClient(agent.url, { ...quick, ...options });
      await client.send({ ...say('go'), delegation: { deadlineMs: 5 } });
      return seen.at(-1) ?? {};
    };
    expect(await send({ credentials: { bearer: 'b' } })).toMatchObject({
      authorization: 'Bearer b',
      'a2a-version': '1.0',
    });
    expect(await send({ credentials: { apiKey: 'k' } })).toMatchObject({ 'x-api-key': 'k' });
    const signed = await send({
      credentials: {
        headers: async ({ method, body }) => ({ 'x-signed': `${method} ${body.includes('"go"')}` }),
      },
      extensions: ['urn:other'],
    });
    expect(signed).toMatchObject({ 'x-signed': 'POST true', 'a2a-extensions': `${ours.uri}, urn:other` });
  });
});

describe('over TLS', () => {
  it('speaks to whom an authority vouches for that it trusts, and sends the others nothing', async () => {
    const { ca, cert, key } = newCertificates();
    await using agent = await ScriptedAgent.listen({ cert, key });
    agent.answer = (call) => result(call, { task: taskOf('t', 'COMPLETED') });
    using trusting = new RemoteAgentClient(agent.url, { ...quick, tls: { ca } });
    expect(await trusting.send(say('go'))).toMatchObject({ task: { id: 't' } });
    const calls = agent.calls.length;
    using other = new RemoteAgentClient(agent.url, { ...quick, attempts: 2 });
    await expect(other.card()).rejects.toMatchObject({
      code: 'REMOTE_UNREACHABLE',
      details: { mayHaveArrived: false },
    });
    expect(agent.calls).toHaveLength(calls);
  });
});
