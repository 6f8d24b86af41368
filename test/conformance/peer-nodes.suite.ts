import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import {
  newNodeKey,
  type NodeKey,
  type NodeOrder,
  NodeProcess,
  until,
} from '../fixtures/peers/node-process.ts';
import { CHANNEL } from '../fixtures/peers/node-team.ts';
import type { NodeNetwork } from '../fixtures/peers/node-networks.ts';
import { closeTransport, transportsOf } from '../fixtures/peers/node-transports.ts';

/** What two nodes are to each other, over any transport. */
export function peerNodesSuite(name: string, network: () => Promise<NodeNetwork>): void {
  describe(`nodes over ${name} (N-3.6, N-3.7, N-4.4, C-31)`, () => {
    let net: NodeNetwork;
    const started: NodeProcess[] = [];

    beforeEach(async () => {
      net = await network();
    });

    afterEach(async () => {
      await Promise.all(started.splice(0).map((node) => node.kill()));
      await net[Symbol.asyncDispose]();
    });

    const start = async (
      order: Partial<NodeOrder> & Pick<NodeOrder, 'node' | 'key'>,
    ): Promise<NodeProcess> => {
      const node = await NodeProcess.start({
        transports: [net.dialling()],
        trust: [],
        dial: [],
        channel: CHANNEL,
        ...order,
      });
      started.push(node);
      return node;
    };

    /** Two nodes that trust each other: oslo dials rome. */
    const pair = async (more: Partial<NodeOrder> = {}) => {
      const keys = { rome: newNodeKey(), oslo: newNodeKey() };
      const trusts = ({ publicKey }: NodeKey): NodeOrder['trust'] => [
        { key: publicKey, tier: 2, sandboxId: null },
      ];
      const ofRome = async (): Promise<Pick<NodeOrder, 'node' | 'key' | 'trust' | 'transports'>> => ({
        node: 'rome',
        key: keys.rome.pem,
        trust: trusts(keys.oslo),
        transports: [await net.listening('rome')],
      });
      const rome = await start(await ofRome());
      const oslo = await start({
        node: 'oslo',
        key: keys.oslo.pem,
        trust: trusts(keys.rome),
        dial: rome.addresses,
        ...more,
      });
      await Promise.all([rome.sees('oslo'), oslo.sees('rome')]);
      return { rome, oslo, keys, ofRome };
    };

    it('are asked, told, streamed from, proposed to and swarmed as if they were here', async () => {
      const { rome, oslo } = await pair();
      const answered = await oslo.ask('worker-rome', 'peers.terms', 'hello', { timeoutMs: 20_000 });
      expect(answered).toMatchObject({
        input: 'hello',
        sender: 'oslo/system/host',
        tier: 2,
        taint: ['peer:oslo'],
      });
      expect((answered as { leftMs: number }).leftMs).toBeLessThanOrEqual(20_000);
      expect(await rome.ask('worker-oslo', 'peers.terms', 1)).toMatchObject({ sender: 'rome/system/host' });
      expect(await oslo.read('worker-rome', 'peers.count', 200, 1_000)).toHaveLength(200);
      expect(await oslo.read('worker-rome', 'peers.count', 1_000_000, 3)).toEqual([0, 1, 2]);
      const payloads = Array.from({ length: 500 }, (_, at) => at);
      await oslo.call('tell', 'worker-rome', payloads);
      await until(async () => {
        const { told } = (await rome.ask('worker-rome', 'peers.tally', null)) as { told: unknown[] };
        return told.length === payloads.length;
      });
      expect(await rome.ask('worker-rome', 'peers.tally', null)).toMatchObject({ told: payloads });
      expect(await oslo.call('swarm', ['peers.terms'], 'swarmed')).toMatchObject({ status: 'completed' });
      for (const node of [rome, oslo]) await node.settles();
    });

    it('take over deadline, path, budget and conversation, and give back what was not spent', async () => {
      const { oslo } = await pair();
      const budget = { tokens: 100, hops: 4 };
      expect(await oslo.ask('worker-rome', 'peers.terms', 1, { budget, correlationId: 'c-1' })).toMatchObject(
        {
          budget,
          correlationId: 'c-1',
        },
      );
      // The asker here spends there: what it has left is less by that, and no more.
      expect(
        await oslo.ask('asker-oslo', 'peers.spent', { agent: 'worker-rome', tokens: 30 }, { budget }),
      ).toEqual({ tokens: 70, hops: 4 });
      await expect(oslo.ask('worker-rome', 'peers.spend', 101, { budget })).rejects.toMatchObject({
        code: 'BUDGET_EXCEEDED',
      });
      const called = await oslo.ask('asker-oslo', 'peers.call-back', 'worker-rome');
      expect(called).toMatchObject({ input: 'back' });
      expect((called as { path: { agent: string }[] }).path.map(({ agent }) => agent)).toEqual([
        'asker-oslo',
        'worker-rome',
      ]);
      await expect(oslo.ask('worker-rome', 'peers.wait', null, { timeoutMs: 300 })).rejects.toMatchObject({
        code: 'DEADLINE_EXCEEDED',
      });
    });

    it('cancel what nobody waits for any more, and keep what was thrown at home', async () => {
      const { rome, oslo } = await pair();
      const tally = async () =>
        (await rome.ask('worker-rome', 'peers.tally', null)) as { waiting: number; aborted: number };
      const asked = oslo.ask('worker-rome', 'peers.wait', null);
      await until(async () => (await tally()).waiting === 1);
      asked.cancel();
      await expect(asked).rejects.toMatchObject({ code: 'CANCELLED' });
      await until(async () => (await tally()).aborted === 1);
      const failed = await oslo.ask('worker-rome', 'peers.fail', null).catch((error: Error) => error);
      expect(failed).toMatchObject({ code: 'HANDLER_FAILED' });
      expect(JSON.stringify({ ...(failed as Error), message: (failed as Error).message })).not.toContain(
        'swordfish',
      );
    });

    it('are found again after a restart under the same key: what was under way is told, or tried again where it may be, and nothing comes twice', async () => {
      const { rome, oslo, ofRome } = await pair();
      const pid = await rome.call('pid');
      const underWay = oslo.ask('worker-rome', 'peers.outlive', pid, { timeoutMs: 100_000 });
      const triedAgain = oslo.ask('worker-rome', 'peers.outlive', pid, {
        timeoutMs: 100_000,
        delivery: 'retry',
      });
      await until(
        async () =>
          ((await rome.ask('worker-rome', 'peers.tally', null)) as { waiting: number }).waiting === 2,
      );
      await rome.kill();
      await oslo.sees('rome', 'rejoining');
      // While it is awaited, what is asked waits for it.
      const waits = oslo.ask('worker-rome', 'peers.terms', 'again', { timeoutMs: 60_000 });
      const again = await start(await ofRome());
      await expect(underWay).rejects.toMatchObject({ code: 'ACTOR_DIED' });
      expect(await waits).toMatchObject({ input: 'again' });
      expect(await triedAgain).toBe(await again.call('pid'));
      await oslo.sees('rome');
      expect(await again.ask('worker-oslo', 'peers.terms', 2)).toMatchObject({ input: 2 });
      await oslo.settles();
    });

    it('are refused under another key, by both ends', async () => {
      const { rome, oslo, ofRome } = await pair();
      await rome.kill();
      await oslo.sees('rome', 'rejoining');
      const stranger = await start({ ...(await ofRome()), key: newNodeKey().pem });
      await until(
        async () =>
          (await stranger.call<unknown[]>('events', 'error')).concat(
            await oslo.call<unknown[]>('events', 'error'),
          ).length > 0,
      );
      expect(await stranger.peers()).toEqual([]);
      expect((await oslo.peers()).map(({ status }) => status)).toEqual(['rejoining']);
    });

    it('give way to an agent of this node that has the id, and come back when the thread that speaks with them has died', async () => {
      const { rome, oslo } = await pair();
      await rome.call('terminate', 'peers');
      await Promise.all([rome.sees('oslo'), oslo.sees('rome')]);
      expect(await oslo.ask('worker-rome', 'peers.terms', 1)).toMatchObject({ input: 1 });
      expect(await rome.ask('worker-oslo', 'peers.terms', 2)).toMatchObject({ input: 2 });
      // Of rome's asker there was none in oslo.
      await oslo.call('start', 'rome');
      const ids = async () => (await oslo.call<readonly (readonly [string, string])[]>('cards')).map(String);
      await until(async () => (await ids()).includes('rome/asker-rome,remote'));
      expect(await ids()).toContain('asker-rome,local');
      expect(await oslo.ask('asker-rome', 'peers.answer', 'here')).toMatchObject({ input: 'here' });
      expect(await oslo.ask('rome/asker-rome', 'peers.answer', 'there')).toMatchObject({ input: 'there' });
    });

    it('are cut off at once when they are revoked, and let in no more', async () => {
      const { rome, oslo, keys } = await pair();
      const underWay = rome.ask('worker-oslo', 'peers.wait', null);
      await until(
        async () =>
          ((await oslo.ask('worker-oslo', 'peers.tally', null)) as { waiting: number }).waiting === 1,
      );
      await rome.call('revoke', keys.oslo.publicKey);
      await expect(underWay).rejects.toMatchObject({ code: 'ACTOR_DIED' });
      await oslo.sees('rome', 'rejoining');
      await until(async () => {
        const cards = await rome.call<readonly (readonly [string, string])[]>('cards');
        return !cards.some(([, origin]) => origin === 'remote');
      });
      await expect(rome.ask('worker-oslo', 'peers.terms', 1)).rejects.toMatchObject({
        code: 'AGENT_NOT_FOUND',
      });
      expect(await rome.peers()).toEqual([]);
    });

    it('let a node in while somebody holds a hundred connections and says nothing', async () => {
      const keys = { rome: newNodeKey(), oslo: newNodeKey() };
      const rome = await start({
        node: 'rome',
        key: keys.rome.pem,
        trust: [{ key: keys.oslo.publicKey, tier: 2, sandboxId: null }],
        transports: [await net.listening('rome')],
        // Nobody who is silent has to go because of the time.
        channel: { ...CHANNEL, handshakeTimeoutMs: 3_600_000 },
      });
      const [stranger] = await transportsOf([net.dialling()]);
      if (stranger === undefined) throw new Error('one transport');
      try {
        const silent = await Promise.all(
          Array.from({ length: 100 }, () => stranger.connect(String(rome.addresses[0]))),
        );
        const ended = new Set<number>();
        for (const [at, one] of silent.entries()) one.onLost(() => ended.add(at));
        const oslo = await start({
          node: 'oslo',
          key: keys.oslo.pem,
          trust: [{ key: keys.rome.publicKey, tier: 2, sandboxId: null }],
          dial: rome.addresses,
        });
        await oslo.sees('rome');
        expect(await oslo.ask('worker-rome', 'peers.terms', 'here')).toMatchObject({ input: 'here' });
        // 64 may be silent at a time.
        await until(() => ended.size >= 36);
        expect(ended.size).toBeLessThan(100);
        for (const node of [rome, oslo]) await node.settles();
      } finally {
        await closeTransport(stranger);
      }
    });

    it('go on over one channel when both dial at once', async () => {
      const keys = [newNodeKey(), newNodeKey()] as const;
      const [rome, oslo] = await Promise.all(
        (['rome', 'oslo'] as const).map(async (node, at) =>
          start({
            node,
            key: (keys[at] as NodeKey).pem,
            trust: [{ key: (keys[1 - at] as NodeKey).publicKey, tier: 2, sandboxId: null }],
            transports: [await net.listening(node)],
          }),
        ),
      );
      if (rome === undefined || oslo === undefined) throw new Error('two nodes');
      await Promise.all([rome.call('dial', oslo.addresses[0]), oslo.call('dial', rome.addresses[0])]);
      await Promise.all([rome.sees('oslo'), oslo.sees('rome')]);
      const asked = Array.from({ length: 100 }, (_, at) => [
        rome.ask('worker-oslo', 'peers.terms', at),
        oslo.ask('worker-rome', 'peers.terms', at),
      ]).flat();
      expect(await Promise.all(asked)).toHaveLength(200);
      for (const node of [rome, oslo]) {
        expect(await node.peers()).toHaveLength(1);
        await node.settles();
      }
    });

    it('lose, repeat and reorder nothing while one of them stands still for longer than its channel waits', async () => {
      const { rome, oslo } = await pair();
      const payloads = Array.from({ length: 2_000 }, (_, at) => at);
      const told = oslo.call('tell', 'worker-rome', payloads);
      rome.suspend();
      await oslo.sees('rome', 'rejoining');
      rome.resume();
      await told;
      await until(async () => {
        const tally = (await rome.ask('worker-rome', 'peers.tally', null)) as { told: unknown[] };
        return tally.told.length >= payloads.length;
      });
      expect(await rome.ask('worker-rome', 'peers.tally', null)).toMatchObject({ told: payloads });
      await oslo.settles();
    });
  });
}
