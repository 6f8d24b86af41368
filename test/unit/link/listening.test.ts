import type { EventLoop } from '../../../runtime/protocol/seams.ts';
import { describe, expect, it } from 'vitest';
import { Listening } from '../../../runtime/link/listening.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { FakeLoop } from '../../fixtures/fake-loop.ts';

/** How long one look takes; how long listening goes on in vain, and how long in all. */
const LOOK_MS = 0.01;
const PATIENCE_MS = 0.1;
const TURN_MS = 5;
const LONGEST_PAUSE = 1_024;
/** Where threads share a core: how long a thread sleeps, and how many messages it must have saved to do so again. */
const SLEEP_MS = 2;
const FIRST_PAUSE_ASLEEP = 128;

/** `comes` says whether there is a message at a look, counted from 1. */
function setUp(comes: (look: number) => boolean, listens: EventLoop['listens'] = 'awake') {
  const clock = new FakeClock();
  const loop = new FakeLoop();
  loop.listens = listens;
  const log: string[] = [];
  const listening = new Listening({ clock, loop, flush: () => log.push('flush') });
  let looks = 0;
  const other = {
    take: () => {
      looks += 1;
      clock.advance(LOOK_MS);
      const came = comes(looks);
      log.push(came ? 'came' : 'nothing');
      return came;
    },
    await: (ms: number) => {
      looks += 1;
      const came = comes(looks);
      clock.advance(came ? LOOK_MS : ms);
      log.push(came ? 'came' : 'slept');
      return came;
    },
  };
  /** A message comes as an event of its own; says how often and how long was listened then. */
  const message = () => {
    const atMs = clock.monotonicMs();
    const before = looks;
    listening.listenTo(other);
    loop.settle();
    return { looks: looks - before, ms: clock.monotonicMs() - atMs };
  };
  return { clock, loop, listening, other, log, message };
}

/** How many messages go by until one is listened after; at most `most`. */
function passedBy(message: () => { looks: number }, most = 5_000): number {
  for (let count = 0; count < most; count++) if (message().looks > 0) return count;
  return most;
}

describe('Listening', () => {
  it('listens no longer than its patience when nothing comes', () => {
    const { message, loop } = setUp(() => false);
    const { looks, ms } = message();
    expect(looks).toBeGreaterThan(1);
    expect(ms).toBeGreaterThanOrEqual(PATIENCE_MS);
    expect(ms).toBeLessThanOrEqual(PATIENCE_MS + LOOK_MS);
    expect(loop.soonCount).toBe(0);
  });

  it('begins its patience anew with each message, and ends with its turn', () => {
    const every = PATIENCE_MS / LOOK_MS - 2;
    const { message } = setUp((look) => look % every === 0);
    const { ms } = message();
    expect(ms).toBeGreaterThanOrEqual(TURN_MS);
    expect(ms).toBeLessThanOrEqual(TURN_MS + LOOK_MS);
    const seldom = setUp((look) => look === 3);
    expect(seldom.message().ms).toBeCloseTo(3 * LOOK_MS + PATIENCE_MS, 1);
  });

  it('listens again after the next message when its turn was over with messages coming', () => {
    const { message } = setUp(() => true);
    expect([message(), message(), message()].every(({ looks }) => looks > 100)).toBe(true);
  });

  it('lets twice as many messages go by each time that nothing came, up to 1,024', () => {
    const { message } = setUp(() => false);
    const passed = Array.from({ length: 13 }, () => passedBy(message));
    expect(passed).toEqual([0, 1, 3, 7, 15, 31, 63, 127, 255, 511, 1_023, LONGEST_PAUSE, LONGEST_PAUSE]);
  });

  it('recovers soon when something comes again', () => {
    let isTalking = false;
    const { message } = setUp(() => isTalking);
    for (let tries = 0; tries < 12; tries++) passedBy(message);
    isTalking = true;
    expect(passedBy(message)).toBe(LONGEST_PAUSE);
    expect([passedBy(message), passedBy(message), passedBy(message)]).toEqual([0, 0, 0]);
    isTalking = false;
    expect(passedBy(message)).toBe(0);
    expect(passedBy(message)).toBe(1);
  });

  it('halves the pause with each message that came, also when it was in vain in the end', () => {
    let wanted = 0;
    const { message } = setUp(() => wanted-- > 0);
    for (let tries = 0; tries < 6; tries++) passedBy(message);
    wanted = 0;
    expect(passedBy(message)).toBe(63);
    const count = passedBy(() => {
      wanted = 3;
      return message();
    });
    expect(count).toBe(127);
    expect(passedBy(message)).toBe((127 >> 3) * 2 + 1);
  });

  it('does nothing where the thread may not wait', () => {
    const { loop, listening, other, log } = setUp(() => true, 'never');
    for (let count = 0; count < 10; count++) listening.listenTo(other);
    expect([loop.soonCount, loop.settle(), log]).toEqual([0, 0, []]);
  });

  it('sleeps where the other threads need its core, and goes on with what wakes it', () => {
    const { message, log } = setUp((look) => look <= 5, 'asleep');
    const { looks, ms } = message();
    expect(looks).toBe(6);
    expect(ms).toBeCloseTo(5 * LOOK_MS + SLEEP_MS, 3);
    expect(log.filter((line) => line !== 'flush')).toEqual([...Array(5).fill('came'), 'slept']);
  });

  it('ends with its turn, asleep too', () => {
    const { message } = setUp(() => true, 'asleep');
    const { ms } = message();
    expect(ms).toBeGreaterThanOrEqual(TURN_MS);
    expect(ms).toBeLessThanOrEqual(TURN_MS + LOOK_MS);
  });

  it('lets many messages go by after it slept in vain, which takes the time of many', () => {
    const { message } = setUp(() => false, 'asleep');
    const passed = Array.from({ length: 5 }, () => passedBy(message));
    const [first, second, third] = [1, 3, 7].map((times) => times * FIRST_PAUSE_ASLEEP);
    expect(passed).toEqual([0, first, second, third, LONGEST_PAUSE]);
  });

  it('posts what is due before each look', () => {
    const { message, log } = setUp((look) => look < 4);
    message();
    expect(log.length).toBeGreaterThan(8);
    expect(log.filter((_, at) => at % 2 === 0).every((line) => line === 'flush')).toBe(true);
    expect(log.filter((_, at) => at % 2 === 1)).not.toContain('flush');
  });

  it('looks only when the code that runs and its promises are done, and listens to one at a time', () => {
    const { loop, listening, other, log, clock } = setUp(() => false);
    const nobody = () => expect.unreachable('Nobody listens to the second one');
    const second = { take: nobody, await: nobody };
    listening.listenTo(other);
    listening.listenTo(second);
    listening.listenTo(other);
    expect([log, loop.soonCount]).toEqual([[], 1]);
    loop.settle(1);
    expect([log, loop.soonCount]).toEqual([['flush', 'nothing'], 1]);
    loop.settle();
    expect(clock.monotonicMs()).toBeLessThan(1);
  });
});
