import createTestnet from 'hyperdht/testnet.js';
import {
  type AgentCard,
  AgentRegistry,
  type AgentTier,
  capability,
  defineAgent,
  signingKeyPair,
  type SigningKeyPair,
  startSystem,
  type SystemEvent,
} from 'orrery';
import {
  hyperSwarm,
  hyperswarmDiscovery,
  type HyperswarmDiscoveryOptions,
  type PeerDiscovery,
} from 'orrery/hyperswarm';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { signCard } from '../../runtime/peers/signed-card.ts';
import { BareNode } from '../fixtures/peers/bare-node.ts';
import { until } from '../fixtures/until.ts';

const dig = capability({ id: 'dig', description: 'Digs', input: z.null(), output: z.null() });

const agent = (id: string, tier: AgentTier, description = 'Digs') =>
  defineAgent({ id, name: id, version: '1.0.0', description, tier }).handle(dig, () => null);

/** What its own node says of it, at most. */
const card = (id: string, more: Partial<AgentCard> = {}): AgentCard => ({
  ...agent(id, 0).card(1),
  endpoints: [{ transport: 'websocket', address: `ws://${id}.example` }],
  ...more,
});

const SEED = 'ab'.repeat(32);

/** A registry without a running system, and what it was told. */
interface Found {
  readonly registry: AgentRegistry;
  readonly discovery: PeerDiscovery;
  readonly events: SystemEvent[];
}

describe('enableHyperswarmDiscovery over the DHT (C-33, N-1.7, C-31)', () => {
  const keys = {
    rome: signingKeyPair(),
    oslo: signingKeyPair(),
    bern: signingKeyPair(),
    stranger: signingKeyPair(),
  };
  type Name = keyof typeof keys;
  const started: AsyncDisposable[] = [];
  let net: Awaited<ReturnType<typeof createTestnet>>;

  beforeEach(async () => {
    net = await createTestnet(4);
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map((one) => one[Symbol.asyncDispose]()));
    await net.destroy();
  });

  const overNet = () => ({ bootstrap: net.bootstrap, host: '127.0.0.1', searchMs: 2_000 });

  const trusting = (all: readonly Name[]): HyperswarmDiscoveryOptions['trust'] =>
    all.map((name) => ({ key: keys[name].publicKey, node: name, tier: 2 }));

  /** A registry that has these cards and trusts these nodes. */
  const start = async (
    node: Name,
    trusts: readonly Name[],
    cards: readonly AgentCard[],
    more: Partial<HyperswarmDiscoveryOptions> = {},
  ): Promise<Found> => {
    const events: SystemEvent[] = [];
    const discovery = hyperswarmDiscovery({
      ...overNet(),
      topic: 'cards',
      identity: { node, key: keys[node] },
      trust: trusting(trusts),
      onEvent: (event) => void events.push(event),
      ...more,
    });
    started.push(discovery);
    const registry = new AgentRegistry();
    for (const one of cards) registry.register(one);
    await registry.enableHyperswarmDiscovery(discovery);
    return { registry, discovery, events };
  };

  const remote = ({ registry }: Found, id: string): AgentCard | undefined => {
    const found = registry.getById(id);
    return found?.origin === 'remote' ? found : undefined;
  };

  it('finds cards of the nodes that are trusted: judged by what they were granted, the newest counts, and one that is withdrawn is gone', async () => {
    const [rome, oslo] = await Promise.all([
      start('rome', ['oslo'], [card('mars')]),
      start('oslo', ['rome'], [card('venus')]),
    ]);
    await until('both', () => remote(rome, 'venus') !== undefined && remote(oslo, 'mars') !== undefined);
    expect(remote(oslo, 'mars')).toMatchObject({
      ...{ tier: 0, taint: ['peer:rome'], origin: 'remote' },
      endpoints: [{ transport: 'websocket', address: 'ws://mars.example' }],
    });
    expect(oslo.registry.table.get('mars')?.party).toMatchObject({ tier: 2, sandboxId: 'rome/' });
    expect(oslo.registry.findByCapability('dig').map(({ id }) => id)).toEqual(['venus', 'mars']);
    rome.registry.register(card('mars', { description: 'Digs deeper' }));
    rome.registry.register(card('juno'));
    await until('the newest', () => remote(oslo, 'mars')?.description === 'Digs deeper');
    await until('another', () => remote(oslo, 'juno') !== undefined);
    rome.registry.unregister('juno');
    await until('it is gone', () => remote(oslo, 'juno') === undefined);
    await rome.registry.disableHyperswarmDiscovery();
    await until('all are gone', () => oslo.registry.getRemoteCards().length === 0);
    expect(oslo.registry.getLocalCards().map(({ id }) => id)).toEqual(['venus']);
  });

  it('replaces neither a local card nor that of another node, and takes the other when the first is gone', async () => {
    const [rome, oslo, bern] = await Promise.all([
      start('rome', ['oslo', 'bern'], [card('mine', { description: 'Here' })]),
      start('oslo', ['rome', 'bern'], [card('mine'), card('twin')]),
      start('bern', ['rome', 'oslo'], [card('last')]),
    ]);
    await until('oslo', () => remote(rome, 'twin') !== undefined);
    bern.registry.register(card('twin'));
    bern.registry.register(card('mark'));
    await until('bern', () => remote(rome, 'mark') !== undefined && remote(rome, 'last') !== undefined);
    expect(rome.registry.table.get('twin')?.profile.clearance?.nodeId).toBe('oslo');
    expect(rome.registry.getById('mine')).toMatchObject({ origin: 'local', description: 'Here' });
    oslo.registry.unregister('twin');
    await until('the other one', () => rome.registry.table.get('twin')?.profile.clearance?.nodeId === 'bern');
    await rome.discovery.revoke(keys.bern.publicKey);
    expect(rome.registry.getRemoteCards()).toEqual([]);
  });

  it('takes nothing of strangers, of whoever may not use an id, and of whoever forges', async () => {
    const [rome, stranger] = await Promise.all([
      start('rome', [], [card('mars')], {
        seed: SEED,
        trust: [
          ...(trusting(['oslo']) ?? []),
          { key: keys.bern.publicKey, node: 'bern', tier: 2, agents: ['b-*'] },
        ],
      }),
      start('stranger', ['rome'], [card('trap')]),
    ]);
    const isSecurity = ({ security }: SystemEvent): boolean => security === true;
    await until('the stranger is refused', () => rome.events.some(isSecurity));
    expect(stranger.registry.getRemoteCards()).toEqual([]);

    const transport = hyperSwarm(overNet());
    const evil = await BareNode.open(
      `hyperswarm:${hyperSwarm({ seed: SEED }).publicKey}`,
      'bern',
      keys.bern,
      transport,
    );
    await evil.join('bern');
    const nowMs = Date.now();
    const signed = (node: Name, id: string, by: SigningKeyPair, bootEpoch = 1) =>
      signCard(
        card(id),
        { nodeId: node, bootEpoch, revision: 0, issuedAtMs: nowMs, expiresAtMs: nowMs + 60_000 },
        by,
      );
    const ofOslo = signed('oslo', 'venus', keys.oslo);
    await evil.say({
      type: 'signed-cards',
      cards: [
        { ...ofOslo, card: ofOslo.card?.replace('Digs', 'Robs') },
        signed('oslo', 'juno', keys.bern),
        signed('rome', 'ceres', keys.bern),
        signed('stranger', 'trap', keys.stranger),
        signed('bern', 'chief', keys.bern),
        { nodeId: 'oslo' },
        signed('bern', 'b-true', keys.bern),
      ],
    });
    await until('what is true', () => remote(rome, 'b-true') !== undefined);
    expect(rome.registry.getRemoteCards().map(({ id }) => id)).toEqual(['b-true']);
    const reasons = rome.events.flatMap(({ reason = '' }) => /not taken, (\w+)/.exec(reason)?.[1] ?? []);
    expect(new Set(reasons)).toEqual(new Set(['FORGED', 'OTHER_KEY', 'OWN_NODE', 'MALFORMED']));
    // What oslo itself has signed comes also from others; nobody here does what is asked.
    await evil.say({ type: 'signed-cards', cards: [ofOslo] });
    await until('a card of oslo', () => remote(rome, 'venus') !== undefined);
    await evil.say({
      ...{ type: 'request', n: 0, wants: 'value' },
      envelope: {
        ...{ id: 'r', schemaVersion: 1, sender: 'bern/b-true', recipient: 'rome/mars', type: 'request' },
        ...{ timestamp: 1, payload: null },
      },
    });
    expect(await evil.outcome(0)).toMatchObject({ error: { code: 'AGENT_NOT_FOUND' } });
    await evil[Symbol.asyncDispose]();
    await transport.close();
  });

  it('finds the agents of a running system', async () => {
    const system = await startSystem({
      agents: [agent('sol', 1)],
      spareThread: false,
      peers: {
        transports: [hyperSwarm(overNet())],
        identity: { node: 'oslo', key: keys.oslo },
        trust: [{ key: keys.rome.publicKey }],
        discover: { topic: 'cards' },
      },
    });
    started.push({ [Symbol.asyncDispose]: () => system.stop() });
    const rome = await start('rome', ['oslo'], []);
    await until('the agent', () => remote(rome, 'sol') !== undefined);
    system.registry.unregister('sol');
    await until('it is gone', () => remote(rome, 'sol') === undefined);
  });

  it('says what is wrong with its options, and is over when it is closed', async () => {
    const identity = { node: 'rome', key: keys.rome };
    for (const wrong of [
      { topic: [] },
      { identity: { node: 'a/b' } },
      { trust: [{ key: 'x' }] },
      { port: -1 },
      { no: 1 },
    ])
      expect(() => hyperswarmDiscovery({ topic: 'cards', identity, ...wrong } as never)).toThrow(
        expect.objectContaining({ code: 'INVALID_OPTIONS' }),
      );
    const { registry, discovery } = await start('rome', [], [card('mars')]);
    await discovery.close();
    await expect(discovery.pull()).rejects.toMatchObject({ code: 'CANCELLED' });
    await registry.disableHyperswarmDiscovery();
  });
});
