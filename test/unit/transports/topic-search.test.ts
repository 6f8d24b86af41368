import { describe, expect, it } from 'vitest';
import { TopicSearch } from '../../../transports/topics/topic-search.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const SECOND = 1_000;

/** A search whose network holds what `there` says, and tells what becomes of it. */
const searching = (options: { maxFound?: number; announces?: boolean } = {}) => {
  const clock = new FakeClock();
  const network = { there: new Set<string>(), announces: options.announces ?? true, fails: false };
  const told: string[] = [];
  const at = { announced: [] as number[], searched: [] as number[] };
  const search = new TopicSearch({
    clock,
    limits: { maxFound: options.maxFound ?? 10, searchMs: 60 * SECOND },
    announceMs: 600 * SECOND,
    announce: async () => {
      at.announced.push(clock.monotonicMs() / SECOND);
      if (network.fails) throw new Error('nobody answers');
      return network.announces;
    },
    search: async (found) => {
      at.searched.push(clock.monotonicMs() / SECOND);
      for (const address of network.there) found(address);
    },
    onFound: (address) => told.push(address),
  });
  return { clock, network, told, at, search };
};

describe('A search for the ends of a topic', () => {
  it('begins at once, waits twice as long from one to the next, and at most as long as it is told', async () => {
    const { clock, at, search } = searching();
    await search.start();
    await clock.advanceAsync(250 * SECOND);
    expect(at.searched).toEqual([0, 1, 3, 7, 15, 31, 63, 123, 183, 243]);
    search.soon();
    await clock.advanceAsync(5 * SECOND);
    expect(at.searched.slice(10)).toEqual([251, 253]);
  });

  it('is not put off by being asked to search soon, again and again', async () => {
    const { clock, at, search } = searching();
    await search.start();
    await clock.advanceAsync(70 * SECOND);
    for (let turn = 0; turn < 40; turn++) {
      search.soon();
      await clock.advanceAsync(SECOND / 10);
    }
    expect(at.searched.filter((second) => second > 63)).toEqual([71, 72, 73, 74]);
  });

  it('tells of an end once, and again when a search finds it after it was lost', async () => {
    const { clock, network, told, search } = searching();
    network.there.add('one');
    await search.start();
    await clock.advanceAsync(100 * SECOND);
    expect(told).toEqual(['one']);
    search.forget('one');
    search.forget('one');
    search.show('one');
    await clock.advanceAsync(SECOND / 2);
    expect(told).toEqual(['one']);
    await clock.advanceAsync(SECOND);
    expect(told).toEqual(['one', 'one']);
  });

  it('tells at once of an end that shows itself, once however often it does', async () => {
    const { clock, told, search } = searching();
    await search.start();
    for (let turn = 0; turn < 100; turn++) {
      search.show('one');
      search.forget('one');
    }
    await clock.advanceAsync(0);
    expect(told).toEqual(['one']);
  });

  it('forgets an end that three searches in a row have not found', async () => {
    const { clock, network, told, search } = searching();
    network.there.add('one');
    await search.start();
    network.there.clear();
    await clock.advanceAsync(3 * SECOND);
    network.there.add('one');
    await clock.advanceAsync(4 * SECOND);
    expect(told).toEqual(['one']);
    network.there.clear();
    await clock.advanceAsync(100 * SECOND);
    network.there.add('one');
    await clock.advanceAsync(60 * SECOND);
    expect(told).toEqual(['one', 'one']);
  });

  it('remembers no more than it may, and others once there is room', async () => {
    const { clock, network, told, search } = searching({ maxFound: 3 });
    for (let index = 0; index < 10_000; index++) network.there.add(`fake-${index}`);
    await search.start();
    await clock.advanceAsync(100 * SECOND);
    expect(told).toEqual(['fake-0', 'fake-1', 'fake-2']);
    network.there = new Set(['fake-0', 'real']);
    await clock.advanceAsync(240 * SECOND);
    expect(told).toEqual(['fake-0', 'fake-1', 'fake-2', 'real']);
  });

  it('announces again when that holds no more, or nobody took it', async () => {
    const { clock, network, at, search } = searching({ announces: false });
    await search.start();
    expect(search.isAnnounced).toBe(false);
    await clock.advanceAsync(4 * SECOND);
    network.announces = true;
    await clock.advanceAsync(4 * SECOND);
    expect([at.announced, search.isAnnounced]).toEqual([[0, 1, 3, 7], true]);
    await clock.advanceAsync(700 * SECOND);
    expect(at.announced.slice(4)).toEqual([663]);
    search.renew();
    await clock.advanceAsync(SECOND);
    expect(at.announced.slice(4)).toHaveLength(2);
  });

  it('says what went wrong, tries again, and forgets nobody for it', async () => {
    const { clock, network, told, search } = searching();
    network.there.add('one');
    await search.start();
    network.fails = true;
    search.renew();
    await clock.advanceAsync(300 * SECOND);
    expect(search.trouble).toBe('nobody answers');
    network.fails = false;
    await clock.advanceAsync(60 * SECOND);
    expect([search.trouble, told]).toEqual([undefined, ['one']]);
  });

  it('starts although the first announcement fails', async () => {
    const { network, search } = searching();
    network.fails = true;
    await search.start();
    expect([search.trouble, search.isAnnounced]).toEqual(['nobody answers', false]);
  });

  it('tells nothing, and has no timer, once it was stopped', async () => {
    const { clock, network, told, search } = searching();
    await search.start();
    network.there.add('one');
    search.show('another');
    await search.stop();
    await clock.advanceAsync(100 * SECOND);
    expect([told, clock.pending]).toEqual([[], 0]);
  });
});
