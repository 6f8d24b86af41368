import { AgentCard, verifyAgentCardSignature } from '@a2a-js/sdk';
import {
  ClientFactory,
  DefaultAgentCardResolver,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { exportJWK, generateKeyPair } from 'jose';
import { afterAll, beforeAll, describe, expect, it, vi } from 'vitest';
import { verifyCard } from '../../gateway/a2a/wire/card-signature.ts';
import { V1 } from '../../gateway/a2a/server/index.ts';
import { V03, V03_REST } from '../../gateway/a2a/wire/v03/dialect.ts';
import { restBindingOf } from '../../gateway/a2a/wire/v1/dialect.ts';
import { startA2AServer } from '../fixtures/a2a-server.ts';
import { sendRequest } from '../fixtures/sdk-client.ts';

const PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'];
const SCHEMES = { token: { type: 'http', scheme: 'bearer' } } as const;

type Shown = Record<string, never> & {
  readonly skills: readonly { readonly id: string; readonly tags: readonly string[] }[];
  readonly supportedInterfaces: readonly Record<string, string>[];
};

describe('agent cards', () => {
  // The SDK prints every signature that does not hold.
  const printed = vi.spyOn(console, 'debug');
  beforeAll(() => void printed.mockReturnValue());
  afterAll(() => printed.mockRestore());

  it('C-01, A-01 are the same at both paths, for everybody, of the system and of each agent', async () => {
    await using server = await startA2AServer();
    for (const prefix of ['', '/mars', '/venus']) {
      const [one, other] = await Promise.all(
        PATHS.map(async (path) => {
          const response = await server.fetch(`${prefix}${path}`);
          expect(response.status).toBe(200);
          return { text: await response.text(), etag: response.headers.get('ETag') };
        }),
      );
      expect(other).toEqual(one);
    }
    expect((await server.fetch(`/pluto${PATHS[0]}`)).status).toBe(404);
  });

  it('have the fields of one version alone for whoever asks for them', async () => {
    await using server = await startA2AServer({ dialects: [V1, V03], rest: [restBindingOf(V1), V03_REST] });
    const cardOf = async (query: string) => {
      const response = await server.fetch(`/mars${PATHS[0]}${query}`);
      return { status: response.status, card: (await response.json()) as Record<string, unknown> };
    };
    const { card: both } = await cardOf('');
    const { card: newer } = await cardOf('?version=1.0');
    const { card: older } = await cardOf('?version=0.3');
    expect(both).toMatchObject({
      protocolVersion: '0.3.0',
      supportedInterfaces: expect.anything() as object,
    });
    expect(newer).not.toHaveProperty('protocolVersion');
    expect(newer).not.toHaveProperty('url');
    expect(AgentCard.toJSON(AgentCard.fromJSON(newer))).toMatchObject({ name: 'MARS' });
    expect(JSON.stringify(newer)).not.toContain('"0.3"');
    expect(older).toHaveProperty('url');
    expect(older).not.toHaveProperty('supportedInterfaces');
    expect((await cardOf('?version=9.9')).status).toBe(400);
    expect(await cardOf('')).toEqual({ status: 200, card: both });
  });

  it('C-02, X-02, A-02, A-03 say who serves, what is offered, and where it is to be had', async () => {
    await using server = await startA2AServer({ cards: { securitySchemes: SCHEMES } });
    const system = (await (await server.fetch(PATHS[0] ?? '')).json()) as Shown;
    expect(system).toMatchObject({
      name: 'Planets',
      version: '3.0.0',
      provider: { organization: 'Orrery' },
      capabilities: { streaming: true, pushNotifications: false, extendedAgentCard: true },
      securitySchemes: { token: { httpAuthSecurityScheme: { scheme: 'bearer' } } },
      securityRequirements: [{ schemes: { token: {} } }],
    });
    expect(system.skills.map(({ id }) => id)).toEqual(['types.check', 'ui.render']);
    expect(system.skills[0]?.tags).toContain('mars');
    expect(system.supportedInterfaces).toMatchObject([
      { url: `${server.url}/rpc`, protocolBinding: 'JSONRPC', protocolVersion: '1.0' },
      { url: server.url, protocolBinding: 'HTTP+JSON', protocolVersion: '1.0' },
    ]);
    const venus = (await (await server.fetch(`/venus${PATHS[0]}`)).json()) as Shown;
    expect(venus).toMatchObject({ name: 'VENUS', defaultInputModes: ['application/json', 'text/plain'] });
    expect(venus.supportedInterfaces[0]).toMatchObject({ url: `${server.url}/venus/rpc`, tenant: 'venus' });
    // Nobody reads of what 1.0 has no field for, where 1.0 is all that is spoken.
    expect(JSON.parse(JSON.stringify(AgentCard.toJSON(AgentCard.fromJSON(venus))))).toEqual(venus);
  });

  it('C-01 are kept by whoever has them, until they are others', async () => {
    await using server = await startA2AServer();
    const path = `/mars${PATHS[0]}`;
    const first = await server.fetch(path);
    const etag = first.headers.get('ETag') ?? '';
    const modified = first.headers.get('Last-Modified') ?? '';
    expect(first.headers.get('Cache-Control')).toMatch(/^public, max-age=\d+$/);
    const again = (headers: Record<string, string>) => server.fetch(path, { headers });
    for (const tags of [etag, `"other", ${etag}`, `W/${etag}`, '*']) {
      const response = await again({ 'If-None-Match': tags });
      expect([response.status, await response.text()]).toEqual([304, '']);
      expect(response.headers.get('ETag')).toBe(etag);
    }
    expect((await again({ 'If-Modified-Since': modified })).status).toBe(304);
    // The tag says more than the time.
    expect((await again({ 'If-None-Match': '"other"', 'If-Modified-Since': modified })).status).toBe(200);
    server.team.describe('Something else');
    const changed = await again({ 'If-None-Match': etag });
    expect(changed.status).toBe(200);
    expect(changed.headers.get('ETag')).not.toBe(etag);
    expect((await again({ 'If-Modified-Since': modified })).status).toBe(200);
  });

  it('C-02, X-02 are read by clients of 0.3 and of 1.0 alike, each finding its own', async () => {
    await using server = await startA2AServer({
      cards: { securitySchemes: SCHEMES },
      dialects: [V1, V03],
      rest: [restBindingOf(V1), V03_REST],
    });
    const response = await server.fetch(`/mars${PATHS[1]}`);
    const card = (await response.json()) as Shown;
    expect(card).toMatchObject({
      protocolVersion: '0.3.0',
      url: `${server.url}/mars/rpc`,
      preferredTransport: 'JSONRPC',
      capabilities: { streaming: true, stateTransitionHistory: false, extendedAgentCard: true },
      securitySchemes: {
        token: { type: 'http', scheme: 'bearer', httpAuthSecurityScheme: { scheme: 'bearer' } },
      },
    });
    const spoken = card.supportedInterfaces.map((one) => [one['protocolBinding'], one['protocolVersion']]);
    expect(spoken).toEqual([
      ['JSONRPC', '1.0'],
      ['HTTP+JSON', '1.0'],
      ['JSONRPC', '0.3'],
      ['HTTP+JSON', '0.3'],
    ]);
    for (const legacyCompat of [{ enabled: true }, { enabled: false }])
      for (const transport of [
        new JsonRpcTransportFactory({ legacyCompat }),
        new RestTransportFactory({ legacyCompat }),
      ]) {
        const cardResolver = new DefaultAgentCardResolver({ legacyCompat });
        const client = await new ClientFactory({ transports: [transport], cardResolver }).createFromUrl(
          server.url,
          '/mars/.well-known/agent-card.json',
        );
        expect(client.protocolVersion).toBe('1.0');
        const task = (await client.sendMessage(sendRequest('echo x'))) as { id: string };
        expect((await client.getTask({ tenant: '', id: task.id })).id).toBe(task.id);
      }
    // Who knows 0.3 alone reads nothing of 1.0: what is left of the card is one of 0.3.
    const { supportedInterfaces: _newer, ...old } = card;
    const transports = [new JsonRpcTransportFactory({ legacyCompat: { enabled: true } })];
    const cardResolver = new DefaultAgentCardResolver({ legacyCompat: { enabled: true } });
    const client = await new ClientFactory({ transports, cardResolver }).createFromAgentCard(old as never);
    expect(client.protocolVersion).toBe('0.3');
    const { configuration: _none, ...request } = sendRequest('echo x');
    const task = (await client.sendMessage({ ...request, configuration: undefined })) as { id: string };
    expect(task.id).toBeDefined();
  });

  it('carry what others have beside', async () => {
    await using server = await startA2AServer({
      amendCard: async (agentId, card) => ({ ...card, 'xpr:account': agentId ?? 'team' }),
    });
    const card = (await (await server.fetch(`/mars${PATHS[1]}`)).json()) as Shown;
    expect(card).toMatchObject({ 'xpr:account': 'mars', name: 'MARS' });
  });

  it('are signed, by a signature that the SDK verifies, and that fails when the card is another', async () => {
    const { privateKey, publicKey } = await generateKeyPair('ES256', { extractable: true });
    const key = { ...(await exportJWK(privateKey)), kid: 'card-key' };
    const keys = { keys: [{ ...(await exportJWK(publicKey)), kid: 'card-key', alg: 'ES256' }] };
    await using server = await startA2AServer({
      cards: { securitySchemes: SCHEMES },
      signing: { key, jwksUrl: 'https://orrery.example/jwks.json' },
      amendCard: async (_agentId, card) => ({ ...card, url: 'https://somewhere.example' }),
    });
    const asked: unknown[] = [];
    const verify = verifyAgentCardSignature(async (kid, jku) => {
      asked.push([kid, jku]);
      return publicKey;
    });
    for (const prefix of ['', '/mars']) {
      const card = (await (await server.fetch(`${prefix}${PATHS[0]}`)).json()) as Shown;
      await verify(card as never);
      expect(await verifyCard(card, keys)).toBe('card-key');
      await expect(verify({ ...card, name: 'Mallory' } as never)).rejects.toThrow();
      await expect(verifyCard({ ...card, name: 'Mallory' }, keys)).rejects.toThrow('none of them holds');
      await expect(verifyCard(card, { keys: [] })).rejects.toThrow('none of them holds');
      await expect(verifyCard({ ...card, signatures: [] }, keys)).rejects.toThrow('at least one');
    }
    expect(asked[0]).toEqual(['card-key', 'https://orrery.example/jwks.json']);
    const served = await (await server.fetch('/.well-known/card-keys.json')).json();
    expect(served).toEqual({ keys: [{ ...keys.keys[0], use: 'sig' }] });
    const extended = await server.rpc('GetExtendedAgentCard', {}, 'alice');
    expect(await verifyCard(extended.result, keys)).toBe('card-key');
    const resolved = await new DefaultAgentCardResolver().resolve(server.url);
    expect(resolved.name).toBe('Planets');
  });

  it('show what is extended to those who are known, and that there is nothing more where there is not', async () => {
    await using server = await startA2AServer({ cards: { securitySchemes: SCHEMES } });
    const skillsOf = (answer: { result?: Shown }) => answer.result?.skills.map(({ id }) => id);
    expect(skillsOf(await server.rpc('GetExtendedAgentCard', {}, 'alice'))).toContain('secrets.rotate');
    expect(skillsOf(await server.rpc('GetExtendedAgentCard', { tenant: 'mars' }, 'alice'))).toEqual([
      'types.check',
      'secrets.rotate',
    ]);
    expect((await server.rpc('GetExtendedAgentCard', { tenant: 'venus' }, 'alice')).error?.code).toBe(
      -32_007,
    );
    const nobody = await server.rpc('GetExtendedAgentCard', {});
    expect(nobody.error?.data).toMatchObject([{ reason: 'UNAUTHENTICATED' }]);
    await using open = await startA2AServer();
    expect((await open.rpc('GetExtendedAgentCard', {}, 'alice')).error?.code).toBe(-32_004);
  });
});
