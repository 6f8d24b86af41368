import { exportJWK, generateKeyPair } from 'jose';
import { describe, expect, it } from 'vitest';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { cardSigner } from '../../gateway/a2a/wire/card-signature.ts';
import { RemoteAgentClient } from '../../gateway/a2a/client/remote-agent-client.ts';
import type { ClientOptions } from '../../gateway/a2a/client/client-options.ts';
import { cardOf, result, ScriptedAgent } from '../fixtures/scripted-agent.ts';
import { quick, say } from '../fixtures/scripted-events.ts';

describe('the card of an agent elsewhere (C-01)', () => {
  it('is asked for by its ETag, and at the older place where there is none', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.card = undefined;
    const asked: unknown[] = [];
    agent.answer = ({ request, response }) => {
      if (request.url !== '/.well-known/agent.json') return void response.writeHead(404).end();
      asked.push(request.headers['if-none-match']);
      if (request.headers['if-none-match'] === '"1"') return void response.writeHead(304).end();
      const { supportedInterfaces: _, ...card } = cardOf(agent.url);
      const old = { ...card, url: `${agent.url}/rpc`, protocolVersion: '0.2.5' };
      response.writeHead(200, { etag: '"1"', 'cache-control': 'no-cache' }).end(JSON.stringify(old));
    };
    using client = new RemoteAgentClient(agent.url, quick);
    expect((await client.card()).interfaces).toMatchObject([{ version: '0.3', binding: 'JSONRPC' }]);
    expect((await client.card()).name).toBe('Scripted');
    expect(asked).toEqual([undefined, '"1"']);
    expect(agent.calls.filter((call) => call.includes('agent-card'))).toHaveLength(1);
  });

  it('falls back to what is spoken there', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.card = (base) => {
      const { supportedInterfaces: _, ...card } = cardOf(base, { capabilities: {} });
      return { ...card, url: `${base}/rpc` };
    };
    agent.answer = (call) => {
      if (call.method === 'tasks/send') {
        const { id } = call.params;
        return result(call, {
          id,
          sessionId: 's',
          status: { state: 'completed' },
          artifacts: [{ parts: [{ type: 'text', text: 'old' }], index: 0 }],
        });
      }
      const error = { code: -32_601, message: 'Method not found' };
      call.response.end(JSON.stringify({ jsonrpc: '2.0', id: call.id, error }));
    };
    using client = new RemoteAgentClient(agent.url, quick);
    const answer = await client.send(say('go'));
    expect(answer).toMatchObject({
      task: { status: { state: 'completed' }, artifacts: [{ parts: [{ text: 'old' }] }] },
    });
    expect(agent.calls).toEqual(['card', 'message/send', 'tasks/send']);
    await client.send(say('again'));
    expect(agent.calls.slice(3)).toEqual(['tasks/send']);
  });

  it('is believed when a trusted key has signed it, and then only as far as that', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const mine = { ...(await exportJWK(privateKey)), kid: 'k1', alg: 'ES256' };
    const trusted = { ...(await exportJWK(publicKey)), kid: 'k1', alg: 'ES256', kty: 'EC' };
    const other = await generateKeyPair('ES256', { extractable: true });
    const foreign = { ...(await exportJWK(other.privateKey)), kid: 'k1', alg: 'ES256' };
    await using agent = await ScriptedAgent.listen();
    const cardWith = async (options: ClientOptions): Promise<string> => {
      using client = new RemoteAgentClient(agent.url, { ...quick, ...options });
      return client.card().then(
        ({ name }) => name,
        (error: { code: string; message: string }) => `${error.code}: ${error.message}`,
      );
    };
    const trust = { keys: [trusted] };
    const signed = (await cardSigner({ key: mine })(cardOf(agent.url) as never)) as Record<string, unknown>;
    const shown = (card: unknown): void => {
      agent.card = () => card;
    };
    shown(signed);
    expect(await cardWith({ trust })).toBe('Scripted');
    shown(cardOf(agent.url));
    expect(await cardWith({ trust })).toContain(
      'UNAUTHENTICATED: The request is not authenticated: the card',
    );
    expect(await cardWith({ trust, requireSignedCard: false })).toBe('Scripted');
    expect(await cardWith({ requireSignedCard: true })).toContain('is not signed');
    shown({ ...signed, name: 'Forged' });
    expect(await cardWith({ trust })).toContain('no signature');
    shown(await cardSigner({ key: foreign })(cardOf(agent.url) as never));
    expect(await cardWith({ trust })).toContain('no signature');
    shown({ ...signed, url: 'http://127.0.0.1:9/', protocolVersion: '0.3.0' });
    using client = new RemoteAgentClient(agent.url, { ...quick, trust });
    expect((await client.card()).interfaces).toHaveLength(1);
  });

  it('is refused with what is wrong with it', async () => {
    await using agent = await ScriptedAgent.listen();
    agent.card = () => ({ description: 5, skills: {} });
    using client = new RemoteAgentClient(agent.url, quick);
    await expect(client.card()).rejects.toMatchObject({
      code: 'INVALID_CARD',
      message: expect.stringContaining('name is '),
    });
    expect(() => new RemoteAgentClient('ftp://x', {}, systemSeams())).toThrow(
      expect.objectContaining({ code: 'INVALID_OPTIONS' }),
    );
    expect(() => new RemoteAgentClient('http://x', { attempts: 0 })).toThrow('client.attempts');
  });
});
