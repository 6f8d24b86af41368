import { capability, defineAgent, signingKeyPair, type SigningKeyPair, startSystem, type Team } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { freePort } from '../fixtures/free-port.ts';
import { BareNode, soon } from '../fixtures/peers/bare-node.ts';
import { CardNode } from '../fixtures/peers/card-node.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';

const look = capability({ id: 'look', description: 'Looks', input: z.unknown(), output: z.unknown() });
const sing = capability({ id: 'sing', description: 'Sings', input: z.unknown(), output: z.unknown() });

const looker = (node: string) =>
  defineAgent({
    id: `looker-${node}`,
    name: 'LOOKER',
    version: '1.0.0',
    description: 'Looks',
    tier: 2,
  }).handle(look, () => node);
const singer = (node: string) =>
  defineAgent({
    id: `singer-${node}`,
    name: 'SINGER',
    version: '1.0.0',
    description: 'Sings',
    tier: 2,
  }).handle(sing, () => node);

interface NodeOptions {
  readonly key?: SigningKeyPair;
  readonly trust?: readonly string[];
  readonly dial?: readonly string[];
  readonly port?: number;
  readonly agents?: readonly ReturnType<typeof looker>[];
}

describe('Nodes that learn of others through one they know (N-1.7, N-1.8, N-4.4, C-02)', () => {
  const running = new Set<Team>();

  const start = async (
    node: string,
    { key = signingKeyPair(), trust = ['*'], dial = [], port, agents }: NodeOptions = {},
  ) => {
    const system = await startSystem({
      agents: [...(agents ?? [looker(node)])],
      spareThread: false,
      policies: { escalation: 'off' },
      peers: {
        transports: [webSocket(port === undefined ? {} : { port })],
        identity: { node, key },
        trust: trust.map((one) => ({ key: one, tier: 2 as const, sandboxId: null })),
        discover: { dial },
        missMs: 50,
      },
    });
    running.add(system);
    return system;
  };
  const stop = async (system: Team): Promise<void> => {
    running.delete(system);
    await system.stop({ drainMs: 0 });
  };

  afterEach(async () => {
    await Promise.all([...running].map(stop));
  });

  const asks = (system: Team, agent: string): Promise<unknown> =>
    system
      .ask({ agent, capability: look }, null, { timeoutMs: 20_000 })
      .catch(({ code }: { code: string }) => code);
  /** Asks again until it is answered so: nobody says when a card has come. */
  const answers = async (ask: () => Promise<unknown>, wanted: unknown): Promise<void> => {
    while ((await ask()) !== wanted) await soon();
  };
  const nodesOf = async (system: Team): Promise<string[]> =>
    (await system.peers.list())
      .filter(({ status }) => status === 'up')
      .map(({ node }) => node)
      .sort();
  const refusals = async (system: Team): Promise<string[]> =>
    (await system.recentEvents()).flatMap(({ type, reason = '' }) =>
      type === 'error' ? (/not taken, (\w+)/.exec(reason)?.slice(1) ?? []) : [],
    );

  it('ask agents of a node directly that they never dialled, by id and by capability', async () => {
    const bern = await start('bern');
    const oslo = await start('oslo', {
      dial: bern.peers.addresses,
      agents: [looker('oslo'), singer('oslo')],
    });
    const rome = await start('rome', { dial: bern.peers.addresses });
    await answers(() => asks(rome, 'looker-oslo'), 'oslo');
    expect(await nodesOf(rome)).toEqual(['bern', 'oslo']);
    expect(await rome.ask(sing, null)).toBe('oslo');
    expect(await nodesOf(oslo)).toEqual(['bern', 'rome']);
    const paris = await start('paris', { dial: bern.peers.addresses });
    await answers(() => paris.ask(sing, null).catch(({ code }: { code: string }) => code), 'oslo');
    expect(await refusals(rome)).toEqual([]);
    for (const system of [rome, paris])
      expect(await system.conservation()).toMatchObject({ inFlight: 0, holds: true });
  });

  it('do not find whom they do not trust, dial nobody for that, and find it when they do', async () => {
    const [keyOfBern, keyOfOslo] = [signingKeyPair(), signingKeyPair()];
    const bern = await start('bern', { key: keyOfBern });
    await start('oslo', { key: keyOfOslo, dial: bern.peers.addresses });
    const rome = await start('rome', { trust: [keyOfBern.publicKey], dial: bern.peers.addresses });
    await answers(() => asks(rome, 'looker-bern'), 'bern');
    const paris = await start('paris', { dial: bern.peers.addresses });
    await answers(() => asks(paris, 'looker-oslo'), 'oslo');
    expect(await asks(rome, 'looker-oslo')).toBe('AGENT_NOT_FOUND');
    expect(await nodesOf(rome)).toEqual(['bern']);
    expect(await refusals(rome)).toEqual([]);
    await rome.peers.trust({ key: keyOfOslo.publicKey, tier: 2, sandboxId: null });
    await answers(() => asks(rome, 'looker-oslo'), 'oslo');
    await rome.peers.revoke(keyOfOslo.publicKey);
    await answers(() => asks(rome, 'looker-oslo'), 'AGENT_NOT_FOUND');
    expect(await nodesOf(rome)).toEqual(['bern']);
  });

  it('find a node at its new address after a restart, whether they have met it or not; and not when it has stopped', async () => {
    const key = signingKeyPair();
    const bern = await start('bern');
    const oslo = await start('oslo', { key, dial: bern.peers.addresses, port: await freePort() });
    const [rome, paris] = (await Promise.all(
      ['rome', 'paris'].map((node) => start(node, { dial: bern.peers.addresses })),
    )) as [Team, Team];
    await answers(() => asks(rome, 'looker-oslo'), 'oslo');
    await stop(oslo);
    expect(await asks(paris, 'looker-oslo')).toBe('AGENT_NOT_FOUND');
    const again = await start('oslo', { key, dial: bern.peers.addresses, port: await freePort() });
    expect(again.peers.addresses).not.toEqual(oslo.peers.addresses);
    await answers(() => asks(rome, 'looker-oslo'), 'oslo');
    await answers(() => asks(paris, 'looker-oslo'), 'oslo');
    expect(await nodesOf(again)).toEqual(['bern', 'paris', 'rome']);
  });

  it('are five in a row, and each finds each', async () => {
    const names = ['one', 'two', 'three', 'four', 'five'];
    const row: Team[] = [];
    for (const name of names) row.push(await start(name, { dial: row.at(-1)?.peers.addresses ?? [] }));
    for (const system of row)
      for (const name of names) await answers(() => asks(system, `looker-${name}`), name);
    for (const [at, system] of row.entries())
      expect(await nodesOf(system)).toEqual(names.filter((_, other) => other !== at).sort());
  });

  it('refuse what a node makes up of others, and say so', async () => {
    const evil = signingKeyPair();
    const rome = await start('rome');
    await using bare = await BareNode.open(rome.peers.addresses[0] as string, 'evil', evil);
    await bare.join('evil');
    const clock = new FakeClock(Date.now());
    const carol = new CardNode('carol', clock);
    const stranger = new CardNode('carol', clock);
    const known = carol.signed('judge', { bootEpoch: 2 });
    await bare.say({ type: 'signed-cards', cards: [known] });
    await bare.say({
      type: 'signed-cards',
      cards: [
        { ...known, revision: 7 },
        { ...known, revision: 8, agentId: 'looker-rome' },
        carol.signed('judge', { bootEpoch: 1 }),
        stranger.signed('judge', { bootEpoch: 9 }),
        new CardNode('rome', clock).signed('looker-rome'),
      ],
    });
    while ((await refusals(rome)).length < 4) await soon();
    expect((await refusals(rome)).sort()).toEqual(['FORGED', 'OTHER_KEY', 'OUTDATED', 'OWN_NODE']);
    const many = Array.from({ length: 10_000 }, (_, at) => carol.signed(`imp-${at}`, { bootEpoch: 2 }));
    for (let at = 0; at < many.length; at += 500)
      await bare.say({ type: 'signed-cards', cards: many.slice(at, at + 500) });
    while (!(await refusals(rome)).includes('NODE_FULL')) await soon();
    // A card alone makes nobody a member.
    expect(rome.registry.getRemoteCards().map(({ id }) => id)).not.toContain('judge');
    expect(await asks(rome, 'judge')).toBe('AGENT_NOT_FOUND');
    expect(await asks(rome, 'looker-rome')).toBe('rome');
    expect(
      (await rome.recentEvents()).filter(({ security }) => security === true).length,
    ).toBeGreaterThanOrEqual(3);
  });
});
