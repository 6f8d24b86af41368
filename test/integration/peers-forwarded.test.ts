import { once } from 'node:events';
import { connect, createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { capability, defineAgent, signingKeyPair, startSystem, type Team } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { freePort } from '../fixtures/free-port.ts';
import { until } from '../fixtures/until.ts';

const look = capability({ id: 'look', description: 'Looks', input: z.unknown(), output: z.unknown() });
const looker = (node: string) =>
  defineAgent({
    id: `looker-${node}`,
    name: 'LOOKER',
    version: '1.0.0',
    description: 'Looks',
    tier: 2,
  }).handle(look, () => node);

/** A router that forwards a port: a plain TCP server in front of another one. */
class Forwarder {
  readonly #server: Server;
  readonly #sockets = new Set<Socket>();
  forwarded = 0;

  constructor(to: number) {
    this.#server = createServer((near) => {
      const far = connect(to, '127.0.0.1');
      this.forwarded += 1;
      for (const socket of [near, far]) {
        this.#sockets.add(socket);
        socket.on('error', () => undefined);
        socket.on('close', () => {
          near.destroy();
          far.destroy();
        });
      }
      near.pipe(far);
      far.pipe(near);
    });
  }

  async listen(): Promise<string> {
    this.#server.listen(0, '127.0.0.1');
    await once(this.#server, 'listening');
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}/orrery`;
  }

  /** Ends all that goes over it. */
  cut(): void {
    for (const socket of this.#sockets) socket.destroy();
    this.#sockets.clear();
  }

  close(): void {
    this.#server.close();
    this.cut();
  }
}

describe('A node behind a port that is forwarded (N-D07)', () => {
  const cleanUp: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of cleanUp.splice(0).reverse()) await clean();
  });

  const start = async (
    node: string,
    peers: { port?: number; addresses?: readonly string[]; dial?: readonly string[] } = {},
  ): Promise<Team> => {
    const { port, addresses = [], dial = [] } = peers;
    const system = await startSystem({
      agents: [looker(node)],
      spareThread: false,
      policies: { escalation: 'off' },
      peers: {
        transports: [webSocket(port === undefined ? {} : { port })],
        addresses,
        identity: { node, key: signingKeyPair() },
        trust: [{ key: '*', tier: 2, sandboxId: null }],
        discover: { dial },
        channel: { redial: { firstMs: 20, maxMs: 200 } },
        missMs: 50,
      },
    });
    cleanUp.push(() => system.stop({ drainMs: 0 }));
    return system;
  };
  const row = async (system: Team, node: string) =>
    (await system.peers.list()).find((one) => one.node === node);

  it('is dialled by its outside address: by who got its card from a third one, and again after a cut', async () => {
    const port = await freePort();
    const router = new Forwarder(port);
    const outside = await router.listen();
    cleanUp.push(() => router.close());
    const bern = await start('bern');
    const rome = await start('rome', { port, addresses: [outside], dial: bern.peers.addresses });
    expect(rome.peers.addresses).toEqual([outside]);
    const oslo = await start('oslo', { dial: bern.peers.addresses });
    await until('oslo has heard of rome', async () =>
      oslo.ask({ agent: 'looker-rome', capability: look }, null).catch(() => undefined),
    );
    expect(await row(oslo, 'rome')).toMatchObject({ status: 'up', address: outside });
    const before = router.forwarded;
    expect(before).toBeGreaterThan(0);
    router.cut();
    await until('oslo has come back', () => router.forwarded > before);
    expect(await oslo.ask({ agent: 'looker-rome', capability: look }, null)).toBe('rome');
    expect(await rome.ask({ agent: 'looker-oslo', capability: look }, null)).toBe('oslo');
    for (const system of [rome, oslo])
      expect(await system.conservation()).toMatchObject({ inFlight: 0, holds: true });
  });
});
