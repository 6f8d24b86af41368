import { expect, it } from 'vitest';
import { RefusedPeers } from '../../../runtime/peers/refused-peers.ts';

const refused = (publicKey: string, atMs: number) => ({
  ...{ publicKey, node: 'oslo', atMs, reason: 'it is not trusted here', transport: 'websocket' as const },
});

it('Keys that were not let in are listed once, the last one first, until they are trusted: 64 at most, in few words', () => {
  const peers = new RefusedPeers();
  for (const [at, key] of ['a', 'b', 'a', 'c'].entries()) peers.add(refused(key, at));
  expect(peers.list().map(({ publicKey, times, atMs }) => [publicKey, times, atMs])).toEqual([
    ['c', 1, 3],
    ['a', 2, 2],
    ['b', 1, 1],
  ]);
  peers.forget('a');
  expect(peers.list().map(({ publicKey }) => publicKey)).toEqual(['c', 'b']);
  for (let at = 0; at < 10_000; at++)
    peers.add({ ...refused(`k${at}`, at), node: 'n'.repeat(100_000), reason: 'r'.repeat(100_000) });
  expect(peers.list()).toHaveLength(64);
  expect(peers.list()[0]).toMatchObject({ publicKey: 'k9999', times: 1 });
  expect(JSON.stringify(peers.list()).length).toBeLessThan(64 * 1_024);
});
