import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { fileURLToPath } from 'node:url';
import { type Connection, canJoin, type Frame, type Topic, type TopicTransport } from 'orrery';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { rejection, until } from '../fixtures/until.ts';

const JOINER = fileURLToPath(new URL('../fixtures/peers/joiner.ts', import.meta.url));

type End = TopicTransport & { close(): Promise<void> };

/**
 * A network in which ends can find each other.
 *
 * - `make`    an end of its own key, or of the one made of a seed.
 * - `process` what `fixtures/peers/joiner.ts` makes such an end of: entry, factory, options.
 */
export interface TopicNetwork {
  make(seed?: string): End;
  process(seed: string): readonly [entry: string, factory: string, options: object];
  close(): Promise<void>;
}

/** An end that has joined, and the addresses that it was told, in order. */
interface Joined {
  readonly end: End;
  readonly address: string;
  readonly topic: Topic;
  readonly found: string[];
}

/** What every transport promises that finds ends by a topic. `addressOf` makes what is found of what a listener says. */
export function topicTransportSuite(
  name: string,
  begin: () => Promise<TopicNetwork>,
  addressOf: (listening: string) => string,
): void {
  describe(`${name} finds ends by a topic (N-3.6)`, () => {
    let network: TopicNetwork;
    const ends: End[] = [];
    let child: ChildProcess | undefined;

    beforeEach(async () => {
      network = await begin();
    });
    afterEach(async () => {
      child?.kill('SIGKILL');
      child = undefined;
      await Promise.all(ends.splice(0).map((end) => end.close()));
      await network.close();
    });

    const make = (seed?: string): End => {
      const end = network.make(seed);
      ends.push(end);
      return end;
    };

    const join = async (
      topic: string,
      options: { seed?: string; found?: (address: string) => void } = {},
    ) => {
      const end = make(options.seed);
      const found: string[] = [];
      const { address } = await end.listen((connection) => {
        connection.onFrame((frame) => void connection.send(frame).catch(() => undefined));
      });
      const joined = await end.join(topic, (other) => {
        found.push(other);
        options.found?.(other);
      });
      return { end, address: addressOf(address), topic: joined, found } satisfies Joined;
    };

    const finds = (one: Joined, ...others: readonly Joined[]): Promise<unknown> =>
      until('the others to be found', () => others.every(({ address }) => one.found.includes(address)));

    const echoed = async (connection: Connection, frame: Frame): Promise<Frame> => {
      const answer = new Promise<Frame>((resolve) => connection.onFrame(resolve));
      await connection.send(frame);
      return answer;
    };

    it('says that it does', () => {
      expect(canJoin(make())).toBe(true);
    });

    it('tells three ends of each other, once, and carries frames to whom it has found', async () => {
      const [first, second, third] = [await join('work'), await join('work'), await join('work')];
      await finds(first, second, third);
      await finds(second, first, third);
      await finds(third, first, second);
      const connection = await first.end.connect(third.address);
      expect(await echoed(connection, 'are you there?')).toBe('are you there?');
      // Whoever comes later is found by another search; nobody is told again by it.
      const fourth = await join('work');
      await finds(first, fourth);
      expect(first.found.toSorted()).toEqual(
        [second, third, fourth].map(({ address }) => address).toSorted(),
      );
      expect(third.topic.trouble).toBeUndefined();
    });

    it('finds nobody of another topic', async () => {
      const [one, other, another] = [await join('one'), await join('other'), await join('one')];
      await finds(one, another);
      await finds(another, one);
      const last = await join('one');
      await finds(one, last);
      expect([one.found.length, other.found, another.found.includes(other.address)]).toEqual([2, [], false]);
    });

    it('finds nobody who has left, or listens no more, and goes on for the others', async () => {
      const [staying, leaving, closing] = [await join('work'), await join('work'), await join('work')];
      await finds(staying, leaving, closing);
      await finds(leaving, staying);
      const connection = await staying.end.connect(leaving.address);
      await leaving.topic.leave();
      await leaving.topic.leave();
      await closing.end.close();
      const late = await join('work');
      await finds(late, staying);
      await finds(staying, late);
      const later = await join('work');
      await finds(late, later);
      expect(late.found.toSorted()).toEqual([staying.address, later.address].toSorted());
      expect(leaving.found).not.toContain(late.address);
      expect(await echoed(connection, 'still?')).toBe('still?');
    });

    it('finds an end again that has left and joins again', async () => {
      const [one, other] = [await join('work'), await join('work')];
      await finds(one, other);
      await finds(other, one);
      await other.topic.leave();
      const found: string[] = [];
      await other.end.join('work', (address) => found.push(address));
      await until('it to find the other', () => found.includes(one.address));
    });

    it('finds a process again that was killed and begins anew with the same key', async () => {
      const start = async (): Promise<ChildProcess> => {
        const [entry, factory, options] = network.process('5e'.repeat(32));
        const started = spawn(process.execPath, [JOINER, entry, factory, JSON.stringify(options), 'work'], {
          stdio: ['ignore', 'pipe', 'inherit'],
        });
        await once(started.stdout as NodeJS.ReadableStream, 'data');
        return started;
      };
      const open: Connection[] = [];
      let losses = 0;
      const one = await join('work', {
        found: (address) => {
          one.end.connect(address).then(
            (connection) => {
              open.push(connection);
              connection.onLost(() => {
                losses += 1;
              });
            },
            () => undefined,
          );
        },
      });
      child = await start();
      const first = await until('a connection', () => open[0]);
      expect(await echoed(first, 'first')).toBe('first');
      child.kill('SIGKILL');
      await until('its loss', () => losses === 1);
      child = await start();
      const second = await until('another connection', () => open[1]);
      expect(await echoed(second, 'second')).toBe('second');
      expect(new Set(one.found).size).toBe(1);
    });

    it('refuses what is no topic, a topic twice, and one that joins before it listens', async () => {
      const end = make();
      const refused = async (topic: unknown): Promise<string> => {
        const { code, message } = await rejection(end.join(topic as string, () => undefined));
        expect(code).toBe('INVALID_OPTIONS');
        return message;
      };
      expect(await refused('')).toMatch(/^topic is "", expected a text of 1 to 256 characters$/);
      expect(await refused('x'.repeat(257))).toMatch(
        /^topic is "x+.*expected a text of 1 to 256 characters$/,
      );
      expect(await refused(7)).toMatch(/^topic is 7, expected/);
      expect(await refused('work')).toMatch(/^isListening is false, expected true before "work" is joined$/);
      await end.listen(() => undefined);
      const topic = await end.join('work', () => undefined);
      expect(await refused('work')).toMatch(/^topic is "work", expected one that is not joined yet$/);
      await topic.leave();
      await (await end.join('work', () => undefined)).leave();
    });
  });
}
