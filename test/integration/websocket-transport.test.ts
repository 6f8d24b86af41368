import { once } from 'node:events';
import { connect, type AddressInfo, type Socket } from 'node:net';
import type { Connection, Frame } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { afterEach, describe, expect, it } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { networkTransportSuite } from '../conformance/network-transport.suite.ts';
import { rejection, until } from '../fixtures/until.ts';

networkTransportSuite('WebSocketTransport', async () => ({
  dialling: webSocket(),
  listening: webSocket(),
  process: ['orrery/websocket', 'webSocket', {}],
}));

describe('a transport over WebSockets (N-3.6)', () => {
  const transport = webSocket({ maxFrameBytes: 2_048, headers: { 'x-team': 'mars' } });
  const cleanUp: (() => unknown)[] = [];
  afterEach(async () => {
    for (const clean of cleanUp.splice(0)) await clean();
    await transport.close();
    expect([transport.openEnds, transport.openListeners]).toEqual([0, 0]);
  });

  const listen = async (): Promise<{ address: string; connections: Connection[]; reasons: string[] }> => {
    const connections: Connection[] = [];
    const reasons: string[] = [];
    const { address } = await transport.listen((connection) => {
      connections.push(connection);
      connection.onFrame(() => undefined);
      connection.onLost((reason) => reasons.push(reason));
    });
    return { address, connections, reasons };
  };

  /** A socket that has been upgraded by hand. */
  const rawClient = async (address: string, headers: readonly string[] = []): Promise<Socket> => {
    const { hostname, port, pathname } = new URL(address);
    const socket = connect(Number(port), hostname);
    socket.on('error', () => undefined);
    cleanUp.push(() => socket.destroy());
    const lines = [
      `GET ${pathname} HTTP/1.1`,
      `host: ${hostname}:${port}`,
      'connection: Upgrade',
      'upgrade: websocket',
      'sec-websocket-version: 13',
      'sec-websocket-key: AAAAAAAAAAAAAAAAAAAAAA==',
      ...headers,
    ];
    socket.write(`${lines.join('\r\n')}\r\n\r\n`);
    return socket;
  };
  const upgraded = async (address: string): Promise<Socket> => {
    const socket = await rawClient(address);
    expect(String((await once(socket, 'data'))[0])).toContain('101');
    return socket;
  };

  it('is understood by a client that is none of ours', async () => {
    const frames: Frame[] = [];
    const { address } = await transport.listen((connection) => {
      connection.onFrame((frame) => {
        frames.push(frame);
        void connection.send(frame);
      });
    });
    const client = new WebSocket(address);
    const heard: (readonly [data: number[], isBinary: boolean])[] = [];
    client.on('message', (data, isBinary) => heard.push([[...(data as Buffer)], isBinary]));
    await once(client, 'open');
    client.send('zwölf');
    client.send(new Uint8Array([0, 255]));
    await until('both', () => heard.length === 2);
    expect(frames).toEqual(['zwölf', new Uint8Array([0, 255])]);
    expect(heard).toEqual([
      [[...Buffer.from('zwölf')], false],
      [[0, 255], true],
    ]);
    client.close();
    await once(client, 'close');
  });

  it('is understood by a server that is none of ours', async () => {
    const server = new WebSocketServer({ port: 0, host: '127.0.0.1' });
    cleanUp.push(() => server.close());
    await once(server, 'listening');
    const seen: unknown[] = [];
    server.on('connection', (socket, request) => {
      seen.push(request.headers['x-team']);
      socket.on('message', (data, isBinary) => {
        seen.push(isBinary ? [...(data as Buffer)] : String(data));
        socket.send('heard');
        socket.close();
      });
      socket.send('at once');
    });
    const connection = await transport.connect(`ws://127.0.0.1:${(server.address() as AddressInfo).port}/`);
    const frames: Frame[] = [];
    connection.onFrame((frame) => frames.push(frame));
    const lost = new Promise<string>((resolve) => connection.onLost(resolve));
    await connection.send(new Uint8Array([1, 2]));
    expect(await lost).toBe('the other end closed it');
    expect([seen, frames]).toEqual([
      ['mars', [1, 2]],
      ['at once', 'heard'],
    ]);
  });

  it('ends the connection of one that announces a gigabyte, and allocates none of it', async () => {
    const { address, reasons } = await listen();
    const socket = await upgraded(address);
    const before = process.memoryUsage();
    const header = Buffer.from([0x82, 0xff, 0, 0, 0, 0, 0x40, 0, 0, 0, 1, 2, 3, 4]);
    socket.write(header);
    await until('its end', () => reasons.length === 1);
    const { rss, arrayBuffers } = process.memoryUsage();
    expect(arrayBuffers - before.arrayBuffers).toBeLessThan(50_000_000);
    expect(rss - before.rss).toBeLessThan(500_000_000);
    expect(reasons[0]).toMatch(/payload size exceeded/i);
  });

  it.each([
    ['garbage', Buffer.from('this is no frame at all')],
    ['a frame without a mask', Buffer.from([0x81, 1, 65])],
    ['a text that is no UTF-8', Buffer.from([0x81, 0x81, 0, 0, 0, 0, 0xff])],
  ])('ends the connection of one that sends %s', async (_what, bytes) => {
    const { address, reasons } = await listen();
    const socket = await upgraded(address);
    socket.write(bytes);
    await until('its end', () => reasons.length === 1);
    expect(reasons[0]).not.toBe('');
  });

  it('takes a frame that comes byte by byte, and half a frame as lost', async () => {
    const frames: Frame[] = [];
    const reasons: string[] = [];
    const { address } = await transport.listen((connection) => {
      connection.onFrame((frame) => frames.push(frame));
      connection.onLost((reason) => reasons.push(reason));
    });
    const socket = await upgraded(address);
    socket.setNoDelay(true);
    for (const byte of [0x81, 0x82, 0, 0, 0, 0, 0x68, 0x69]) {
      socket.write(Buffer.from([byte]));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await until('the frame', () => frames.length === 1);
    socket.end(Buffer.from([0x81, 0x85, 0, 0, 0, 0, 0x68]));
    await until('its end', () => reasons.length === 1);
    expect([frames, reasons]).toEqual([['hi'], ['the other end is gone']]);
  });

  it('refuses web pages, other paths and plain requests', async () => {
    const { address, connections } = await listen();
    const page = await rawClient(address, ['origin: http://somewhere.example']);
    expect(String((await once(page, 'data'))[0])).toContain('403 Forbidden');
    const elsewhere = new URL('/elsewhere', address).href;
    expect(String((await once(await rawClient(elsewhere), 'data'))[0])).toContain('404 Not Found');
    expect((await rejection(transport.connect(elsewhere))).message).toContain('404');
    expect((await fetch(address.replace('ws:', 'http:'))).status).toBe(426);
    expect(connections).toEqual([]);
  });

  it('leaves nothing of an attempt that is cancelled while the other end is silent', async () => {
    const { createServer } = await import('node:net');
    const server = createServer().listen(0, '127.0.0.1');
    await once(server, 'listening');
    cleanUp.push(() => server.close());
    const connected = once(server, 'connection') as Promise<Socket[]>;
    const abort = new AbortController();
    const address = `ws://127.0.0.1:${(server.address() as AddressInfo).port}/orrery`;
    const failed = rejection(transport.connect(address, { signal: abort.signal }));
    const [socket] = await connected;
    socket?.resume();
    const ended = once(socket as Socket, 'close');
    abort.abort();
    expect((await failed).code).toBe('CANCELLED');
    await ended;
    const short = webSocket({ connectTimeoutMs: 50 });
    expect((await rejection(short.connect(address))).code).toBe('DELIVERY_FAILED');
  });

  it.each([
    [{ port: 70_000 }, 'webSocket.port'],
    [{ path: 'orrery' }, 'webSocket.path'],
    [{ maxFrameBytes: 0 }, 'webSocket.maxFrameBytes'],
    [{ tls: { key: 'k' } }, 'webSocket.tls'],
    [{ hots: 'x' }, 'webSocket.hots'],
  ])('refuses %j, naming the field', (options, field) => {
    expect(() => webSocket(options as object)).toThrow(field);
  });

  it('says that its port is taken', async () => {
    const { address } = await listen();
    const port = Number(new URL(address).port);
    const failed = await rejection(webSocket({ port }).listen(() => undefined));
    expect([failed.code, failed.message]).toEqual(['INVALID_OPTIONS', expect.stringContaining(String(port))]);
  });
});
