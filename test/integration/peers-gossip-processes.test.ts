import { afterEach, describe, expect, it } from 'vitest';
import { freePort } from '../fixtures/free-port.ts';
import { newNodeKey, type NodeOrder, NodeProcess, until } from '../fixtures/peers/node-process.ts';

const CHANNEL = { heartbeatMs: 200, silenceTimeoutMs: 2_000, redial: { firstMs: 20, maxMs: 200 } };

describe('Three nodes as processes, of which two know the third alone (N-1.7, N-4.4)', () => {
  const started: NodeProcess[] = [];

  afterEach(async () => {
    await Promise.all(started.splice(0).map((node) => node.kill()));
  });

  const start = async (node: string, order: Partial<NodeOrder> = {}): Promise<NodeProcess> => {
    const one = await NodeProcess.start({
      ...{ node, key: newNodeKey().pem, dial: [], channel: CHANNEL },
      transports: [{ kind: 'websocket', options: { port: await freePort() } }],
      trust: [{ key: '*', tier: 2, sandboxId: null }],
      ...order,
    });
    started.push(one);
    return one;
  };

  it('speak directly when one asks for an agent of the other, also after a kill -9 and a start at another port', async () => {
    const key = newNodeKey().pem;
    const bern = await start('bern');
    const oslo = await start('oslo', { key, dial: bern.addresses });
    const rome = await start('rome', { dial: bern.addresses });
    const asked = (): Promise<boolean> =>
      rome.ask('worker-oslo', 'peers.terms', 'hello', { timeoutMs: 20_000 }).then(
        () => true,
        () => false,
      );
    await until(asked);
    await rome.sees('oslo');
    await oslo.kill();
    await rome.sees('oslo', 'rejoining');
    const again = await start('oslo', { key, dial: bern.addresses });
    expect(again.addresses).not.toEqual(oslo.addresses);
    await rome.sees('oslo');
    expect(await rome.ask('worker-oslo', 'peers.terms', 'again')).toMatchObject({
      sender: 'rome/system/host',
    });
    // Without the one that introduced them.
    await bern.kill();
    await rome.sees('bern', 'rejoining');
    expect(await again.ask('worker-rome', 'peers.terms', 'direct')).toMatchObject({
      sender: 'oslo/system/host',
    });
    await rome.settles();
  });
});
