import { describe, expect, it } from 'vitest';
import type { PeerAnswer, PeerMessage, PeerRequest } from '../../../runtime/peers/peer-message.ts';
import { readPeerMessages } from '../../../runtime/peers/peer-message.ts';
import { seededRandom } from '../../fixtures/seeded-random.ts';
import { sessionPair, type SessionEnd } from '../../fixtures/peers/session-pair.ts';

const turn = (): Promise<void> => new Promise((resolve) => setImmediate(resolve));

const request = (payload: unknown = 1): Omit<PeerRequest, 'n'> => ({
  type: 'request',
  wants: 'value',
  envelope: {
    id: 'e-1',
    schemaVersion: 1,
    sender: 'oslo/mars',
    recipient: 'rome/venus',
    type: 'request',
    timestamp: 1,
    payload,
    metadata: { tier: 2 },
  },
});

/** Asks, and notes what comes of it. */
function asking(end: SessionEnd, payload?: unknown) {
  const answers: PeerAnswer[] = [];
  const lost: (readonly [string, boolean])[] = [];
  const sent = end.session.request(request(payload), {
    onAnswer: (answer) => answers.push(answer),
    onLost: (...why) => lost.push(why),
  });
  return { sent, answers, lost };
}

const nested = (levels: number): unknown => JSON.parse(`${'['.repeat(levels)}${']'.repeat(levels)}`);

/** Says what no session says. */
const forge = (
  end: SessionEnd,
  payload: unknown,
  session?: { id: string; sequence: number },
): Promise<void> =>
  end.channel.send({
    ...(session === undefined ? {} : { session }),
    id: 'f',
    schemaVersion: 1,
    sender: 'system/peers',
    recipient: 'system/peers',
    type: 'notification',
    timestamp: 1,
    payload,
  });

describe('A session between two nodes', () => {
  it('brings requests in order, and each its answers', async () => {
    const [oslo, rome] = sessionPair();
    oslo.session.use(10);
    const asked = [asking(oslo, 'a'), asking(oslo, 'b')];
    await turn();
    expect(rome.asked.map(({ n, envelope }) => [n, envelope.payload])).toEqual([
      [0, 'a'],
      [1, 'b'],
    ]);
    rome.session.answer({ type: 'chunk', n: 1, value: 'one' });
    rome.session.answer({ type: 'done', n: 1 });
    rome.session.answer({ type: 'done', n: 0, value: 42 });
    await turn();
    expect(asked.map(({ answers }) => answers.map(({ type }) => type))).toEqual([
      ['done'],
      ['chunk', 'done'],
    ]);
    expect(oslo.session.counts).toEqual({ own: 0, served: 0 });
    expect(rome.session.counts).toEqual({ own: 0, served: 0 });
  });

  it('holds back what the other node does not take yet, and numbers only what it sends', async () => {
    const [oslo, rome] = sessionPair();
    const early = asking(oslo, 'early');
    await turn();
    expect(rome.asked).toEqual([]);
    oslo.session.use(1);
    const second = asking(oslo, 'second');
    const third = asking(oslo, 'third');
    second.sent.abort('nobody waits');
    await turn();
    expect(rome.asked.map(({ envelope }) => envelope.payload)).toEqual(['early']);
    rome.session.answer({ type: 'done', n: 0 });
    await turn();
    expect(rome.asked.map(({ n, envelope }) => [n, envelope.payload])).toEqual([
      [0, 'early'],
      [1, 'third'],
    ]);
    expect([early.answers.length, second.answers.length, third.answers.length]).toEqual([1, 0, 0]);
  });

  it('tells the other node what nobody waits for any more, and how much of a stream is wanted', async () => {
    const [oslo, rome] = sessionPair();
    oslo.session.use(10);
    const { sent, answers } = asking(oslo);
    sent.pull(3);
    sent.abort('it was cancelled');
    await turn();
    expect([rome.pulled, rome.aborted]).toEqual([[3], ['it was cancelled']]);
    rome.session.answer({ type: 'failed', n: 0, error: { code: 'CANCELLED', message: 'yes' } });
    await turn();
    expect(answers).toEqual([]);
    expect(oslo.session.counts.own).toBe(0);
  });

  it('says at its end what may have arrived and what has not', async () => {
    const [oslo, rome] = sessionPair();
    oslo.session.use(1);
    const asked = [asking(oslo), asking(oslo)];
    await turn();
    oslo.session.end('it was cut');
    rome.session.end('it was cut');
    expect(asked.map(({ lost }) => lost)).toEqual([[['it was cut', true]], [['it was cut', false]]]);
    expect([rome.aborted, rome.cutOff]).toEqual([[], ['it was cut']]);
    expect([oslo.ended, oslo.channel.isClosed]).toEqual([['it was cut'], true]);
    rome.session.answer({ type: 'done', n: 0 });
  });

  it('is over before it tells of what is lost, first of what has waited: whoever asks again goes another way', async () => {
    const [oslo] = sessionPair();
    oslo.session.use(1);
    const told: (readonly [mayHaveArrived: boolean, ends: number])[] = [];
    for (const payload of [1, 2])
      oslo.session.request(request(payload), {
        onAnswer: () => undefined,
        onLost: (_, mayHaveArrived) => told.push([mayHaveArrived, oslo.ended.length]),
      });
    oslo.session.end('it was cut');
    expect(told).toEqual([
      [false, 1],
      [true, 1],
    ]);
  });

  it('ends where something was not delivered: what follows would have a gap', async () => {
    const [oslo] = sessionPair();
    oslo.session.use(1);
    oslo.channel.failsWith = new Error('given up');
    const { lost } = asking(oslo);
    await turn();
    expect(lost).toEqual([['given up', true]]);
  });

  it('refuses by field what JSON cannot say or no frame has room for, and goes on', async () => {
    const [oslo, rome] = sessionPair({ maxBytes: 1_000 });
    oslo.session.use(10);
    expect(() => asking(oslo, 1n)).toThrow(expect.objectContaining({ code: 'NOT_SERIALISABLE' }));
    expect(() => asking(oslo, 'x'.repeat(2_000))).toThrow(/at most 1000/);
    const { answers } = asking(oslo);
    await turn();
    rome.session.answer({ type: 'done', n: 0, value: 'x'.repeat(2_000) });
    await turn();
    expect(answers).toMatchObject([{ type: 'failed', error: { code: 'NOT_SERIALISABLE' } }]);
  });

  it('drops what the work says of itself in between where no frame has room for it: the work goes on', async () => {
    const [oslo, rome] = sessionPair({ maxBytes: 1_000 });
    oslo.session.use(10);
    const { answers } = asking(oslo);
    await turn();
    rome.session.answer({ type: 'progress', n: 0, fraction: 0.5, partial: 'x'.repeat(2_000) });
    rome.session.answer({ type: 'done', n: 0, value: 'it is done' });
    await turn();
    expect(answers).toMatchObject([{ type: 'done', value: 'it is done' }]);
  });

  it('says what was spent, and how it failed, also where the answer or its partial result has no room', async () => {
    const [oslo, rome] = sessionPair({ maxBytes: 1_500 });
    oslo.session.use(10);
    const asked = [asking(oslo), asking(oslo)];
    await turn();
    const words = { taint: ['peer:vienna'], spent: { tokens: 9 } };
    rome.session.answer({ type: 'done', n: 0, value: 'x'.repeat(2_000), ...words });
    const error = { code: 'DEADLINE_EXCEEDED', message: 'x'.repeat(2_000) };
    rome.session.answer({ type: 'failed', n: 1, error, partial: 'x'.repeat(2_000), ...words });
    await turn();
    expect(asked.map(({ answers }) => answers)).toMatchObject([
      [{ type: 'failed', error: { code: 'NOT_SERIALISABLE' }, ...words }],
      [{ type: 'failed', error: { code: 'DEADLINE_EXCEEDED' }, ...words }],
    ]);
  });

  it('refuses a chunk that no frame has room for, and leaves the end of it to whoever streams', async () => {
    const [oslo, rome] = sessionPair({ maxBytes: 1_000 });
    oslo.session.use(10);
    const { sent, answers } = asking(oslo);
    await turn();
    const large = { type: 'chunk', n: 0, value: 'x'.repeat(2_000) } as const;
    expect(() => rome.session.answer(large)).toThrow(expect.objectContaining({ code: 'NOT_SERIALISABLE' }));
    sent.pull(1);
    await turn();
    expect([rome.pulled, answers]).toEqual([[1], []]);
  });

  it('puts no more messages together than a frame has room for', async () => {
    const maxBytes = 1_000;
    const [oslo, rome] = sessionPair({ maxBytes });
    const sizes: number[] = [];
    const arrive = rome.channel.arrive.bind(rome.channel);
    rome.channel.arrive = (envelope) => {
      sizes.push(JSON.stringify(envelope.payload).length);
      arrive(envelope);
    };
    for (let at = 0; at < 100; at++) oslo.session.say({ type: 'gone', agents: ['x'.repeat(at + 1)] });
    while (rome.news.length < 100) await turn();
    expect(Math.max(...sizes)).toBeLessThanOrEqual(maxBytes);
    expect(sizes.length).toBeLessThan(20);
  });

  it('says in parts which agents are no more', async () => {
    const [oslo, rome] = sessionPair();
    const agents = Array.from({ length: 1_100 }, (_, at) => `agent-${at}`);
    oslo.session.sayGone(agents);
    await turn();
    expect(rome.faults).toEqual([]);
    expect(rome.news.flatMap((news) => (news.type === 'gone' ? news.agents : []))).toEqual(agents);
  });

  it('says which agents are no more also where a frame has room for few names', async () => {
    const [oslo, rome] = sessionPair({ maxBytes: 1_000 });
    const agents = Array.from({ length: 60 }, (_, at) => `${'a'.repeat(60)}-${at}`);
    oslo.session.sayGone(agents);
    for (let more = 0; more < 100; more++) await turn();
    expect(rome.news.flatMap((news) => (news.type === 'gone' ? news.agents : []))).toEqual(agents);
  });

  it('numbers what each end sends from 0, in a session of that name (M-01, M-02, C-04)', async () => {
    const [oslo, rome] = sessionPair();
    const heard: unknown[] = [];
    const arrive = rome.channel.arrive.bind(rome.channel);
    rome.channel.arrive = (envelope) => {
      heard.push(envelope.session);
      arrive(envelope);
    };
    for (let at = 0; at < 3; at++) {
      oslo.session.say({ type: 'use' });
      await turn();
    }
    expect(heard).toEqual([0, 1, 2].map((sequence) => ({ id: 'channel', sequence })));
    expect([rome.news.length, rome.findings]).toEqual([3, []]);
  });

  it('warns of a gap and of what comes late, and goes on; takes no number twice (M-03, M-04, C-05)', async () => {
    const [stranger, rome] = sessionPair();
    for (const sequence of [5, 6, 6, 9, 7, 7, 10])
      await forge(stranger, [{ type: 'gone', agents: [`${sequence}`] }], { id: 's', sequence });
    await forge(stranger, [{ type: 'use' }]);
    await turn();
    expect(rome.news.map((news) => (news.type === 'gone' ? news.agents[0] : news.type))).toEqual([
      ...['5', '6', '9', '7', '10', 'use'],
    ]);
    expect(rome.findings).toEqual([
      expect.stringMatching(/^warn: sequence gap detected: number 5 .* 5 from 0 on have not$/),
      expect.stringMatching(/^drop: duplicate sequence detected: number 6 /),
      expect.stringMatching(/^warn: sequence gap detected: number 9 .* 2 from 7 on have not$/),
      expect.stringMatching(/^warn: late sequence detected: number 7 /),
      expect.stringMatching(/^drop: duplicate sequence detected: number 7 /),
    ]);
    expect(rome.session.isOver).toBe(false);
  });

  it('is over with whoever names a session by more than 256 characters', async () => {
    const [stranger, rome] = sessionPair();
    await forge(stranger, [{ type: 'use' }], { id: 'x'.repeat(257), sequence: 0 });
    await turn();
    expect([rome.news, rome.session.isOver]).toEqual([[], true]);
  });

  it.each<readonly [string, readonly unknown[], RegExp]>([
    ['an answer to what nobody asked', [{ type: 'done', n: 7 }], /request 7, which is not open/],
    ['a request out of turn', [{ ...request(), n: 5 }], /request 5 where 0 is next/],
    ['no message at all', [{ type: 'shout' }], /payload/],
    ['what is nested too deep', [{ ...request(nested(1_200)), n: 0 }], /nesting deeper than 1000 levels/],
    [
      'more requests than may be open',
      [0, 1, 2].map((n) => ({ ...request(), n })),
      /more than 2 open requests/,
    ],
    ['more messages than an envelope has', Array(1_025).fill({ type: 'use' }), /payload/],
  ])('is over with whoever says %s', async (_, said, why) => {
    const [stranger, rome] = sessionPair({ maxServed: 2 });
    await forge(stranger, said);
    await turn();
    expect(rome.faults).toEqual([expect.stringMatching(why)]);
    expect(rome.session.isOver).toBe(true);
  });

  it('reads 5,000 damaged messages without a crash, and believes none of another form', () => {
    const sound: readonly PeerMessage[] = [
      { type: 'node', version: 1, node: 'rome', epoch: 1, maxOpen: 1 },
      { ...request(), n: 0 },
      { type: 'done', n: 0, value: 1, taint: ['peer:rome'], spent: { tokens: 1 } },
      { type: 'failed', n: 0, error: { code: 'REFUSED', message: 'no' } },
      { type: 'progress', n: 0, fraction: 0.5 },
      { type: 'cards', cards: [{}] },
    ];
    const text = JSON.stringify(sound);
    const random = seededRandom(1);
    let refused = 0;
    for (let at = 0; at < 5_000; at++) {
      const cut = Math.floor(random() * text.length);
      const put = '{}[]",:0123456789abcdefnul-'[Math.floor(random() * 27)] as string;
      let value: unknown;
      try {
        value = JSON.parse(text.slice(0, cut) + put + text.slice(cut + 1));
      } catch {
        continue;
      }
      try {
        for (const { type } of readPeerMessages(value)) expect(sound.map((one) => one.type)).toContain(type);
      } catch (error) {
        refused += 1;
        expect(error).toMatchObject({ code: 'INVALID_ENVELOPE' });
      }
    }
    expect(refused).toBeGreaterThan(0);
  });
});
