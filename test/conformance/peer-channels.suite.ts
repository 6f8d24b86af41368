import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import type { CorrespondentProfile, Outcome } from '../fixtures/agents/corresponding.ts';
import { codesOf, idsOf } from '../fixtures/correspondence.ts';
import type { NodeNetwork } from '../fixtures/peers/node-networks.ts';
import { type NodeProcess, until } from '../fixtures/peers/node-process.ts';
import { NodeTeam } from '../fixtures/peers/node-team.ts';

interface Seen {
  readonly arrived: readonly string[];
  readonly channels: readonly { readonly id: string; readonly status: string; readonly isResumed: boolean }[];
}

const post = ({ node }: NodeProcess): string => `post-${node}`;
const seenAt = async (at: NodeProcess): Promise<Seen> =>
  (await at.ask(post(at), 'post.seen', undefined)) as Seen;
const open = (from: NodeProcess, to: NodeProcess): Promise<{ readonly id: string }> =>
  from.ask(post(from), 'post.open', { to: post(to) }) as Promise<{ readonly id: string }>;
const write = (from: NodeProcess, channel: string, count: number, at = 0): Promise<unknown> =>
  from.ask(post(from), 'post.write', { channel, from: at, count });
const act = (at: NodeProcess, what: string, channel?: string): Promise<unknown> =>
  at.ask(post(at), 'post.act', channel === undefined ? { what } : { what, channel });

const outcomesAt = async (at: NodeProcess, count: number): Promise<readonly Outcome[]> => {
  await until(async () => ((await at.ask(post(at), 'post.settled', undefined)) as number) >= count);
  return (await at.ask(post(at), 'post.outcomes', undefined)) as readonly Outcome[];
};

const has = (at: NodeProcess, isSo: (channels: Seen['channels']) => boolean): Promise<void> =>
  until(async () => isSo((await seenAt(at)).channels));

/** Channels that agents open to agents of other nodes, over any transport. */
export function peerChannelsSuite(name: string, network: () => Promise<NodeNetwork>): void {
  describe(`channels between agents of two nodes over ${name} (N-3.1, N-3.6, N-T04)`, () => {
    let net: NodeNetwork;
    let folder: string;

    beforeEach(async () => {
      net = await network();
      folder = mkdtempSync(join(tmpdir(), 'orrery-post-'));
    });

    afterEach(async () => {
      await net[Symbol.asyncDispose]();
      rmSync(folder, { recursive: true });
    });

    const pair = async (more: Partial<CorrespondentProfile> = {}) => {
      const team = new NodeTeam(net, ['rome', 'oslo'], (node) => ({
        post: { id: `post-${node}`, ...more, file: join(folder, node) },
      }));
      await team.startAll(['rome', 'oslo']);
      const [rome, oslo] = team.nodes as [NodeProcess, NodeProcess];
      await Promise.all([rome.sees('oslo', 'up', 4), oslo.sees('rome', 'up', 4)]);
      return { team, rome, oslo };
    };

    /** The ids that came to a node, whatever became of that. */
    const noted = (node: string): readonly string[] =>
      existsSync(join(folder, node))
        ? readFileSync(join(folder, node), 'utf8')
            .trim()
            .split('\n')
            .map((line) => line.split(' ')[0] as string)
        : [];

    it('open from either side, carry in order both ways, are refused by name, and close at both ends', async () => {
      const { team, rome, oslo } = await pair();
      await using _ = team;
      const [there, back] = [await open(oslo, rome), await open(rome, oslo)];
      expect((await seenAt(rome)).channels).toMatchObject([
        { id: there.id, status: 'open', remoteAgentId: 'post-oslo', isAccepted: true, isResumed: false },
        { id: back.id, status: 'open', remoteAgentId: 'post-oslo', isAccepted: false },
      ]);
      await Promise.all([
        write(oslo, there.id, 500),
        write(rome, there.id, 500),
        write(rome, back.id, 300, 500),
      ]);
      for (const [node, count] of [
        [oslo, 500],
        [rome, 800],
      ] as const)
        expect(codesOf(await outcomesAt(node, count))).toEqual(['sent']);
      expect((await seenAt(rome)).arrived).toEqual(idsOf('post-oslo', 500));
      const { arrived } = await seenAt(oslo);
      const isFirst = (id: string): boolean => Number(id.slice('post-rome-'.length)) < 500;
      expect(arrived.filter(isFirst)).toEqual(idsOf('post-rome', 500));
      expect(arrived.filter((id) => !isFirst(id))).toEqual(idsOf('post-rome', 300, 500));
      expect(await oslo.call('post', 'post-rome', 100)).toEqual(Array.from({ length: 100 }, () => null));
      await expect(oslo.ask('post-oslo', 'post.open', { to: 'worker-rome' })).rejects.toMatchObject({
        code: 'REFUSED',
      });
      await act(rome, 'close', there.id);
      await act(oslo, 'close', back.id);
      for (const node of [rome, oslo]) {
        await has(node, (channels) => channels.length === 0);
        await node.settles();
      }
    });

    it('lose, repeat and reorder nothing while one node stands still', async () => {
      const { team, rome, oslo } = await pair({ waitingCapacity: 2_000 });
      await using _ = team;
      const { id } = await open(oslo, rome);
      await write(rome, id, 1_000);
      await write(oslo, id, 1_000);
      rome.suspend();
      await oslo.sees('rome', 'rejoining');
      await write(oslo, id, 1_000, 1_000);
      rome.resume();
      expect(codesOf(await outcomesAt(oslo, 2_000))).toEqual(['sent']);
      expect(codesOf(await outcomesAt(rome, 1_000))).toEqual(['sent']);
      expect((await seenAt(rome)).arrived).toEqual(idsOf('post-oslo', 2_000));
      expect((await seenAt(oslo)).arrived).toEqual(idsOf('post-rome', 1_000));
      for (const node of [rome, oslo]) await node.settles();
    });

    it('go on with the next actor when one dies, and with the next thread', async () => {
      const { team, rome, oslo } = await pair();
      await using _ = team;
      const { id } = await open(oslo, rome);
      for (const [at, die] of [
        [1, () => act(rome, 'die')],
        [2, () => rome.call('terminate', 'worker-1')],
        [3, () => act(rome, 'exit')],
      ] as const) {
        await die().catch(() => undefined);
        await has(rome, (channels) => channels[0]?.status === 'open' && channels[0].isResumed);
        await has(oslo, (channels) => channels[0]?.status === 'open');
        await write(oslo, id, 100, at * 100);
        await outcomesAt(oslo, at * 100);
        expect((await seenAt(rome)).arrived).toEqual(idsOf('post-oslo', 100, at * 100));
      }
      // The one who opened it dies: the other asks its successor.
      await act(oslo, 'die').catch(() => undefined);
      await has(oslo, (channels) => channels[0]?.status === 'open' && channels[0].isResumed);
      await has(rome, (channels) => channels[0]?.status === 'open');
      await write(rome, id, 100);
      expect(codesOf(await outcomesAt(rome, 100))).toEqual(['sent']);
      expect((await seenAt(oslo)).arrived).toEqual(idsOf('post-rome', 100));
    });

    it('end with their session when the other node is killed: what was sent is told, and a new one opens to the next', async () => {
      const { team, rome, oslo } = await pair({ spinMs: 5 });
      await using _ = team;
      const { id } = await open(oslo, rome);
      await write(oslo, id, 1_000);
      await until(() => noted('rome').length > 20);
      // What had come there may not be known here yet.
      await outcomesAt(oslo, 1);
      await rome.kill();
      await oslo.sees('rome', 'rejoining');
      const again = await team.start('rome');
      await Promise.all([again.sees('oslo', 'up', 4), oslo.sees('rome', 'up', 4)]);
      const outcomes = await outcomesAt(oslo, 1_000);
      expect(codesOf(outcomes).sort()).toEqual(['CHANNEL_CLOSED', 'sent']);
      const arrived = noted('rome');
      expect(new Set(arrived).size).toBe(arrived.length);
      for (const { id: envelope, code, details } of outcomes) {
        if (code === 'sent') expect(arrived).toContain(envelope);
        else if (!(details as { mayHaveArrived: boolean }).mayHaveArrived)
          expect(arrived).not.toContain(envelope);
      }
      expect((await seenAt(oslo)).channels).toEqual([]);
      expect((await seenAt(again)).channels).toEqual([]);
      const next = await open(oslo, again);
      await write(oslo, next.id, 10, 2_000);
      await until(async () => (await seenAt(again)).arrived.length === 10);
      for (const node of [oslo, again]) await node.settles();
    });

    it('end at both ends when the thread that speaks with other nodes dies', async () => {
      const { team, rome, oslo } = await pair();
      await using _ = team;
      await open(oslo, rome);
      await oslo.call('terminate', 'peers');
      await Promise.all([rome.sees('oslo', 'up', 4), oslo.sees('rome', 'up', 4)]);
      for (const node of [rome, oslo]) await has(node, (channels) => channels.length === 0);
      const { id } = await open(rome, oslo);
      await write(rome, id, 10);
      expect(codesOf(await outcomesAt(rome, 10))).toEqual(['sent']);
    });
  });
}
