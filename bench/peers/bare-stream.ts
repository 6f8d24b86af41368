import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { noise } from '@chainsafe/libp2p-noise';
import { yamux } from '@chainsafe/libp2p-yamux';
import { tcp } from '@libp2p/tcp';
import { multiaddr } from '@multiformats/multiaddr';
import DHT, { type SecretStream } from 'hyperdht';
import { createLibp2p } from 'libp2p';
import { WebSocket, WebSocketServer } from 'ws';
import { frameOf, frameReader } from './length-frames.ts';
import type { LinkKind, Network } from './peer-order.ts';

/** A stream of a library as its users have it, with texts in it. */
export interface BareStream {
  /** A promise when there is no more room for now. */
  send(text: string): Promise<unknown> | undefined;
}

/** `close` ends what there is of the library. */
export interface BareEnd {
  readonly address: string;
  close(): Promise<void>;
}

/** Whoever reads a stream: made for each, before anything of it is lost. */
export type ReadBy = (stream: BareStream) => (text: string) => void;

/** How the users of a library listen and connect. */
export interface BareLibrary {
  listen(network: Network, readBy: ReadBy): Promise<BareEnd>;
  connect(network: Network, address: string, readBy: ReadBy): Promise<BareEnd>;
}

const PROTOCOL = '/bench/1';
const LOOPBACK = '127.0.0.1';
const MUCH_BYTES = 1_048_576;

const ws: BareLibrary = {
  listen: async (_, readBy) => {
    const server = new WebSocketServer({ host: LOOPBACK, port: 0, perMessageDeflate: false });
    server.on('connection', (socket) => readSocket(socket, readBy));
    await once(server, 'listening');
    return {
      address: `ws://${LOOPBACK}:${(server.address() as AddressInfo).port}`,
      close: async () => {
        for (const socket of server.clients) socket.terminate();
        server.close();
      },
    };
  },
  connect: async (_, address, readBy) => {
    const socket = new WebSocket(address, { perMessageDeflate: false });
    readSocket(socket, readBy);
    await once(socket, 'open');
    return { address, close: async () => socket.terminate() };
  },
};

function readSocket(socket: WebSocket, readBy: ReadBy): void {
  const read = readBy({
    send: (text) => {
      if (socket.bufferedAmount > MUCH_BYTES) return new Promise((resolve) => socket.send(text, resolve));
      socket.send(text);
      return undefined;
    },
  });
  socket.on('message', (data: Buffer) => read(data.toString()));
}

const dhtOf = ({ bootstrap }: Network): DHT =>
  new DHT({ bootstrap, host: LOOPBACK, firewalled: false, ephemeral: false });

const hyperdht: BareLibrary = {
  listen: async (network, readBy) => {
    const node = dhtOf(network);
    const server = node.createServer((stream) => readSecret(stream, readBy));
    const keyPair = DHT.keyPair();
    await server.listen(keyPair);
    return { address: Buffer.from(keyPair.publicKey).toString('hex'), close: () => node.destroy() };
  },
  connect: async (network, address, readBy) => {
    const node = dhtOf(network);
    await node.fullyBootstrapped();
    const stream = node.connect(Buffer.from(address, 'hex'));
    readSecret(stream, readBy);
    await once(stream, 'open');
    return { address, close: () => node.destroy() };
  },
};

function readSecret(stream: SecretStream, readBy: ReadBy): void {
  const room = new Room((onDrain) => stream.on('drain', onDrain));
  const read = readBy({ send: (text) => room.after(stream.write(frameOf(text))) });
  stream.on('data', frameReader(read));
  stream.on('error', () => undefined);
}

type Libp2pStream = Awaited<ReturnType<Awaited<ReturnType<typeof libp2pNode>>['dialProtocol']>>;

const libp2pNode = (listen: readonly string[]) =>
  createLibp2p({
    addresses: { listen: [...listen] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
  });

const libp2p: BareLibrary = {
  listen: async (_, readBy) => {
    const node = await libp2pNode([`/ip4/${LOOPBACK}/tcp/0`]);
    await node.handle(PROTOCOL, (stream) => readLibp2p(stream, readBy));
    return { address: String(node.getMultiaddrs()[0]), close: async () => node.stop() };
  },
  connect: async (_, address, readBy) => {
    const node = await libp2pNode([]);
    readLibp2p(await node.dialProtocol(multiaddr(address), PROTOCOL), readBy);
    return { address, close: async () => node.stop() };
  },
};

function readLibp2p(stream: Libp2pStream, readBy: ReadBy): void {
  const room = new Room((onDrain) => stream.addEventListener('drain', onDrain));
  const read = readBy({ send: (text) => room.after(stream.send(frameOf(text))) });
  const take = frameReader(read);
  stream.addEventListener('message', ({ data }) => take(data.subarray()));
}

/** Waits for a stream that says when it has room again. */
class Room {
  #drained: PromiseWithResolvers<void> | undefined;

  constructor(listen: (onDrain: () => void) => void) {
    listen(() => {
      this.#drained?.resolve();
      this.#drained = undefined;
    });
  }

  after(hasRoom: boolean): Promise<void> | undefined {
    if (hasRoom) return undefined;
    this.#drained ??= Promise.withResolvers();
    return this.#drained.promise;
  }
}

export const BARE_LIBRARIES: Readonly<Record<LinkKind, BareLibrary>> = {
  websocket: ws,
  hyperswarm: hyperdht,
  libp2p,
};
