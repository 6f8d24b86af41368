import { beforeEach, describe, expect, it } from 'vitest';
import type { Remembered } from '../../../runtime/journal/history.ts';
import { fromEnvelope } from '../../../runtime/mailbox/mail.ts';
import { CrossingRing } from '../../../runtime/observe/crossing-ring.ts';
import { TRAFFIC, TrafficRing } from '../../../runtime/observe/traffic-ring.ts';
import { type A2AEnvelope, SCHEMA_VERSION } from '../../../runtime/protocol/envelope.ts';
import type { ThreadNode } from '../../../runtime/thread/thread-node.ts';
import { NodeHistory } from '../../../runtime/thread/node-history.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { rowOf } from '../observe/rows.ts';

const CAPACITY = 64;

let clock: FakeClock;
let traffic: TrafficRing;
let crossings: CrossingRing;
let node: { readonly log: { unaudited: number } };
let history: NodeHistory;
let given: Remembered[];
/** Answers for the journal. */
let answer: (remembered: Remembered) => Promise<void>;

beforeEach(() => {
  clock = new FakeClock();
  traffic = new TrafficRing(CAPACITY);
  crossings = new CrossingRing(CAPACITY);
  given = [];
  answer = () => Promise.resolve();
  const rest = {
    id: 'worker-1',
    seams: { clock },
    agentOf: () => 'bo',
    judge: { partyOf: () => ({ tier: 2 }) },
  };
  node = { log: { traffic, crossings, unaudited: 0 }, ...rest } as never;
  history = new NodeHistory(node as unknown as ThreadNode, (remembered) => {
    given.push(remembered);
    return answer(remembered);
  });
});

const mail = (n: number, payload: unknown = `word ${n}`) =>
  fromEnvelope({
    id: `e-${n}`,
    schemaVersion: SCHEMA_VERSION,
    ...{ sender: 'ada', recipient: 'bo', correlationId: 'talk', type: 'request', timestamp: n, payload },
  });
const say = (from: number, count: number): void => {
  for (let n = from; n < from + count; n++) traffic.note(TRAFFIC.sent, mail(n), n, rowOf('bo', 2));
};
const settle = () => new Promise<void>((resolve) => setImmediate(resolve));
const collect = async (): Promise<void> => {
  history.collect();
  await settle();
};
const said = () =>
  given.flatMap(({ traffic: texts = [] }) => texts.map((text) => JSON.parse(text) as A2AEnvelope));
const missed = () => given.reduce((sum, remembered) => sum + remembered.missed, 0);

describe('What a thread gives the journal to remember', () => {
  it('is what was sent and answered, once, and nothing of what became of it', async () => {
    traffic.note(TRAFFIC.sent, mail(1), 1, rowOf('bo', 2));
    traffic.note(TRAFFIC.received, mail(1), 1, undefined);
    traffic.note(TRAFFIC.settled, mail(1), 1, 0);
    traffic.note(TRAFFIC.replied, mail(1), 2, 'an answer');
    await collect();
    await collect();
    expect(said().map(({ sender, type, payload }) => [sender, type, payload])).toEqual([
      ['ada', 'request', 'word 1'],
      ['bo', 'response', 'an answer'],
    ]);
    expect(given).toHaveLength(1);
    say(2, 1);
    await collect();
    expect(said().map(({ id }) => id)).toEqual(['e-1', 'e-1~reply', 'e-2']);
  });

  it('is one lot at a time: meanwhile the ring holds the rest', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    answer = () => promise;
    say(0, 10);
    await collect();
    say(10, 10);
    await collect();
    expect(said()).toHaveLength(10);
    resolve();
    await settle();
    await collect();
    expect(said()).toHaveLength(20);
    expect(missed()).toBe(0);
  });

  it('is counted where the ring has forgotten it, or the journal did not take it', async () => {
    say(0, CAPACITY + 36);
    await collect();
    expect(said().map(({ id }) => id)[0]).toBe('e-36');
    expect(missed()).toBe(36);
    answer = () => Promise.reject(new Error('its thread has ended'));
    say(200, 5);
    await collect();
    answer = () => Promise.resolve();
    given = [];
    node.log.unaudited = 7;
    await collect();
    expect(given).toEqual([{ crossings: [], traffic: [], missed: 12 }]);
    expect(node.log.unaudited).toBe(0);
  });

  it('is asked for before the ring forgets it', () => {
    say(0, CAPACITY / 2);
    expect(history.isBehind).toBe(false);
    say(100, 1);
    expect(history.isBehind).toBe(true);
    history.collect();
    expect(history.isBehind).toBe(false);
  });

  it('is no more a second than costs little, and what is left comes later', async () => {
    for (let n = 0; n < 5_000; n += CAPACITY / 2) {
      say(n, CAPACITY / 2);
      await collect();
    }
    const atOnce = said().length;
    expect(atOnce).toBeGreaterThan(1_500);
    expect(atOnce).toBeLessThan(2_000);
    clock.jump(1_000);
    await collect();
    expect(said().length).toBe(atOnce + CAPACITY);
    expect(said().at(-1)?.id).toBe('e-5023');
  });

  it.each([
    ['large', 'x'.repeat(20_000)],
    ['larger than it looks', [...Array.from({ length: 2_000 }, () => 1), 'x'.repeat(100_000)]],
    ['of what JSON changes', { at: new Map([[1, 2]]) }],
    ['a number that JSON cannot say', 12n],
  ])('has no payload that is %s', async (_, payload) => {
    traffic.note(TRAFFIC.sent, mail(1, payload), 1, rowOf('bo', 2));
    await collect();
    expect(said()).toMatchObject([{ id: 'e-1', correlationId: 'talk' }]);
    expect(said()[0]).not.toHaveProperty('payload');
  });

  it('is each crossing once, and how many were forgotten', async () => {
    const cross = (from: number, count: number): void => {
      for (let n = from; n < from + count; n++) crossings.note(mail(n), 3, rowOf('bo', 2));
    };
    cross(0, 3);
    await collect();
    await collect();
    cross(3, CAPACITY + 2);
    await collect();
    const events = given.flatMap(({ crossings: texts = [] }) =>
      texts.map((text) => JSON.parse(text) as object),
    );
    expect(events).toHaveLength(3 + CAPACITY);
    expect(events[0]).toMatchObject({ envelopeId: 'e-0', security: true, place: 'worker-1' });
    expect(events.at(-1)).toMatchObject({ envelopeId: `e-${CAPACITY + 4}` });
    expect(missed()).toBe(2);
  });

  it('has arrived when the thread may end', async () => {
    const { promise, resolve } = Promise.withResolvers<void>();
    answer = () => promise;
    say(0, 1);
    await collect();
    say(1, 1);
    let isOver = false;
    const over = history.leave().then(() => {
      isOver = true;
    });
    await settle();
    expect(isOver).toBe(false);
    resolve();
    await over;
    expect(said()).toHaveLength(2);
  });

  it('is counted where the thread ends before it has time for it', async () => {
    const large = 'x'.repeat(16_000);
    for (let lot = 0; lot < 3; lot++) {
      for (let n = 0; n < CAPACITY; n++) traffic.note(TRAFFIC.sent, mail(n, large), n, rowOf('bo', 2));
      await collect();
    }
    await history.leave();
    expect(said().length + missed()).toBe(3 * CAPACITY);
    expect(missed()).toBeGreaterThan(0);
  });
});
