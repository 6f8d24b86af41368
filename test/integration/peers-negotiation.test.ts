import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { capability, defineAgent, signingKeyPair, type SigningKeyPair, startSystem, type Team } from 'orrery';
import { agentMesh, type MeshPeerOptions, openIdentity } from 'orrery/agentmesh';
import { webSocket } from 'orrery/websocket';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BareNode, soon } from '../fixtures/peers/bare-node.ts';

const agentWith = (id: string) =>
  defineAgent({ id: `has-${id}`, name: id.toUpperCase(), version: '1.0.0', description: id, tier: 2 }).handle(
    capability({ id, description: id, input: z.unknown(), output: z.unknown() }),
    (input) => input,
  );

const FLIGHTS = 'agentmesh/travel/flight-search/v1';

describe('What two nodes have in common', () => {
  const started: Team[] = [];
  const node = async (
    name: string,
    key: SigningKeyPair,
    { agent, mesh, ...peers }: { agent: string; mesh?: MeshPeerOptions; trust: object[]; discover?: object },
  ): Promise<Team> => {
    const team = await startSystem({
      agents: [agentWith(agent)],
      spareThread: false,
      peers: {
        transports: [webSocket()],
        identity: { node: name, key },
        ...(mesh === undefined ? {} : { agentMesh: agentMesh({ directory: false, ...mesh }) }),
        ...(peers as { trust: { key: string }[] }),
      },
    });
    started.push(team);
    return team;
  };
  const agreedAt = async (team: Team) => {
    for (;;) {
      const [row] = await team.peers.list();
      if (row?.agreed !== undefined) return row.agreed;
      await soon();
    }
  };

  afterEach(async () => {
    await Promise.all(started.splice(0).map((team) => team.stop({ drainMs: 0 })));
  });

  it('is found out by both when a session begins (M-08, M-09, M-10)', async () => {
    const keys = { rome: signingKeyPair(), oslo: signingKeyPair() };
    const rome = await node('rome', keys.rome, {
      agent: 'flights',
      mesh: { needs: ['rooms'], languages: ['en', 'it'], paymentMethods: ['card'] },
      trust: [{ key: keys.oslo.publicKey }],
    });
    const oslo = await node('oslo', keys.oslo, {
      agent: 'rooms',
      mesh: { needs: ['flights', 'hotels'], languages: ['no', 'en-GB'], paymentMethods: ['cash', 'card'] },
      trust: [{ key: keys.rome.publicKey }],
      discover: { dial: rome.peers.addresses },
    });
    expect(await agreedAt(oslo)).toMatchObject({
      matched: ['flights'],
      unavailable: ['hotels'],
      schemas: expect.arrayContaining([FLIGHTS]),
      language: 'en',
      paymentMethod: 'card',
    });
    expect(await agreedAt(rome)).toMatchObject({ matched: ['rooms'], unavailable: [] });
    const told = (await oslo.recentEvents()).find(({ type }) => type === 'peer-negotiated');
    expect(told).toMatchObject({
      targetAgentId: 'rome',
      success: false,
      reason: expect.stringMatching(
        /^matched flights; unavailable hotels; schemas .*; language en; payment card$/,
      ),
    });
  });

  it('is asked of any node, and answered once in a session, with who else has something (M-09, M-10)', async () => {
    const keys = { rome: signingKeyPair(), oslo: signingKeyPair(), bare: signingKeyPair() };
    const rome = await node('rome', keys.rome, {
      agent: 'flights',
      mesh: {},
      trust: [{ key: keys.oslo.publicKey }, { key: keys.bare.publicKey }],
    });
    await node('oslo', keys.oslo, {
      agent: 'rooms',
      trust: [{ key: keys.rome.publicKey }],
      discover: { dial: rome.peers.addresses },
    });
    while (rome.registry.getRemoteCards().every(({ id }) => id !== 'has-rooms')) await soon();
    await using bare = await BareNode.open(rome.peers.addresses[0] as string, 'bare', keys.bare);
    await bare.join('bare');
    const heard = (type: string) => bare.heard.filter((one) => one.type === type);
    while (heard('capability_negotiation').length === 0) await soon();
    expect(heard('capability_negotiation')[0]).toMatchObject({
      i_need: [],
      i_offer: ['flights'],
      preferred_schemas: expect.arrayContaining([FLIGHTS]),
    });
    const question = { type: 'capability_negotiation', i_need: ['rooms', 'flights'] };
    // What it says of itself counts for nothing beyond what was asked.
    const answer = {
      type: 'capability_negotiation_response',
      matched: ['everything'],
      agreed_schemas: ['x-a/b/v1'],
    };
    await bare.say(answer, question, question, { type: 'ping', n: 1 });
    while (heard('pong').length === 0) await soon();
    expect(heard('capability_negotiation_response')).toEqual([
      expect.objectContaining({
        matched: ['flights'],
        unavailable: ['rooms'],
        suggested_alternative: { rooms: expect.objectContaining({ amid: 'oslo/has-rooms' }) },
      }),
    ]);
    const row = (await rome.peers.list()).find(({ node: name }) => name === 'bare');
    expect(row?.agreed).toEqual({ matched: [], unavailable: [], schemas: [] });
  });

  it('needs no agreement: what makes no sense is a warning, and the session goes on', async () => {
    const keys = { rome: signingKeyPair(), bare: signingKeyPair() };
    const rome = await node('rome', keys.rome, {
      agent: 'flights',
      mesh: {},
      trust: [{ key: keys.bare.publicKey }],
    });
    await using bare = await BareNode.open(rome.peers.addresses[0] as string, 'bare', keys.bare);
    await bare.join('bare');
    await bare.say({ type: 'capability_negotiation', i_need: 7 }, { type: 'ping', n: 1 });
    while (!bare.heard.some(({ type }) => type === 'pong')) await soon();
    expect((await rome.recentEvents()).filter(({ type }) => type === 'warning')).toEqual([
      expect.objectContaining({ targetAgentId: 'bare', reason: expect.stringContaining('i_need') }),
    ]);
    expect(bare.status).toBe('open');
  });

  it('can be that a node is who its identity file says, also without prefixes (M-05, M-06, M-07)', async () => {
    const folder = mkdtempSync(join(tmpdir(), 'identity-'));
    try {
      const file = join(folder, 'identity.json');
      const made = openIdentity({ file });
      const text = readFileSync(file, 'utf8');
      expect(text).toContain('"ed25519:');
      writeFileSync(file, text.replaceAll(/(ed|x)25519:/g, ''), { mode: 0o600 });
      const told: string[] = [];
      const { keys, amid } = openIdentity({ file, onEvent: ({ kind }) => told.push(kind) });
      expect(amid).toBe(made.amid);
      expect(told).toEqual(Array(4).fill('key.unprefixed'));
      const other = signingKeyPair();
      const rome = await node('rome', keys, { agent: 'flights', trust: [{ key: other.publicKey }] });
      expect(rome.peers.publicKey).toBe(
        Buffer.from(made.signingPublicKey.slice(8), 'base64').toString('base64url'),
      );
      await node('oslo', other, {
        agent: 'rooms',
        trust: [{ key: keys.publicKey, node: 'rome' }],
        discover: { dial: rome.peers.addresses },
      });
      while ((await rome.peers.list()).every(({ status }) => status !== 'up')) await soon();
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
});
