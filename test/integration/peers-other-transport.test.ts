import createTestnet from 'hyperdht/testnet.js';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { newNodeKey, type NodeOrder, NodeProcess, until } from '../fixtures/peers/node-process.ts';
import type { TransportOrder } from '../fixtures/peers/node-transports.ts';

const CHANNEL = { heartbeatMs: 200, silenceTimeoutMs: 60_000, redial: { firstMs: 20, maxMs: 200 } };

type Kind = TransportOrder['kind'];

/** Two nodes with two transports each, of which oslo has dialled rome over the first. */
describe('nodes with two transports (N-D07, N-V01, N-3.7)', () => {
  let testnet: Awaited<ReturnType<typeof createTestnet>>;
  const started: NodeProcess[] = [];

  beforeEach(async () => {
    testnet = await createTestnet(3);
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map((node) => node.kill()));
    await testnet.destroy();
  });

  const optionsOf = (kind: Kind): object =>
    kind === 'hyperswarm' ? { bootstrap: testnet.bootstrap, host: '127.0.0.1' } : {};

  const pair = async (first: Kind, second: Kind, more: Partial<NodeOrder> = {}) => {
    const keys = { rome: newNodeKey(), oslo: newNodeKey() };
    const start = async (
      node: 'rome' | 'oslo',
      other: 'rome' | 'oslo',
      dial: readonly string[],
    ): Promise<NodeProcess> => {
      const transports = [first, second].map((kind) => ({
        kind,
        options: optionsOf(kind),
        isSeverable: true,
      }));
      const trust = [{ key: keys[other].publicKey, tier: 2 as const, sandboxId: null }];
      const key = keys[node].pem;
      const begun = await NodeProcess.start({
        node,
        key,
        trust,
        transports,
        dial,
        channel: CHANNEL,
        ...more,
      });
      started.push(begun);
      return begun;
    };
    const rome = await start('rome', 'oslo', []);
    const oslo = await start('oslo', 'rome', rome.addresses.slice(0, 1));
    await Promise.all([rome.sees('oslo'), oslo.sees('rome')]);
    return { rome, oslo };
  };

  const wayOf = async (node: NodeProcess) => (await node.peers()).map(({ transport }) => transport);

  it.each([
    ['hyperswarm', 'websocket'],
    ['websocket', 'hyperswarm'],
    ['libp2p', 'websocket'],
  ] as const)(
    'go on over the other one when %s is cut: nothing is lost, repeated or reordered',
    async (first, second) => {
      const { rome, oslo } = await pair(first, second);
      expect([await wayOf(rome), await wayOf(oslo)]).toEqual([[first], [first]]);
      const payloads = Array.from({ length: 500 }, (_, at) => at);
      const told = [oslo.call('tell', 'worker-rome', payloads), rome.call('tell', 'worker-oslo', payloads)];
      const asked = Array.from({ length: 100 }, (_, at) => [
        oslo.ask('worker-rome', 'peers.terms', at),
        rome.ask('worker-oslo', 'peers.terms', at),
      ]).flat();
      await asked[50];
      await rome.call('cut', first);
      const during = [
        oslo.ask('worker-rome', 'peers.terms', 'later'),
        rome.ask('worker-oslo', 'peers.terms', 'later'),
      ];
      expect(await Promise.all([...asked, ...during])).toHaveLength(202);
      await Promise.all(told);
      const talliesOf = async (node: NodeProcess, agent: string) =>
        ((await node.ask(agent, 'peers.tally', null)) as { told: unknown[] }).told;
      for (const [node, agent] of [
        [rome, 'worker-rome'],
        [oslo, 'worker-oslo'],
      ] as const) {
        await until(async () => (await talliesOf(node, agent)).length >= payloads.length);
        expect(await talliesOf(node, agent)).toEqual(payloads);
        await node.settles();
      }
      // All of it may have been said before the thread that speaks with other nodes heard of the cut.
      for (const node of [rome, oslo]) {
        await until(async () => (await wayOf(node)).join() !== first);
        await node.sees(node === rome ? 'oslo' : 'rome');
      }
      expect([await wayOf(rome), await wayOf(oslo)]).toEqual([[second], [second]]);
    },
  );

  it('close the channel, and give the node up, when neither comes back in time', async () => {
    const { rome, oslo } = await pair('websocket', 'libp2p', {
      channel: { ...CHANNEL, reconnectTimeoutMs: 1_500 },
    });
    await rome.call('cut', 'websocket');
    await rome.call('cut', 'libp2p');
    const reasons = async (node: NodeProcess) =>
      (await node.call<readonly { channelStatus?: string; reason?: string }[]>('events', 'channel-status'))
        .filter(({ channelStatus }) => channelStatus === 'closed')
        .map(({ reason }) => reason);
    for (const node of [rome, oslo]) {
      await until(async () => (await reasons(node)).length > 0);
      expect((await reasons(node))[0]).toContain('it was not open again within 1500 ms');
      await until(async () => (await node.peers()).every(({ status }) => status === 'lost'));
    }
  });
});
