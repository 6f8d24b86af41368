import { describe, expect, it } from 'vitest';
import { TimerWheel } from '../../../runtime/cell/timer-wheel.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

function wheelAt(startMs = 1_000_000) {
  const clock = new FakeClock(startMs);
  const wheel = new TimerWheel(clock);
  const fired: string[] = [];
  const add = (inMs: number, name = `${inMs}`) => wheel.add(clock.now() + inMs, () => fired.push(name));
  return { clock, wheel, fired, add };
}

const HOUR = 3_600_000;

describe('the timer wheel', () => {
  it('fires at the first tick that is not early', () => {
    const { clock, fired, add } = wheelAt();
    add(41);
    clock.advance(59);
    expect(fired).toEqual([]);
    clock.advance(1);
    expect(fired).toEqual(['41']);
  });

  it('fires on the dot where a time is a tick', () => {
    const { clock, fired, add } = wheelAt();
    add(40);
    clock.advance(39);
    expect(fired).toEqual([]);
    clock.advance(1);
    expect(fired).toEqual(['40']);
  });

  it('fires what has passed already in the next tick', () => {
    const { clock, fired, add } = wheelAt();
    add(-5_000);
    expect(fired).toEqual([]);
    clock.advance(20);
    expect(fired).toEqual(['-5000']);
  });

  it('passes the subject on, so that timers can share a function', () => {
    const { clock, wheel } = wheelAt();
    const subjects: number[] = [];
    const fire = (subject: number) => subjects.push(subject);
    for (const subject of [1, 2, 3]) wheel.add(clock.now() + 10, fire, subject);
    clock.advance(20);
    expect(subjects).toEqual([1, 2, 3]);
  });

  it('does not fire what was cancelled, and cancels twice without harm', () => {
    const { clock, fired, add } = wheelAt();
    const timer = add(100);
    add(100, 'neighbour');
    timer.cancel();
    timer.cancel();
    clock.advance(HOUR);
    timer.cancel();
    expect(fired).toEqual(['neighbour']);
  });

  it('lets a timer cancel others of its own tick', () => {
    const { clock, wheel, fired, add } = wheelAt();
    wheel.add(clock.now() + 100, () => second.cancel());
    const second = add(100, 'second');
    add(100, 'third');
    clock.advance(100);
    expect(fired).toEqual(['third']);
  });

  it('sleeps until the next occupied tick and not at all when empty', () => {
    const { clock, add } = wheelAt();
    expect(clock.pending).toBe(0);
    add(30_000);
    expect([clock.pending, clock.nextInMs]).toEqual([1, 30_000]);
    add(1_000);
    expect([clock.pending, clock.nextInMs]).toEqual([1, 1_000]);
    clock.advance(1_000);
    expect([clock.pending, clock.nextInMs]).toEqual([1, 29_000]);
    clock.advance(29_000);
    expect(clock.pending).toBe(0);
  });

  it('wakes once for a wheel that cancellation emptied', () => {
    const { clock, add } = wheelAt();
    add(500).cancel();
    expect(clock.pending).toBe(1);
    clock.advance(500);
    expect(clock.pending).toBe(0);
  });

  it('fires timers far beyond its span at their time', () => {
    const { clock, fired, add } = wheelAt();
    for (const inMs of [24 * HOUR, HOUR, 40_940, 40_960, 40_980, 100]) add(inMs);
    clock.advance(100);
    expect(fired.splice(0)).toEqual(['100']);
    clock.advance(40_860);
    expect(fired.splice(0)).toEqual(['40940', '40960']);
    clock.advance(20);
    expect(fired.splice(0)).toEqual(['40980']);
    clock.advance(HOUR - 40_981);
    expect(fired).toEqual([]);
    clock.advance(1);
    expect(fired.splice(0)).toEqual([`${HOUR}`]);
    clock.advance(23 * HOUR);
    expect(fired).toEqual([`${24 * HOUR}`]);
  });

  it('fires a timer of a month without a day to spare', () => {
    const { clock, fired, add } = wheelAt();
    add(40 * 24 * HOUR);
    expect(clock.nextInMs).toBe(2 ** 31 - 1);
    clock.advance(40 * 24 * HOUR - 1);
    expect(fired).toEqual([]);
    clock.advance(1);
    expect(fired).toHaveLength(1);
  });

  it('keeps time after it has slept for long', () => {
    const { clock, fired, add } = wheelAt();
    clock.advance(7 * HOUR + 13);
    add(30_000);
    clock.advance(29_999);
    expect(fired).toEqual([]);
    clock.advance(20);
    expect(fired).toEqual(['30000']);
  });

  it('fires what came due while the process was suspended, in the order of time', () => {
    const { clock, fired, add } = wheelAt();
    for (const inMs of [2 * HOUR, 100, 4 * HOUR, 50_000, 41_000]) add(inMs);
    clock.jump(3 * HOUR);
    clock.advance(0);
    expect(fired.splice(0)).toEqual(['100', '41000', '50000', `${2 * HOUR}`]);
    clock.advance(HOUR);
    expect(fired).toEqual([`${4 * HOUR}`]);
  });

  it('sleeps on when the clock wakes it too early', () => {
    const clock = new FakeClock(1_000_000);
    let earlyByMs = 3;
    const eager = {
      now: () => clock.now(),
      monotonicMs: () => clock.monotonicMs(),
      setTimer: (delayMs: number, fire: () => void) => clock.setTimer(delayMs - earlyByMs--, fire),
    };
    const fired: number[] = [];
    new TimerWheel(eager).add(1_000_100, () => fired.push(clock.now()));
    clock.advance(99);
    expect([fired, earlyByMs]).toEqual([[], -1]);
    clock.advance(1);
    expect(fired).toEqual([1_000_100]);
  });

  it('goes on with the timers behind one that throws', () => {
    const { clock, wheel, fired, add } = wheelAt();
    wheel.add(clock.now() + 20, () => {
      throw new Error('first');
    });
    add(20, 'same tick');
    add(40, 'next tick');
    expect(() => clock.advance(20)).toThrow('first');
    expect(fired).toEqual(['same tick']);
    clock.advance(20);
    expect(fired).toEqual(['same tick', 'next tick']);
  });

  it('gives a timer that adds itself again no second turn in the same tick', () => {
    const { clock, wheel } = wheelAt();
    let count = 0;
    const again = (): void => {
      count += 1;
      wheel.add(0, again);
    };
    wheel.add(0, again);
    clock.advance(200);
    expect(count).toBe(10);
    expect(clock.pending).toBe(1);
  });

  it('fires nothing after it is closed, not even what is left of the tick', () => {
    const { clock, wheel, fired, add } = wheelAt();
    wheel.add(clock.now() + 20, () => wheel.close());
    add(20);
    add(HOUR);
    clock.advance(2 * HOUR);
    expect(fired).toEqual([]);
    expect(clock.pending).toBe(0);
    expect(() => add(20)).toThrow(expect.objectContaining({ code: 'SYSTEM_STOPPED' }));
  });
});
