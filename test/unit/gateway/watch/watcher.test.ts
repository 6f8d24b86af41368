import { describe, expect, it } from 'vitest';
import { Watcher, type WatchMessage } from '../../../../gateway/watch/watcher.ts';
import type { WatchState } from '../../../../gateway/watch/watch-state.ts';
import type { SystemEvent } from '../../../../runtime/protocol/system-event.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';

const eventOf = (clock: FakeClock, correlationId: string): SystemEvent => ({
  type: 'message-sent',
  timestamp: clock.now(),
  correlationId,
});

const countOf = (events: readonly SystemEvent[]): number =>
  events.reduce((sum, { type, count = 1 }) => sum + (type === 'events-left-out' ? count : 1), 0);

/** Reads what there is, as soon as it is there. */
function reading(watcher: Watcher): { readonly got: WatchMessage[]; readonly done: Promise<void> } {
  const got: WatchMessage[] = [];
  const done = (async () => {
    for await (const message of watcher) got.push(message);
  })();
  return { got, done };
}

const eventsIn = (messages: readonly WatchMessage[]): SystemEvent[] =>
  messages.flatMap((message) => (message.event === 'events' ? message.data : []));

describe('Watcher (F-08)', () => {
  it('gives events together, a moment after the first, in their order', async () => {
    const clock = new FakeClock();
    const watcher = new Watcher(clock, 1_000, () => undefined);
    const { got, done } = reading(watcher);
    for (let at = 0; at < 5; at++) watcher.showEvent(eventOf(clock, `c${at}`));
    await clock.advanceAsync(60);
    watcher.showEvent(eventOf(clock, 'later'));
    await clock.advanceAsync(60);
    watcher.close();
    await done;
    expect(got.map(({ event }) => event)).toEqual(['events', 'events']);
    expect(eventsIn(got).map(({ correlationId }) => correlationId)).toEqual([
      'c0',
      'c1',
      'c2',
      'c3',
      'c4',
      'later',
    ]);
  });

  it('says to the last one how many a reader has missed that reads nothing, and holds no more than a bound', async () => {
    const clock = new FakeClock();
    const watcher = new Watcher(clock, 100_000, () => undefined);
    const messages = watcher[Symbol.asyncIterator]();
    for (let at = 0; at < 30_000; at++) watcher.showEvent(eventOf(clock, `c${at}`));
    clock.advance(60);
    const { value } = await messages.next();
    const events = eventsIn([value as WatchMessage]);
    expect(events.length).toBeLessThanOrEqual(20_001);
    expect(countOf(events)).toBe(30_000);
    await messages.return(undefined);
  });

  it('shows as many events a second as it is to, and counts the others', async () => {
    const clock = new FakeClock();
    const watcher = new Watcher(clock, 1_000, () => undefined);
    const { got, done } = reading(watcher);
    for (let step = 0; step < 100; step++) {
      for (let at = 0; at < 500; at++) watcher.showEvent(eventOf(clock, `c${at}`));
      await clock.advanceAsync(100);
    }
    watcher.close();
    await done;
    const events = eventsIn(got);
    expect(countOf(events)).toBe(50_000);
    expect(events.length).toBeLessThan(10 * 1_000 * 1.3);
    expect(events.length).toBeGreaterThan(1_000);
  });

  it('gives the newest state alone, with what the first one told of the past', async () => {
    const clock = new FakeClock();
    const watcher = new Watcher(clock, 1_000, () => undefined);
    const recent = [eventOf(clock, 'past')];
    watcher.showState({ nowMs: 1, recent } as unknown as WatchState);
    watcher.showState({ nowMs: 2 } as unknown as WatchState);
    const { got, done } = reading(watcher);
    await clock.advanceAsync(0);
    watcher.close();
    await done;
    expect(got).toEqual([{ event: 'state', data: { nowMs: 2, recent } }]);
  });

  it('gives what comes while a slow reader is at the message before', async () => {
    const clock = new FakeClock();
    const watcher = new Watcher(clock, 1_000, () => undefined);
    const messages = watcher[Symbol.asyncIterator]();
    watcher.showState({ nowMs: 1 } as unknown as WatchState);
    await messages.next();
    watcher.showEvent(eventOf(clock, 'meanwhile'));
    await clock.advanceAsync(60);
    const { value } = await messages.next();
    expect(eventsIn([value as WatchMessage]).map(({ correlationId }) => correlationId)).toEqual([
      'meanwhile',
    ]);
    await messages.return(undefined);
  });

  it('is left once, whether its reader goes or it is closed', async () => {
    const clock = new FakeClock();
    let left = 0;
    const watcher = new Watcher(clock, 1_000, () => {
      left += 1;
    });
    const { done } = reading(watcher);
    watcher.close();
    await done;
    watcher.close();
    expect(left).toBe(1);
  });
});
