import { once } from 'node:events';
import { MessageChannel, Worker } from 'node:worker_threads';
import {
  type A2AChannel,
  AgentRegistry,
  ChannelManager,
  type ChannelManagerOptions,
  type ChannelOptions,
  type DiscoveryManager,
  MessagePortTransport,
} from 'orrery';
import { describe, expect, it } from 'vitest';
import { numbered } from '../fixtures/channel-pair.ts';
import { rejection, until } from '../fixtures/until.ts';

const QUICK: ChannelOptions = {
  heartbeatMs: 50,
  silenceTimeoutMs: 300,
  handshakeTimeoutMs: 500,
  retryDelayMs: 100,
  reconnectTimeoutMs: 60_000,
};

/** A thread that gets no processor for a while is not taken for one that died: that is noticed by the end of its port. */
const PATIENT: ChannelOptions = { ...QUICK, silenceTimeoutMs: 60_000, handshakeTimeoutMs: 60_000 };

const THERE = { transport: 'local', address: 'there' } as const;

/** `mars` here and `venus` in a worker, with a line between them. */
class TwoThreads {
  readonly arrived: string[] = [];
  readonly answers: string[] = [];
  readonly statuses: string[] = [];
  readonly transport: MessagePortTransport;
  readonly manager: ChannelManager;
  worker: Worker;

  private constructor(
    worker: Worker,
    transport: MessagePortTransport,
    channel: ChannelOptions,
    endpointsOf: ChannelManagerOptions['endpointsOf'],
  ) {
    this.worker = worker;
    this.transport = transport;
    this.manager = new ChannelManager({
      transports: [transport],
      hosts: (agentId) => agentId === 'mars',
      endpointsOf,
      channel,
    });
    this.manager.onEvent((event) => {
      if (event.type === 'channel-status') this.statuses.push(event.status);
    });
  }

  static async start(
    channel: ChannelOptions = PATIENT,
    endpointsOf: ChannelManagerOptions['endpointsOf'] = () => [THERE],
  ): Promise<TwoThreads> {
    const { worker, line } = await startVenus(channel);
    const both = new TwoThreads(worker, new MessagePortTransport(line), channel, endpointsOf);
    worker.on('message', (id: string) => both.arrived.push(id));
    return both;
  }

  async open(): Promise<A2AChannel> {
    const channel = await this.manager.openChannel('mars', 'venus');
    channel.onMessage(({ id }) => this.answers.push(id));
    return channel;
  }

  /** Another thread takes the place of the one that is gone. */
  async replace(): Promise<void> {
    const { worker, line } = await startVenus(PATIENT);
    worker.on('message', (id: string) => this.arrived.push(id));
    this.worker = worker;
    this.transport.attach(line);
  }

  async stop(): Promise<void> {
    await this.manager.closeAll();
    await this.transport.close();
    await this.worker.terminate();
  }
}

async function startVenus(channel: ChannelOptions) {
  const { port1: line, port2 } = new MessageChannel();
  const worker = new Worker(new URL('../fixtures/channel-manager.worker.ts', import.meta.url), {
    workerData: { line: port2, channel },
    transferList: [port2],
  });
  await once(worker, 'message');
  return { worker, line };
}

describe('A channel over message ports, to a real thread (N-3.6, N-3.7)', () => {
  it('carries a thousand envelopes there and back in order, and leaves nothing', async () => {
    const both = await TwoThreads.start();
    const channel = await both.open();
    await Promise.all(
      Array.from({ length: 1_000 }, (_, n) => channel.send(numbered(n, 'mars', { does: 'answer' }))),
    );
    await until('all answers', () => both.answers.length === 1_000 && both.arrived.length === 1_000);
    const order = Array.from({ length: 1_000 }, (_, n) => `mars-${n}`);
    expect(both.arrived).toEqual(order);
    expect(both.answers).toEqual(order.map((id) => `re-${id}`));
    await channel.close();
    await until('both ends are closed', () => both.transport.openEnds === 0);
    const exit = once(both.worker, 'exit');
    both.worker.postMessage('end');
    // Nothing of the transport holds a thread that has closed its manager; its line is the other side's to close.
    await both.transport.close();
    expect((await exit)[0]).toBe(0);
    await both.stop();
  });

  it('opens to whom discovery has found, at the address that its card says (N-T04)', async () => {
    const venus = {
      id: 'venus',
      name: 'VENUS',
      version: '1.0.0',
      description: 'Answers over a channel',
      tier: 2,
      protocols: ['a2a/1.0'],
      endpoints: [THERE],
      capabilities: [{ id: 'talk', name: 'talk', description: 'Talks', inputSchema: {}, outputSchema: {} }],
      revision: 0,
      origin: 'local',
      lastSeenAt: 0,
    };
    const peers: DiscoveryManager = {
      announce: async () => {},
      withdraw: async () => {},
      pull: async () => [{ card: venus, grant: { nodeId: 'there', grantedTier: 2 } }],
      onFound: () => () => {},
    };
    const registry = new AgentRegistry();
    const dialled: string[] = [];
    const both = await TwoThreads.start(PATIENT, (id) => {
      dialled.push(id);
      return registry.getById(id)?.endpoints ?? [];
    });
    expect(registry.findByCapability('talk')).toEqual([]);
    await registry.enableHyperswarmDiscovery(peers);
    const [found] = registry.findByCapability('talk');
    expect(found).toMatchObject({ id: 'venus', origin: 'remote', endpoints: [THERE] });
    const channel = await both.manager.openChannel('mars', found?.id ?? '');
    channel.onMessage(({ id }) => both.answers.push(id));
    for (let n = 0; n < 10; n++) await channel.send(numbered(n, 'mars', { does: 'answer' }));
    // What it has heard it says on another line than what it answers.
    await until('all answers', () => both.answers.length === 10 && both.arrived.length === 10);
    expect(both.answers).toEqual(both.arrived.map((id) => `re-${id}`));
    expect(dialled).toEqual(['venus']);
    await both.stop();
  });

  it('reconnects when the thread dies, and is closed by the one that takes its place: that knows nothing of it', async () => {
    const both = await TwoThreads.start();
    const channel = await both.open();
    await channel.send(numbered(0));
    const died = once(both.worker, 'exit');
    void both.worker.terminate();
    await died;
    await until('it is lost', () => channel.status === 'reconnecting');
    const waiting = rejection(channel.send(numbered(1)));
    expect(both.statuses).toEqual(['connecting', 'open', 'reconnecting']);
    await both.replace();
    expect((await waiting).code).toBe('CHANNEL_CLOSED');
    expect(channel.status).toBe('closed');
    const next = await both.open();
    await next.send(numbered(2));
    await until('it is heard of', () => both.arrived.length === 2);
    expect(both.arrived).toEqual(['mars-0', 'mars-2']);
    await both.stop();
    expect(both.transport.openEnds).toBe(0);
  });

  it('is closed in time when nobody takes the place of a thread that died', async () => {
    const both = await TwoThreads.start({ ...PATIENT, reconnectTimeoutMs: 200 });
    const channel = await both.open();
    await both.worker.terminate();
    await until('it is closed', () => channel.status === 'closed');
    expect(both.statuses).toEqual(['connecting', 'open', 'reconnecting', 'closed']);
    expect(both.transport.openEnds).toBe(0);
    await both.stop();
  });

  it('notices a thread that dies silently: its port is there, and nobody answers', async () => {
    const both = await TwoThreads.start({ ...QUICK, reconnectTimeoutMs: 1_000 });
    const channel = await both.open();
    const stuck = rejection(channel.send(numbered(0, 'mars', { does: 'get stuck' })));
    await until('it is in there', () => both.arrived.length === 1);
    const late = rejection(channel.send(numbered(1)));
    await until('it is noticed', () => both.statuses.includes('reconnecting'));
    expect([(await stuck).code, (await late).code]).toEqual(['CHANNEL_CLOSED', 'CHANNEL_CLOSED']);
    expect([channel.status, both.transport.openEnds]).toEqual(['closed', 0]);
    await both.stop();
  });
});
