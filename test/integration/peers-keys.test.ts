import { capability, defineAgent, signingKeyPair, type SigningKeyPair, startSystem, type Team } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { BareNode } from '../fixtures/peers/bare-node.ts';
import { freePort } from '../fixtures/free-port.ts';
import { until } from '../fixtures/peers/node-process.ts';

const answer = capability({ id: 'answer', description: 'Answers', input: z.string(), output: z.string() });

const agentOf = (node: string) =>
  defineAgent({ id: `agent-${node}`, name: node, version: '1.0.0', description: 'Answers', tier: 2 }).handle(
    answer,
    (text) => `${text} from ${node}`,
  );

const granted = { tier: 2, sandboxId: null } as const;

describe('The keys of nodes that run (C-31)', () => {
  const keys = { rome: signingKeyPair(), old: signingKeyPair(), next: signingKeyPair() };
  const started: Team[] = [];
  let rome: Team;
  let port: number;

  const start = async (node: string, key: SigningKeyPair, more: object): Promise<Team> => {
    const team = await startSystem({
      agents: [agentOf(node)],
      spareThread: false,
      peers: {
        transports: [webSocket({ port: node === 'rome' ? port : 0 })],
        identity: { node, key },
        ...more,
      },
    });
    started.push(team);
    return team;
  };
  const startOslo = (key: SigningKeyPair, node = 'oslo'): Promise<Team> =>
    start(node, key, {
      trust: [{ key: keys.rome.publicKey, ...granted }],
      discover: { dial: rome.peers.addresses },
    });
  const rows = async () =>
    (await rome.peers.list()).map(({ node, publicKey, status }) => [node, publicKey, status]);
  const isUp = async (node: string, { publicKey }: SigningKeyPair): Promise<boolean> =>
    (await rows()).some((row) => row.join() === [node, publicKey, 'up'].join());
  const isHere = (id: string): boolean => rome.registry.listAll().some((card) => card.id === id);
  const asks = (node: string): Promise<string> =>
    rome.ask({ agent: `agent-${node}`, capability: answer }, 'hello', { timeoutMs: 30_000 });

  beforeEach(async () => {
    port = await freePort();
    rome = await start('rome', keys.rome, {
      trust: [{ key: keys.old.publicKey, node: 'oslo', ...granted }],
    });
  });

  afterEach(async () => {
    await Promise.all(started.splice(0).map((team) => team.stop({ drainMs: 0 })));
  });

  it('are rotated under the same name: the next key takes over, and the old one is refused from then on', async () => {
    const before = await startOslo(keys.old);
    await until(() => isUp('oslo', keys.old));
    expect(await asks('oslo')).toBe('hello from oslo');
    await rome.peers.trust({ key: keys.next.publicKey, node: 'oslo', ...granted });
    await before.stop({ drainMs: 0 });
    const waits = asks('oslo');
    const after = await startOslo(keys.next);
    await until(() => isUp('oslo', keys.next));
    expect(await waits).toBe('hello from oslo');
    expect(await asks('oslo')).toBe('hello from oslo');
    expect(await after.ask({ agent: 'agent-rome', capability: answer }, 'hi', { timeoutMs: 30_000 })).toBe(
      'hi from rome',
    );
    const address = rome.peers.addresses[0] as string;
    await expect(BareNode.open(address, 'oslo', keys.old)).rejects.toMatchObject({ code: 'REFUSED' });
    await rome.peers.revoke(keys.old.publicKey);
    await expect(BareNode.open(address, 'oslo', keys.old)).rejects.toMatchObject({ code: 'REFUSED' });
    expect(await rows()).toEqual([['oslo', keys.next.publicKey, 'up']]);
  });

  it('are rotated under a new name, and a revoked one may be trusted again', async () => {
    const before = await startOslo(keys.old);
    await until(() => isUp('oslo', keys.old));
    await rome.peers.trust({ key: keys.next.publicKey, ...granted });
    await startOslo(keys.next, 'bergen');
    await until(() => isUp('bergen', keys.next));
    await rome.peers.revoke(keys.old.publicKey);
    expect(await rows()).toEqual([['bergen', keys.next.publicKey, 'up']]);
    await until(() => !isHere('agent-oslo'));
    await expect(asks('oslo')).rejects.toMatchObject({ code: 'AGENT_NOT_FOUND' });
    expect(await asks('bergen')).toBe('hello from bergen');
    await rome.peers.trust({ key: keys.old.publicKey, ...granted });
    await until(() => isHere('agent-oslo'));
    expect(await asks('oslo')).toBe('hello from oslo');
    await before.stop({ drainMs: 0 });
  });

  it('stay trusted and revoked when the thread that speaks with other nodes has died', async () => {
    await startOslo(keys.old);
    await rome.peers.trust({ key: keys.next.publicKey, ...granted });
    await startOslo(keys.next, 'bergen');
    await until(async () => (await isUp('oslo', keys.old)) && (await isUp('bergen', keys.next)));
    await rome.peers.revoke(keys.old.publicKey);
    await rome.terminate('peers');
    await until(() => isUp('bergen', keys.next));
    const address = rome.peers.addresses[0] as string;
    await expect(BareNode.open(address, 'oslo', keys.old)).rejects.toMatchObject({ code: 'REFUSED' });
    expect(await rows()).toEqual([['bergen', keys.next.publicKey, 'up']]);
  });

  it('say since when, by what way and with what round trip a node is there', async () => {
    const oslo = await startOslo(keys.old);
    const [address] = rome.peers.addresses;
    await until(async () => (await oslo.peers.list())[0]?.roundTripMs !== undefined);
    const [row] = await oslo.peers.list();
    expect(row).toMatchObject({ node: 'rome', status: 'up', transport: 'websocket', address });
    expect(row?.sinceMs).toBeLessThanOrEqual(Date.now());
    await until(async () => (await rome.peers.list())[0]?.roundTripMs !== undefined);
    expect((await rome.peers.list())[0]).not.toHaveProperty('address');
  });

  it('are keys: nothing else is trusted or revoked', async () => {
    await expect(rome.peers.revoke('oslo')).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await expect(rome.peers.trust({ key: 'oslo' })).rejects.toMatchObject({ code: 'INVALID_OPTIONS' });
    await expect(rome.peers.trust({ key: keys.next.publicKey, tier: 0 as never })).rejects.toThrow(/tier/);
  });
});
