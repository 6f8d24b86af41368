import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { capability, defineAgent, signingKeyPair, startSystem, type Team } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { z } from 'zod';
import { BareNode } from '../fixtures/peers/bare-node.ts';
import { until } from '../fixtures/until.ts';

const look = capability({ id: 'look', description: 'Looks', input: z.unknown(), output: z.string() });
const venus = defineAgent({
  id: 'venus',
  name: 'VENUS',
  version: '1.0.0',
  description: 'Looks',
  tier: 2,
}).handle(look, () => 'seen');

describe('Who connects to a node and does not get on, or says what another one has said', () => {
  const keys = { rome: signingKeyPair(), oslo: signingKeyPair() };
  const open: { terminate?: () => void; destroy?: () => void }[] = [];
  let rome: Team;
  let address: string;

  beforeEach(async () => {
    rome = await startSystem({
      agents: [venus],
      spareThread: false,
      peers: {
        transports: [webSocket({ connectTimeoutMs: 3_000 })],
        identity: { node: 'rome', key: keys.rome },
        trust: [{ key: keys.oslo.publicKey, node: 'oslo', sandboxId: null }],
        channel: { handshakeTimeoutMs: 3_000 },
      },
    });
    address = rome.peers.addresses[0] as string;
  });

  afterEach(async () => {
    for (const one of open.splice(0)) {
      one.terminate?.();
      one.destroy?.();
    }
    await rome.stop({ drainMs: 0 });
  });

  /** Says so much of it at once, and the rest byte by byte. */
  const drip = (socket: Socket, text: string, atOnce: number): void => {
    socket.write(text.slice(0, atOnce));
    let at = atOnce;
    const timer = setInterval(() => socket.write(text[at++ % text.length] as string), 100);
    socket.on('close', () => clearInterval(timer));
  };

  it('is let go: nothing said, half a request, half a hello, a thousand at once', async () => {
    const { port, pathname } = new URL(address);
    let ended = 0;
    const socketTo = (): Socket => {
      const socket = connect(Number(port), '127.0.0.1');
      socket.resume();
      socket.on('error', () => undefined);
      socket.on('close', () => {
        ended += 1;
      });
      open.push(socket);
      return socket;
    };
    const request = `GET ${pathname} HTTP/1.1\r\nHost: rome\r\nX-Long: ${'x'.repeat(10_000)}`;
    const sockets = Array.from({ length: 1_000 }, socketTo);
    for (const [at, socket] of sockets.entries()) if (at % 2 === 0) drip(socket, request, 5);
    // Those that a web socket is opened for have to say hello, and not a byte of it a second.
    const webSockets = Array.from({ length: 100 }, () => new WebSocket(address));
    for (const one of webSockets) {
      open.push(one);
      one.on('error', () => undefined);
      one.on('close', () => {
        ended += 1;
      });
      // A frame of 100 bytes that is masked, and comes byte by byte.
      one.on('upgrade', ({ socket }) => drip(socket, `\x01\x7e${'a'.repeat(100)}`, 2));
    }
    await until('all are ended', () => ended === 1_100);
    await using oslo = await BareNode.open(address, 'oslo', keys.oslo);
    await oslo.join('oslo');
    expect(await rome.peers.list()).toMatchObject([{ node: 'oslo', status: 'up' }]);
    expect(await rome.ask({ agent: 'venus', capability: look }, null)).toBe('seen');
  });

  it('is refused with a proof that another connection has given', async () => {
    // Between oslo and rome is somebody who hears all of it.
    const said: { data: Buffer; isBinary: boolean }[] = [];
    const between = new WebSocketServer({ host: '127.0.0.1', port: 0 });
    await once(between, 'listening');
    between.on('connection', (near) => {
      const far = new WebSocket(address);
      open.push(near, far);
      const waiting: (() => void)[] = [];
      near.on('message', (data: Buffer, isBinary) => {
        said.push({ data, isBinary });
        const pass = (): void => far.send(data, { binary: isBinary });
        if (far.readyState === WebSocket.OPEN) pass();
        else waiting.push(pass);
      });
      far.on('open', () => {
        for (const pass of waiting.splice(0)) pass();
      });
      far.on('message', (data: Buffer, isBinary) => near.send(data, { binary: isBinary }));
      far.on('error', () => undefined);
    });
    const { port } = between.address() as { port: number };
    const oslo = await BareNode.open(`ws://127.0.0.1:${port}/orrery`, 'oslo', keys.oslo);
    await oslo.join('oslo');
    await oslo[Symbol.asyncDispose]();
    between.close();
    await until('oslo has gone', async () => (await rome.peers.list())[0]?.status !== 'up');

    const thief = new WebSocket(address);
    open.push(thief);
    const heard: string[] = [];
    thief.on('message', (data: Buffer) => heard.push(data.toString()));
    await once(thief, 'open');
    const over = once(thief, 'close');
    for (const { data, isBinary } of said) thief.send(data, { binary: isBinary });
    await over;
    expect((await rome.peers.list())[0]?.status).not.toBe('up');
    const refused = (await rome.recentEvents()).filter(({ reason }) =>
      String(reason).includes('does not fit'),
    );
    expect([...heard, ...refused.map(({ reason }) => reason)].join()).toContain('does not fit what it says');
  });
});
