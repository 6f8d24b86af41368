import { capability, defineAgent, signingKeyPair, startSystem } from 'orrery';
import { webSocket } from 'orrery/websocket';
import { expect, it } from 'vitest';
import { z } from 'zod';
import { until } from '../fixtures/peers/node-process.ts';

const shout = capability({ id: 'words.shout', description: 'Shouts', input: z.string(), output: z.string() });

/** Its card has about so many bytes. */
const agent = (id: string, bytes: number) =>
  defineAgent({ id, name: id, version: '1.0.0', description: 'x'.repeat(bytes), tier: 2 }).handle(
    shout,
    (text) => text.toUpperCase(),
  );

it('A node tells others of agents whose cards fill many frames, and says of which it cannot (N-1.8)', async () => {
  const keys = { rome: signingKeyPair(), oslo: signingKeyPair() };
  const frames = { maxFrameBytes: 65_536 };
  const large = Array.from({ length: 20 }, (_, at) => agent(`large-${at}`, 50_000));
  await using rome = await startSystem({
    agents: [...large, agent('too-large', 70_000)],
    peers: {
      transports: [webSocket(frames)],
      identity: { node: 'rome', key: keys.rome },
      trust: [{ key: keys.oslo.publicKey, tier: 2, sandboxId: null }],
    },
  });
  await using oslo = await startSystem({
    peers: {
      transports: [webSocket(frames)],
      identity: { node: 'oslo', key: keys.oslo },
      trust: [{ key: keys.rome.publicKey }],
      discover: { dial: rome.peers.addresses },
    },
  });
  await until(async () => (await oslo.peers.list())[0]?.agents.length === large.length + 1);
  expect(await oslo.ask({ agent: 'large-19', capability: shout }, 'here')).toBe('HERE');
  await until(async () =>
    (await rome.recentEvents()).some(
      (event) => event.type === 'error' && event.reason?.includes('"too-large"') === true,
    ),
  );
});
