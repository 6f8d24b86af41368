import {
  capability,
  channelsOf,
  defineAgent,
  SCHEMA_VERSION,
  signingKeyPair,
  type SigningKeyPair,
  startSystem,
  type Team,
  type Transport,
} from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { until } from '../fixtures/until.ts';

/** Where nodes find each other by a topic. */
export interface TopicNetwork extends AsyncDisposable {
  joining(): Transport;
}

const who = capability({ id: 'who', description: 'Says who asks', input: z.null(), output: z.string() });
const write = capability({
  id: 'write',
  description: 'Writes to an agent over a channel of its own',
  input: z.object({ to: z.string(), count: z.int() }),
  output: z.null(),
});
/** What came over channels, in the order in which it did. */
const written: unknown[] = [];
const host = (node: string) =>
  defineAgent({
    id: `host-${node}`,
    name: 'HOST',
    version: '1.0.0',
    description: 'Says who asks',
    tier: 2,
  })
    .handle(who, (_, ctx) => ctx.envelope.sender)
    .handle(write, async ({ to, count }, ctx) => {
      const channel = await channelsOf(ctx).openChannel(to);
      const { localAgentId: sender, remoteAgentId: recipient } = channel;
      for (let n = 0; n < count; n++)
        await channel.send({
          ...{ id: `${sender}-${n}`, schemaVersion: SCHEMA_VERSION, sender, recipient },
          ...{ type: 'notification', timestamp: ctx.now(), payload: n },
        });
      await channel.close();
      return null;
    })
    .onChannel((channel) => void channel.onMessage(({ payload }) => void written.push(payload)));

/** What nodes that know a topic, and keys, are to each other. */
export function peerTopicsSuite(name: string, network: () => Promise<TopicNetwork>): void {
  describe(`nodes that know a topic and each other's keys, over ${name} (N-3.6, N-T04, C-31)`, () => {
    const keys = { rome: signingKeyPair(), oslo: signingKeyPair(), stranger: signingKeyPair() };
    let net: TopicNetwork;
    const started: Team[] = [];

    beforeEach(async () => {
      net = await network();
    });

    afterEach(async () => {
      await Promise.all(started.splice(0).map((node) => node.stop()));
      await net[Symbol.asyncDispose]();
    });

    const start = async (node: keyof typeof keys, trusted: readonly SigningKeyPair[]): Promise<Team> => {
      const system = await startSystem({
        agents: [host(node)],
        spareThread: false,
        peers: {
          transports: [net.joining()],
          identity: { node, key: keys[node] },
          trust: trusted.map(({ publicKey }) => ({ key: publicKey, tier: 2, sandboxId: null })),
          discover: { topic: 'team' },
        },
      });
      started.push(system);
      return system;
    };

    const sees = (system: Team, node: string) =>
      until(node, async () =>
        (await system.peers.list()).some((row) => row.node === node && row.agents.includes(`host-${node}`)),
      );

    it('meet and ask each other; a stranger in the topic is refused', async () => {
      const [rome, oslo, stranger] = await Promise.all([
        start('rome', [keys.oslo]),
        start('oslo', [keys.rome]),
        start('stranger', [keys.rome, keys.oslo]),
      ]);
      await Promise.all([sees(rome, 'oslo'), sees(oslo, 'rome')]);
      expect(await rome.ask({ agent: 'host-oslo', capability: who }, null)).toBe('rome/system/host');
      expect(await oslo.ask({ agent: 'host-rome', capability: who }, null)).toBe('oslo/system/host');

      const isRefused = async (system: Team) =>
        (await system.recentEvents()).some(
          (event) => event.type === 'error' && event.reason?.includes('is not trusted here'),
        );
      await until('the stranger', async () => (await isRefused(rome)) && (await isRefused(oslo)));
      expect(await stranger.peers.list()).toEqual([]);
      for (const system of [rome, oslo]) expect(await system.peers.list()).toHaveLength(1);
    });

    it('write to each other over channels that their agents open', async () => {
      const [rome, oslo] = await Promise.all([start('rome', [keys.oslo]), start('oslo', [keys.rome])]);
      await Promise.all([sees(rome, 'oslo'), sees(oslo, 'rome')]);
      for (const [system, from, to] of [
        [rome, 'rome', 'oslo'],
        [oslo, 'oslo', 'rome'],
      ] as const) {
        written.length = 0;
        await system.ask({ agent: `host-${from}`, capability: write }, { to: `host-${to}`, count: 50 });
        expect(written).toEqual(Array.from({ length: 50 }, (_, n) => n));
      }
    });

    it('find one that comes back', async () => {
      const [rome, oslo] = await Promise.all([start('rome', [keys.oslo]), start('oslo', [keys.rome])]);
      await Promise.all([sees(rome, 'oslo'), sees(oslo, 'rome')]);
      await rome.stop();
      const again = await start('rome', [keys.oslo]);
      await Promise.all([sees(again, 'oslo'), sees(oslo, 'rome')]);
      expect(await again.ask({ agent: 'host-oslo', capability: who }, null)).toBe('rome/system/host');
    });
  });
}
