import { describe, expect, it } from 'vitest';
import { TurnLoop } from '../../../runtime/cell/turn-loop.ts';
import { FakeLoop } from '../../fixtures/fake-loop.ts';

type Cell = Parameters<TurnLoop['wake']>[0];

/** Time as two clocks tell it, one of which somebody can set; counts how often each is read. */
function newClock(atMs: number) {
  const reads = { now: 0, monotonicMs: 0 };
  const time = { atMs, offsetMs: 1_800_000_000_000.25 };
  const nowMs = (): number => Math.floor(time.atMs + time.offsetMs);
  const clock = {
    now: () => {
      reads.now += 1;
      return nowMs();
    },
    monotonicMs: () => {
      reads.monotonicMs += 1;
      return time.atMs;
    },
    setTimer: () => () => {},
  };
  return { clock, reads, time, nowMs };
}

function setUp({ atMs = 1_000, onFlush = () => {} } = {}) {
  const { clock, reads, time, nowMs } = newClock(atMs);
  const loop = new FakeLoop();
  const log: string[] = [];
  const undelivered: Cell[] = [];
  const turns: TurnLoop = new TurnLoop({
    clock,
    loop,
    flush: () => {
      log.push('flush');
      onFlush();
      for (const cell of undelivered.splice(0)) turns.wake(cell);
    },
    hasUndelivered: () => undelivered.length > 0,
  });
  /** A cell with `mails` to handle, each for `ms`. */
  const cellOf = (name: string, mails: number, ms: number, onHandled = () => {}): Cell => {
    let left = mails;
    const cell = {
      isQueued: false,
      isYoung: false,
      inHand: 0,
      run: (mayGoOn: () => boolean) => {
        while (left > 0) {
          left -= 1;
          time.atMs += ms;
          log.push(name);
          onHandled();
          if (mayGoOn()) continue;
          if (left > 0) turns.wake(cell as unknown as Cell);
          return;
        }
      },
    };
    return cell as unknown as Cell;
  };
  const handled = () => log.filter((line) => line !== 'flush');
  return { turns, loop, log, handled, time, reads, nowMs, cellOf, undelivered };
}

describe('the time of a TurnLoop', () => {
  it('is known from the first handling on, also right after the start of the clock', () => {
    const { turns, loop, cellOf, nowMs } = setUp({ atMs: 0 });
    turns.wake(cellOf('a', 1, 0));
    loop.settle();
    expect(turns.nowMs).toBe(nowMs());
  });

  it('follows a clock that is set back or forward, within a millisecond of handling', () => {
    for (const setMs of [-3_600_000, -700, 700, 3_600_000]) {
      const { turns, loop, cellOf, nowMs, time } = setUp();
      turns.wake(cellOf('before', 1, 1));
      loop.settle();
      expect(turns.nowMs).toBe(nowMs());
      time.offsetMs += setMs;
      turns.wake(cellOf('after', 1, 1));
      loop.settle();
      expect(turns.nowMs).toBe(nowMs());
    }
  });

  it('is never more than a millisecond old after a handling, and never before what is stamped', () => {
    const { turns, loop, cellOf, nowMs, time } = setUp();
    let handled = 0;
    const cell = cellOf('a', 200, 0.3, () => {
      handled += 1;
      if (handled % 7 === 0) expect(turns.stamp()).toBe(nowMs());
    });
    turns.wake(cell);
    let last = 0;
    for (let turn = 0; turn < 100 && handled < 200; turn++) {
      loop.turn();
      expect(turns.nowMs).toBeGreaterThanOrEqual(Math.max(last, nowMs() - 1));
      last = turns.nowMs;
    }
    expect(handled).toBe(200);
    time.atMs += 40;
    turns.begin();
    expect(turns.nowMs).toBe(nowMs());
  });

  it('is not read by what begins in the midst of a turn', () => {
    const { turns, loop, cellOf, reads } = setUp();
    turns.beginUnlessRunning();
    expect(reads.now).toBe(1);
    turns.wake(cellOf('a', 10, 0.01, () => turns.beginUnlessRunning()));
    loop.settle();
    expect(reads.now).toBe(2);
  });

  it('is read once a handling, and the wall clock once a millisecond', () => {
    const { turns, loop, cellOf, reads } = setUp();
    for (let cell = 0; cell < 10; cell++) turns.wake(cellOf(`c${cell}`, 40, 0.01));
    loop.settle();
    // Once to see whether a turn is over, once when it begins.
    expect(reads.monotonicMs).toBe(10 * 40 + 2);
    expect(reads.now).toBeLessThanOrEqual(5);
  });
});

describe('the turns of a TurnLoop', () => {
  it('run every cell that was woken, once each, after the code that runs now', () => {
    const { turns, loop, cellOf, handled } = setUp();
    const cells = [cellOf('a', 1, 0), cellOf('b', 2, 0)];
    for (const cell of [...cells, ...cells]) turns.wake(cell);
    expect([handled(), turns.isIdle]).toEqual([[], false]);
    expect(loop.settle()).toBe(1);
    expect([handled(), turns.isIdle]).toEqual([['a', 'b', 'b'], true]);
  });

  it('end after 5 ms, and go on when the event loop has turned', () => {
    const { turns, loop, cellOf, handled, time } = setUp();
    turns.wake(cellOf('a', 20, 1));
    turns.wake(cellOf('b', 1, 0));
    const fromMs = time.atMs;
    loop.settle();
    expect(time.atMs - fromMs).toBe(6);
    expect([handled(), loop.yieldedCount]).toEqual([Array.from({ length: 6 }, () => 'a'), 1]);
    // What arrives meanwhile waits its turn.
    turns.runArrived();
    turns.wake(cellOf('c', 1, 0));
    loop.settle();
    expect(handled()).toHaveLength(6);
    loop.turn();
    expect(handled().slice(6)).toEqual(['b', ...Array.from({ length: 6 }, () => 'a')]);
    for (let turn = 0; turn < 3; turn++) loop.turn();
    expect([handled().length, handled().includes('c'), turns.isIdle]).toEqual([22, true, true]);
  });

  it('post what handlers sent every 0.2 ms, and deliver within the thread before they end', () => {
    const { turns, loop, cellOf, log, undelivered } = setUp();
    turns.wake(cellOf('a', 40, 0.05));
    undelivered.push(cellOf('late', 1, 0));
    loop.settle();
    const posts = log.filter((line) => line === 'flush').length;
    expect(posts).toBeGreaterThanOrEqual(7);
    expect(posts).toBeLessThanOrEqual(10);
    expect(log).toContain('late');

    const quick = setUp();
    quick.turns.wake(quick.cellOf('a', 3, 0));
    quick.undelivered.push(quick.cellOf('b', 1, 0));
    quick.loop.settle();
    expect(quick.log).toEqual(['a', 'a', 'a', 'flush', 'b']);
  });

  it('let the event loop turn between the links of a chain that never ends', () => {
    const { turns, loop, cellOf, handled } = setUp();
    const next = (): void => loop.defer(() => turns.wake(cellOf('link', 1, 1, next)));
    next();
    loop.settle(1_000);
    expect(handled().length).toBeLessThan(10);
    const before = handled().length;
    loop.turn();
    expect(handled().length).toBeGreaterThan(before);
    expect(handled().length).toBeLessThan(20);
  });

  it('begin at once again when the last one was long ago', () => {
    const { turns, loop, cellOf, handled, time } = setUp();
    for (const [name, pauseMs] of [
      ['a', 0],
      ['b', 60],
      ['c', 5_000],
    ] as const) {
      time.atMs += pauseMs;
      turns.wake(cellOf(name, 1, 0));
      loop.settle();
      expect(handled().at(-1)).toBe(name);
    }
    expect(loop.yieldedCount).toBe(0);
  });

  it('resume a cell at once, unless a turn is going on or over', () => {
    const { turns, loop, cellOf, handled } = setUp();
    turns.resume(cellOf('at once', 1, 0));
    expect(handled()).toEqual(['at once']);
    const inner = cellOf('later', 1, 0);
    turns.wake(cellOf('outer', 1, 10, () => turns.resume(inner)));
    loop.settle();
    expect([handled().slice(1), loop.yieldedCount]).toEqual([['outer'], 1]);
    turns.resume(cellOf('also later', 1, 0));
    expect(handled()).toHaveLength(2);
    loop.turn();
    expect(handled().slice(2)).toEqual(['later', 'also later']);
  });

  it('watch a handler that goes on when the event loop has turned, unless it is done by then', () => {
    const { turns, loop, cellOf } = setUp();
    const [done, slow] = [cellOf('done', 0, 0), cellOf('slow', 0, 0)];
    let watched = 0;
    Object.assign(slow, { inHand: 1, watch: () => (watched += 1) });
    for (const cell of [done, slow, slow]) turns.goesOn(cell);
    expect([turns.isIdle, loop.yieldedCount, turns.busy.size]).toEqual([false, 1, 0]);
    loop.turn();
    expect(watched).toBe(1);
    expect([...turns.busy]).toEqual([slow]);
    expect([done.isYoung, slow.isYoung]).toEqual([false, false]);
  });
});
