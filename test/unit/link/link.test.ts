import { describe, expect, it } from 'vitest';
import type { OutFlow } from '../../../runtime/mailbox/out-flow.ts';
import { REPLY } from '../../../runtime/mailbox/mail.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { type LinkEnd, linkPair } from '../../fixtures/link-pair.ts';

const CREDIT_WINDOW = 1_024;
const WAKE_EVERY = 256;
const PATIENCE_MS = 100;

function setUp() {
  const clock = new FakeClock();
  const [end, other] = linkPair(clock);
  const sendMany = (count: number): void => {
    for (let n = 0; n < count; n++) end.send(0, n);
  };
  const deliverAll = (to: LinkEnd = other): void => {
    while (to.deliver());
  };
  return { clock, end, other, sendMany, deliverAll };
}

describe('the credit of a link', () => {
  it('does not count any more once the other side has taken in nothing for 100 ms', () => {
    const { clock, end, sendMany } = setUp();
    sendMany(CREDIT_WINDOW + 500);
    expect([end.link.flush(), end.posted]).toEqual([false, CREDIT_WINDOW]);
    clock.advance(PATIENCE_MS - 1);
    expect([end.link.flush(), end.posted]).toEqual([false, CREDIT_WINDOW]);
    clock.advance(1);
    expect([end.link.flush(), end.posted]).toEqual([true, CREDIT_WINDOW + 500]);
  });

  it('counts from the last time that there was room', () => {
    const { clock, end, other, sendMany, deliverAll } = setUp();
    sendMany(CREDIT_WINDOW + 500);
    end.link.flush();
    clock.advance(PATIENCE_MS - 1);
    deliverAll();
    other.takeIn(10);
    end.link.flush();
    clock.advance(PATIENCE_MS - 1);
    // What was written ahead goes in one post.
    expect([end.link.flush(), end.posted]).toEqual([false, CREDIT_WINDOW + 256]);
    clock.advance(PATIENCE_MS - 1);
    expect([end.link.flush(), end.posted]).toEqual([false, CREDIT_WINDOW + 256]);
  });

  it('holds up no answers, cancels and pulls', () => {
    const { end, other, sendMany, deliverAll } = setUp();
    sendMany(CREDIT_WINDOW + 1);
    end.link.sendReply(7, REPLY.value, 'yes', false);
    end.link.sendCancel('m1');
    end.link.sendPull(8, 2);
    expect(end.link.flush()).toBe(false);
    deliverAll();
    expect([other.heard.mails.length, end.link.queued]).toEqual([CREDIT_WINDOW, 1]);
    expect([other.heard.replies, other.heard.cancels, other.heard.pulls]).toEqual([
      [[7, REPLY.value, 'yes']],
      ['m1'],
      [[8, 2]],
    ]);
  });

  it('wakes a side that waits once 256 are taken in, and nobody else', () => {
    const { end, other, sendMany, deliverAll } = setUp();
    sendMany(CREDIT_WINDOW);
    end.link.flush();
    deliverAll();
    other.takeIn(WAKE_EVERY);
    expect(end.undelivered).toBe(0);
    sendMany(2 * WAKE_EVERY);
    expect(end.link.flush()).toBe(false);
    deliverAll();
    other.takeIn(WAKE_EVERY - 1);
    expect(end.undelivered).toBe(0);
    other.takeIn(1);
    expect(end.undelivered).toBe(1);
    deliverAll(end);
    expect([end.wakes, end.link.isDrained]).toEqual([1, true]);
    other.takeIn(WAKE_EVERY);
    expect(end.undelivered).toBe(0);
  });

  it('is not missed when it comes while a side is about to wait for it', () => {
    const { clock, end, other, sendMany, deliverAll } = setUp();
    sendMany(CREDIT_WINDOW);
    end.link.flush();
    deliverAll();
    sendMany(10);
    // The clock is read between looking for credit and asking to be woken.
    const read = clock.monotonicMs.bind(clock);
    clock.monotonicMs = () => {
      other.takeIn(WAKE_EVERY);
      return read();
    };
    expect([end.link.flush(), end.posted]).toEqual([true, CREDIT_WINDOW + 10]);
  });
});

describe('a link', () => {
  it('says of each answer where it came from outside, whatever carries it (F-09)', () => {
    const { end, other, deliverAll } = setUp();
    const taint = ['web:a'];
    end.link.sendReply(1, REPLY.value, { plain: true }, false, taint);
    end.link.sendReply(2, REPLY.value, new Map([[1, 2n]]), true, taint);
    end.link.sendReply(3, REPLY.empty, undefined, true, taint);
    end.link.sendReply(4, REPLY.chunk, 1n, false, taint);
    end.link.sendReply(5, REPLY.value, 'from inside', false);
    end.link.flush();
    end.link.sendReply(6, REPLY.value, 'alone', false, taint);
    end.link.flush();
    deliverAll();
    expect(other.heard.replies).toMatchObject([
      [1, REPLY.value, { plain: true }, taint],
      [2, REPLY.value, new Map([[1, 2n]]), taint],
      [3, REPLY.empty, undefined, taint],
      [4, REPLY.error, { code: 'NOT_SERIALISABLE' }, taint],
      [5, REPLY.value, 'from inside'],
      [6, REPLY.value, 'alone', taint],
    ]);
    expect(other.heard.replies[4]).toHaveLength(3);
  });

  it('replaces what cannot be carried by the reason, and carries everything beside it', () => {
    const { end, other, deliverAll } = setUp();
    const circle: unknown[] = [];
    circle.push(circle);
    const structured = { structured: true } as const;
    end.send(0, 'before');
    end.send(0, { deep: [1n] });
    end.send(1, circle);
    end.send(2, new Map([[1, 2n]]), undefined, structured);
    end.send(2, { run: () => 1 }, undefined, structured);
    end.send(1, 'fine itself', undefined, { unknown: { size: 1n } });
    end.send(0, 'after');
    end.link.sendReply(1, REPLY.value, 1n, false);
    end.link.sendReply(2, REPLY.value, 1n, true);
    end.link.sendReply(3, REPLY.chunk, () => 1, true);
    end.link.flush();
    deliverAll();
    expect(other.heard.mails.map(({ payload, fault }) => fault ?? payload)).toEqual([
      'before',
      'NOT_SERIALISABLE',
      'NOT_SERIALISABLE',
      new Map([[1, 2n]]),
      'NOT_SERIALISABLE',
      'NOT_SERIALISABLE',
      'after',
    ]);
    expect(other.heard.replies).toMatchObject([
      [1, REPLY.error, { code: 'NOT_SERIALISABLE' }],
      [2, REPLY.value, 1n],
      [3, REPLY.error, { code: 'NOT_SERIALISABLE' }],
    ]);
    end.send(2, 'later');
    end.link.flush();
    deliverAll();
    expect(other.heard.mails.at(-1)).toMatchObject({ payload: 'later', fault: undefined, sequence: 3 });
  });

  it('counts what it posts once, also when that is sent again', () => {
    const { end, other, sendMany, deliverAll } = setUp();
    sendMany(3);
    end.link.flush();
    const [flow] = end.flows;
    for (const { mail } of flow?.unsettledEntries() ?? []) end.link.sendMail(flow as OutFlow, mail);
    sendMany(1);
    end.link.flush();
    deliverAll();
    expect([end.posted, other.heard.mails.length]).toEqual([4, 7]);
  });

  it('tells of room once for each time that somebody asked', () => {
    const { end, other } = setUp();
    other.link.tellOfRoom();
    expect(end.undelivered).toBe(0);
    end.link.wantRoom();
    end.link.tellOfRoom();
    expect([end.undelivered, other.undelivered]).toEqual([0, 0]);
    other.link.tellOfRoom();
    other.link.tellOfRoom();
    expect(end.undelivered).toBe(1);
    end.link.wantRoom();
    other.link.tellOfRoom();
    expect(end.undelivered).toBe(2);
  });

  it('posts few asks at once, each by itself, and of many a quarter of their peak', () => {
    const { end, other, deliverAll } = setUp();
    for (let ask = 0; ask < 7; ask++) end.send(0, ask, ask);
    expect([other.undelivered, end.link.asksInFlight]).toEqual([7, 7]);
    for (let ask = 7; ask < 80; ask++) end.send(0, ask, ask);
    end.link.flush();
    deliverAll();
    expect(other.link.remotePeak).toBe(80);
    for (let ask = 0; ask < 79; ask++) other.link.sendReply(ask, REPLY.value, ask, false);
    expect(end.undelivered).toBe(3);
    other.link.flush();
    deliverAll(end);
    expect(end.heard.replies).toHaveLength(79);
    // What is in flight goes down, and batches with it.
    end.link.asksInFlight = 0;
    for (let post = 0; post < 60; post++) {
      end.send(0, 'x', 200 + post);
      end.link.asksInFlight = 0;
      end.link.flush();
    }
    deliverAll();
    expect(other.link.remotePeak).toBeLessThan(8);
    other.link.sendReply(300, REPLY.value, 1, false);
    expect(end.undelivered).toBe(1);
  });
});

describe('a batch that is too large for one message', () => {
  it('goes in several, and nothing of it is called uncarriable', () => {
    const { end, other, deliverAll } = setUp();
    // Written in a batch of more than fifty it is too much.
    const heavy = {
      toJSON: (key: string) => {
        if (Number(key) >= 50) throw new RangeError('Invalid string length');
        return 'heavy';
      },
    };
    for (let n = 0; n < 127; n++) end.send(n, heavy);
    expect([end.link.flush(), other.undelivered, end.posted]).toEqual([true, 4, 127]);
    deliverAll();
    const heard = other.heard.mails.map(({ flow, sequence, payload, fault }) => [
      flow,
      sequence,
      payload,
      fault,
    ]);
    expect(heard).toEqual(
      Array.from({ length: 127 }, (_, n) => [
        end.flows[n % 3]?.flow,
        1 + Math.floor(n / 3),
        'heavy',
        undefined,
      ]),
    );
  });
});

/** What comes in the other order, or not at all, would let the test run into its timeout. */
const LONG_MS = 60_000;

describe('the rest of a link', () => {
  it('ends at once when the other side has posted since it was expected to', () => {
    const { end, other } = setUp();
    end.link.expect();
    other.send(0, 'a');
    other.link.flush();
    end.link.rest(LONG_MS);
    end.link.expect();
    other.link.sendReply(7, REPLY.value, 'yes', false);
    other.link.flush();
    end.link.rest(LONG_MS);
    expect(end.undelivered).toBe(2);
  });

  it('ends by itself when nothing comes, and what this side posts does not end it', () => {
    const { end } = setUp();
    end.link.expect();
    end.send(0, 'a');
    end.link.flush();
    const startedMs = performance.now();
    end.link.rest(5);
    expect(performance.now() - startedMs).toBeGreaterThan(4);
  });
});

describe('The posts of a link', () => {
  /** How many posts are there before the code that sends is over. */
  const postsOf = (kind: number): number => {
    const { end, other } = setUp();
    for (let n = 0; n < 40; n++) end.link.sendReply(1, kind, n, false);
    let posts = 0;
    while (other.deliver()) posts += 1;
    end.link.flush();
    while (other.deliver());
    expect(other.heard.replies).toEqual(Array.from({ length: 40 }, (_, n) => [1, kind, n]));
    return posts;
  };

  it('have 16 chunks of a stream each, and one answer where few asks wait', () => {
    expect([postsOf(REPLY.chunk), postsOf(REPLY.value)]).toEqual([2, 40]);
  });
});
