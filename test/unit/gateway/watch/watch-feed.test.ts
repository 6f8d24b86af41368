import { describe, expect, it } from 'vitest';
import { WatchFeed } from '../../../../gateway/watch/watch-feed.ts';
import { WatchOptions } from '../../../../gateway/watch/watch-options.ts';
import type { WatchedSystem } from '../../../../gateway/watch/watch-state.ts';
import type { DeadLetter } from '../../../../runtime/protocol/dead-letter.ts';
import type { SystemEvent } from '../../../../runtime/protocol/system-event.ts';
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
  const listeners: ((event: SystemEvent) => void)[] = [];
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
    inspect: async (listener) => {
      inspected.begun += 1;
      listeners.push(listener);
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
  return { clock, letters, inspected, listeners, feed, shown };
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

  it('shows an event once to whoever begins to watch while the system still tells it to those who have left', async () => {
    const { clock, listeners, feed } = feedOf();
    (await feed.watch()).close();
    const watcher = await feed.watch();
    expect(listeners).toHaveLength(2);
    for (const hear of listeners) hear({ type: 'agent-started', timestamp: clock.now(), agentId: 'mars' });
    await clock.advanceAsync(100);
    watcher.close();
    const shown: SystemEvent[] = [];
    for await (const { event, data } of watcher) if (event === 'events') shown.push(...data);
    expect(shown.map(({ agentId }) => agentId)).toEqual(['mars']);
  });
});
