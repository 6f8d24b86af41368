import { capability, defineAgent, signingKeyPair, type SigningKeyPair, startSystem, type Team } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BareNode, soon } from '../fixtures/peers/bare-node.ts';

const look = capability({ id: 'look', description: 'Looks', input: z.unknown(), output: z.unknown() });

const venus = defineAgent({
  id: 'venus',
  name: 'VENUS',
  version: '1.0.0',
  description: 'Looks',
  tier: 2,
}).handle(look, (_, ctx) => ({ envelope: ctx.envelope, requester: ctx.requester, taint: ctx.taint }));
const chief = defineAgent({
  id: 'chief',
  name: 'Chief',
  version: '1.0.0',
  description: 'Leads',
  tier: 0,
}).handle(look, () => 'reached');

const card = (id: string, more: object = {}) => ({
  ...{ id, name: id, version: '1.0.0', description: '', tier: 0, protocols: [], endpoints: [] },
  ...{ capabilities: [], revision: 0, origin: 'local', lastSeenAt: 1, ...more },
});

const request = (n: number, sender: string, recipient: string, metadata: object = {}) => ({
  ...{ type: 'request', n, wants: 'value', deadlineMs: 10_000 },
  envelope: {
    ...{ id: `r-${n}`, schemaVersion: 1, sender, recipient, type: 'request', timestamp: 1, payload: null },
    metadata: { tier: 0, capability: 'look', ...metadata },
  },
});

describe('What another node can do that a key lets in (C-31)', () => {
  const keys = { rome: signingKeyPair(), evil: signingKeyPair(), other: signingKeyPair() };
  let rome: Team;
  let address: string;

  beforeEach(async () => {
    rome = await startSystem({
      agents: [venus, chief],
      spareThread: false,
      peers: {
        transports: [webSocket()],
        identity: { node: 'rome', key: keys.rome },
        trust: [
          {
            key: keys.evil.publicKey,
            node: 'evil',
            tier: 2,
            sandboxId: null,
            agents: ['system/host', 'imp*', 'venus'],
          },
          { key: keys.other.publicKey },
        ],
      },
    });
    address = rome.peers.addresses[0] as string;
  });

  afterEach(async () => {
    await rome.stop({ drainMs: 0 });
  });

  const joined = async (node = 'evil', key: SigningKeyPair = keys.evil): Promise<BareNode> => {
    const bare = await BareNode.open(address, node, key);
    await bare.join(node);
    return bare;
  };

  it('is nothing at all without a trusted key, under a name of somebody else, or that of this node', async () => {
    for (const [node, key] of [
      ['evil', signingKeyPair()],
      ['other', keys.evil],
      ['rome', keys.other],
      ['a/b', keys.other],
    ] as const)
      await expect(BareNode.open(address, node, key)).rejects.toMatchObject({ code: 'REFUSED' });
    expect(await rome.peers.list()).toEqual([]);
    const refused = (await rome.recentEvents()).filter(({ security }) => security === true);
    expect(refused.length).toBeGreaterThanOrEqual(4);
  });

  it('is judged by its grant: claims of tier, sandbox, requester and deadline count for nothing, and all is tainted', async () => {
    await using evil = await joined();
    await evil.say({ type: 'cards', cards: [card('imp')] });
    const requester = { principalId: 'key:alice', tenant: 'acme', roles: ['admin'] };
    const claims = { requester, sandboxId: 'system', deadlineAtMs: 1 };
    await evil.say(request(0, 'evil/imp', 'rome/venus', claims), request(1, 'evil/imp', 'rome/chief'));
    const { value } = (await evil.outcome(0)) as unknown as { value: { envelope: { metadata: object } } };
    const known = { principalId: 'peer:evil', roles: [] };
    expect(value).toMatchObject({
      taint: ['peer:evil'],
      requester: known,
      envelope: { sender: 'imp', metadata: { tier: 2 } },
    });
    expect(value.envelope.metadata).toMatchObject({ requester: known });
    expect(value.envelope.metadata).not.toHaveProperty('sandboxId');
    expect(await evil.outcome(1)).toMatchObject({ type: 'failed', error: { code: 'ESCALATION_REQUIRED' } });
  });

  it('is not to speak as an agent of somebody else, or as one that has shown no card', async () => {
    await using evil = await joined();
    await evil.say(
      request(0, 'rome/chief', 'rome/venus'),
      request(1, 'evil/ghost', 'rome/venus'),
      request(2, 'chief', 'rome/venus'),
      request(3, 'evil/imp', 'bern/venus'),
    );
    for (const n of [0, 1, 2]) expect(await evil.outcome(n)).toMatchObject({ error: { code: 'REFUSED' } });
    expect(await evil.outcome(3)).toMatchObject({ type: 'failed' });
  });

  it('takes no id from an agent of this node, brings none that it may not have, and no more than 1,000', async () => {
    await using evil = await joined();
    await evil.say({
      type: 'cards',
      cards: [card('venus'), card('boss'), card('imp big', {}), { id: 'imp-none' }],
    });
    await evil.say({ type: 'cards', cards: [card('imp-large', { description: 'x'.repeat(70_000) })] });
    for (let at = 0; at < 1_100; at += 50)
      await evil.say({
        type: 'cards',
        cards: Array.from({ length: 50 }, (_, more) => card(`imp-${at + more}`)),
      });
    const ids = () => rome.registry.getRemoteCards().map(({ id }) => id);
    while (ids().length < 1_000) await soon();
    expect(ids()).toContain('evil/venus');
    expect(ids()).not.toContain('boss');
    expect(ids()).not.toContain('imp-large');
    expect(await rome.ask({ agent: 'venus', capability: look }, null)).toMatchObject({
      requester: undefined,
    });
    expect((await rome.peers.list())[0]?.agents).toHaveLength(1_000);
  });

  it('is over with a message that makes no sense, with a request before it may ask, and with more than 8 channels', async () => {
    for (const said of [
      [{ type: 'done', n: 1 }],
      [{ type: 'shout' }],
      [request(5, 'evil/imp', 'rome/venus')],
    ]) {
      await using evil = await joined();
      await evil.say(...said).catch(() => undefined);
      while (evil.status !== 'closed') await soon();
    }
    const many = await Promise.all(
      Array.from({ length: 12 }, () => BareNode.open(address, 'evil', keys.evil)),
    );
    while (many.filter(({ status }) => status === 'closed').length < 4) await soon();
    await Promise.all(many.map((one) => one[Symbol.asyncDispose]()));
    await using early = await BareNode.open(address, 'evil', keys.evil);
    await early.say(request(0, 'evil/imp', 'rome/venus')).catch(() => undefined);
    while (early.status !== 'closed') await soon();
    expect(await rome.ask({ agent: 'venus', capability: look }, null)).toBeDefined();
  });
});
