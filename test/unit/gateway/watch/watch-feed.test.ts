import { describe, expect, it } from 'vitest';
import { WatchFeed } from '../../../../gateway/watch/watch-feed.ts';
import { WatchOptions } from '../../../../gateway/watch/watch-options.ts';
import type { WatchedSystem } from '../../../../gateway/watch/watch-state.ts';
import type { DeadLetter } from '../../../../runtime/protocol/dead-letter.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const letterOf = (id: string): DeadLetter => ({
  ...{ id, sender: 'a', recipient: 'b', type: 'request' },
  ...{ code: 'ACTOR_DIED', reason: 'it died', atMs: 1 },
});

/** A feed of a system that does nothing, and how often somebody began and ended to inspect it. */
function feedOf() {
  const clock = new FakeClock();
  const letters: DeadLetter[] = [];
  const inspected = { begun: 0, ended: 0 };
  const account = {
    accepted: 0,
    handled: 0,
    rejected: 0,
    expired: 0,
    deadLettered: 0,
    inFlight: 0,
    holds: true,
  };
  const system: WatchedSystem = {
    inspect: async () => {
      inspected.begun += 1;
      return () => {
        inspected.ended += 1;
      };
    },
    roster: async () => [],
    recentEvents: async () => [],
    deadLetters: async () => [...letters],
    conservation: async () => account,
    thread: async () => [],
    send: () => Promise.reject(new Error('nothing is sent')),
    peers: { list: async () => [] },
  };
  const about = { node: 'local', name: 'A team', orrery: '0.1.0' };
  const options = WatchOptions.parse({});
  const feed = new WatchFeed({ system, seams: { clock }, about, options, fetch: globalThis.fetch });
  const shown = async () => (await feed.state()).deadLetters.last.map(({ id }) => id);
  return { clock, letters, inspected, feed, shown };
}

describe('WatchFeed (F-08)', () => {
  it('shows letters that died while nobody watched, before, between and after those who do', async () => {
    const { letters, feed, shown } = feedOf();
    letters.push(letterOf('one'));
    expect(await shown()).toEqual(['one']);
    letters.push(letterOf('two'));
    expect(await shown()).toEqual(['two', 'one']);
    (await feed.watch()).close();
    letters.push(letterOf('three'));
    expect(await shown()).toEqual(['three', 'two', 'one']);
    const watcher = await feed.watch();
    letters.push(letterOf('four'));
    watcher.close();
    expect(await shown()).toEqual(['four', 'three', 'two', 'one']);
  });

  it('inspects the system once for all who watch, and no more when the last has gone', async () => {
    const { clock, inspected, feed } = feedOf();
    const [one, other] = [await feed.watch(), await feed.watch()];
    expect(inspected).toEqual({ begun: 1, ended: 0 });
    one.close();
    await clock.advanceAsync(2_000);
    expect(inspected.ended).toBe(0);
    other.close();
    await clock.advanceAsync(2_000);
    expect([inspected, clock.pending]).toEqual([{ begun: 1, ended: 1 }, 0]);
  });
});
