import { type System, startSystem } from 'orrery';
import createTestnet from 'hyperdht/testnet.js';
import type { A2AEnvelope } from '../../runtime/protocol/envelope.ts';
import { withParameters } from '../agents/agent-parameters.ts';
import { askBurst, handled, readBurst, tellBurst } from '../capabilities.ts';
import { eachSender } from '../contenders/orrery.ts';
import { envelopeSource } from '../envelope.ts';
import type { Contender } from '../measurement.ts';
import { pipelined, sharesOf } from '../pipelined.ts';
import { SENDERS } from '../team.ts';
import { type BareOrder, type BareSaying, RECEIVERS } from './bare-order.ts';
import { BARE_LIBRARIES, type BareStream } from './bare-stream.ts';
import type { LinkKind, Network } from './peer-order.ts';
import { startPeer } from './peer-process.ts';
import { transportOf } from './transport-of.ts';

/** Asks, `WIDTH` in flight; one-way tells; the values of one stream. */
export type PeerJob = 'ask' | 'tell' | 'stream';

export const WIDTH = 64;
const BURST_MS = 20_000;

const PACKAGES: Readonly<Record<LinkKind, string>> = {
  websocket: 'ws',
  hyperswarm: 'hyperdht',
  libp2p: 'libp2p',
};
const NODES_OF_DHT = 3;

/** A network on this machine; a DHT only where it is needed. */
export async function openNetwork(link: LinkKind): Promise<Network & { close(): Promise<void> }> {
  if (link !== 'hyperswarm') return { link, bootstrap: [], port: 0, close: async () => undefined };
  const testnet = await createTestnet(NODES_OF_DHT, { host: '127.0.0.1' });
  return { link, bootstrap: [...testnet.bootstrap], port: 0, close: () => testnet.destroy() };
}

/** A library's own stream to another process: JSON with its length before it, and nothing is permitted or refused. */
export const bareStream = (link: LinkKind, job: PeerJob): Contender => ({
  name: 'bare stream',
  packages: [PACKAGES[link]],
  open: async () => {
    const { close: closeNetwork, ...network } = await openNetwork(link);
    const peer = await startPeer('bare', network);
    const bare = new BareClient();
    const end = await BARE_LIBRARIES[link].connect(network, peer.address, bare.readBy);
    return {
      run: (count) => bare.run(job, count),
      close: async () => {
        await end.close();
        await peer.close();
        await closeNetwork();
      },
    };
  },
});

/** What the users of a stream would write. */
class BareClient {
  readonly #makeAsk = envelopeSource(RECEIVERS, 'request');
  readonly #makeTell = envelopeSource(RECEIVERS, 'notification');
  readonly #answers = new Map<string, (payload: unknown) => void>();
  #stream: BareStream | undefined;
  #made = 0;
  #told = 0;
  #values = 0;
  #onCounted: (handled: number) => void = () => undefined;
  #onValue: () => void = () => undefined;

  readonly readBy = (stream: BareStream) => {
    this.#stream = stream;
    return (text: string): void => {
      const { id = '', payload, value, handled: count } = JSON.parse(text) as BareSaying;
      if (value !== undefined) this.#onValue();
      else if (count !== undefined) this.#onCounted(count);
      else {
        const resolve = this.#answers.get(id);
        this.#answers.delete(id);
        resolve?.(payload);
      }
    };
  };

  run(job: PeerJob, count: number): Promise<void> {
    if (job === 'ask') return pipelined(count, WIDTH, () => this.#ask());
    return job === 'tell' ? this.#tell(count) : this.#read(count);
  }

  #send(said: A2AEnvelope | BareOrder): Promise<unknown> | undefined {
    return this.#stream?.send(JSON.stringify(said));
  }

  #ask(): Promise<unknown> {
    const envelope = this.#makeAsk(this.#made++);
    return new Promise((resolve) => {
      this.#answers.set(envelope.id, resolve);
      void this.#send(envelope);
    });
  }

  async #tell(count: number): Promise<void> {
    for (let sent = 0; sent < count; sent++) {
      const full = this.#send(this.#makeTell(this.#made++));
      if (full !== undefined) await full;
    }
    this.#told += count;
    const counted = new Promise<number>((resolve) => {
      this.#onCounted = resolve;
    });
    void this.#send({ order: 'count', count: 0 });
    if ((await counted) !== this.#told) throw new Error(`${this.#told} were told, ${await counted} handled`);
  }

  #read(count: number): Promise<void> {
    this.#values = 0;
    return new Promise((resolve) => {
      this.#onValue = () => {
        this.#values += 1;
        if (this.#values === count) resolve();
      };
      void this.#send({ order: 'stream', count });
    });
  }
}

/** Two nodes with everything on: agents in a worker here tell, ask and read an agent in a worker there. */
export const orreryNodes = (link: LinkKind, job: PeerJob): Contender => ({
  name: 'orrery',
  open: async () => {
    const { close: closeNetwork, ...network } = await openNetwork(link);
    const peer = await startPeer('node', network);
    const system = await startHere(network, peer);
    let told = 0;
    const handledThere = () => system.ask({ agent: 'receiver-1', capability: handled }, {});
    await handledThere();
    return {
      run: async (count) => {
        if (job !== 'stream') told += await (job === 'ask' ? ask : tell)(system, count);
        else await system.ask({ agent: 'reader', capability: readBurst }, { count }, { timeoutMs: BURST_MS });
      },
      close: async () => {
        const { handled: arrived } = await handledThere();
        await system.stop();
        await peer.close();
        await closeNetwork();
        if (arrived !== told) throw new Error(`${told} findings were sent, ${arrived} were handled`);
      },
    };
  },
});

/** A system with the senders in a worker, which knows the node at this address. */
export async function startHere(
  network: Network,
  { address, publicKey = '' }: { readonly address: string; readonly publicKey?: string | undefined },
): Promise<System> {
  const sender = new URL('../agents/sender.agent.ts', import.meta.url);
  const reader = new URL('../agents/reader.agent.ts', import.meta.url);
  const senders = [...Map.groupBy(SENDERS, ({ tier }) => tier)].map(([tier, group]) => ({
    module: withParameters(sender, { tier, layout: RECEIVERS }),
    instances: group.map(({ id }) => id),
  }));
  return startSystem({
    agents: [...senders, { module: reader }],
    workers: 1,
    peers: {
      transports: [await transportOf(network, 'dial')],
      identity: { node: 'here' },
      trust: [{ key: publicKey, tier: 2, sandboxId: null }],
      discover: { dial: [address] },
    },
  });
}

const tell = (system: System, count: number): Promise<number> =>
  eachSender(sharesOf(count, SENDERS.length), (agent, share) =>
    system.ask({ agent, capability: tellBurst }, { count: share }, { timeoutMs: BURST_MS }),
  );

const ask = (system: System, count: number): Promise<number> =>
  eachSender(sharesOf(WIDTH, SENDERS.length), (agent, loops) => {
    const burst = { count: Math.ceil((count * loops) / WIDTH), width: loops };
    return system.ask({ agent, capability: askBurst }, burst, { timeoutMs: BURST_MS });
  });
