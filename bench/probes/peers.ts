import { randomBytes } from 'node:crypto';
import { once } from 'node:events';
import { type AddressInfo, createServer } from 'node:net';
import { handled } from '../capabilities.ts';
import { runChild } from '../child-process.ts';
import type { IdleChannels } from '../children/idle-channels.ts';
import type { Effort, Probe, Reading } from '../measurement.ts';
import type { Plugin } from '../plugin.ts';
import { openNetwork, startHere } from '../peers/contender.ts';
import { type LinkKind, LINKS, type Network } from '../peers/peer-order.ts';
import { startPeer } from '../peers/peer-process.ts';
import { repeatedReading } from '../repeated-reading.ts';
import { quartilesText, spreadOf } from '../statistics.ts';

const CHILD = new URL('../children/idle-channels.ts', import.meta.url);
const CHILD_MS = 120_000;
const CHANNELS = 1_000;
const KB = 1_000;
const MOST_ROUNDS = 5;
const ASK_MS = 20_000;

const idleChannels: Probe = {
  kind: 'probe',
  name: 'peers-idle',
  title: `${CHANNELS.toLocaleString('en')} channels that have nothing to do, both ends in one process`,
  read: async (): Promise<readonly Reading[]> => {
    const readings: Reading[] = [];
    for (const link of LINKS) readings.push(...(await idleReadings(link)));
    return readings;
  },
};

async function idleReadings(link: LinkKind): Promise<readonly Reading[]> {
  const { close, ...network } = await openNetwork(link);
  try {
    const [one, many] = [await memoryOf(network, 1), await memoryOf(network, CHANNELS)];
    const perEnd = (bytes: number): number => bytes / (CHANNELS - 1) / 2 / KB;
    const unit = 'kB an end';
    return [
      { name: `${link}: heap`, value: perEnd(many.heapBytes - one.heapBytes), unit },
      { name: `${link}: process`, value: perEnd(many.processBytes - one.processBytes), unit },
      { name: `${link}: to open one`, value: many.openMs / CHANNELS, unit: 'ms' },
    ];
  } finally {
    await close();
  }
}

async function memoryOf(network: Network, count: number): Promise<IdleChannels> {
  const execArgv = [...process.execArgv, '--expose-gc'];
  const args = [JSON.stringify(network), String(count)];
  return (await runChild({ module: CHILD, args, timeoutMs: CHILD_MS, execArgv })) as IdleChannels;
}

const rejoin: Probe = {
  kind: 'probe',
  name: 'peers-rejoin',
  title: 'from when a node that was killed listens again, under its key, until an agent of it answers',
  read: async ({ rounds }: Effort): Promise<readonly Reading[]> => {
    const readings: Reading[] = [];
    for (const link of LINKS) readings.push(await rejoinReading(link, Math.min(rounds, MOST_ROUNDS)));
    return readings;
  },
};

async function rejoinReading(link: LinkKind, rounds: number): Promise<Reading> {
  const { close, ...network } = await openNetwork(link);
  const again = { ...network, port: await freePort(), seed: randomBytes(32).toString('hex') };
  let peer = await startPeer('node', again);
  const system = await startHere(again, peer);
  const ask = () => system.ask({ agent: 'receiver-1', capability: handled }, {}, { timeoutMs: ASK_MS });
  // What was asked before the death was noticed is told to have died, and asked again.
  const askAgain = (): Promise<unknown> =>
    ask().catch((error: { readonly code: string }) => {
      if (error.code === 'ACTOR_DIED') return askAgain();
      throw error;
    });
  const waits: number[] = [];
  try {
    await ask();
    for (let round = 0; round < rounds; round++) {
      await peer.kill();
      peer = await startPeer('node', again);
      const listensMs = performance.now();
      await askAgain();
      waits.push(performance.now() - listensMs);
    }
  } finally {
    await system.stop();
    await peer.close();
    await close();
  }
  return repeatedReading(waits, { name: link, unit: 'ms', note: quartilesText(spreadOf(waits)) });
}

async function freePort(): Promise<number> {
  const server = createServer().listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  server.close();
  return port;
}

/** What channels between nodes cost while nobody says anything, and how soon a node that died is one of the team again. */
const peerProbes: readonly Probe[] = [idleChannels, rejoin];

export const plugin: Plugin = { measurements: peerProbes };
