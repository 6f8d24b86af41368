import { describe, expect, it } from 'vitest';
import { LANE, Mail, NO_ASK, REPLY } from '../../../runtime/mailbox/mail.ts';
import { OutFlow } from '../../../runtime/mailbox/out-flow.ts';
import type { PathHop } from '../../../runtime/protocol/envelope.ts';
import { BatchReader, BatchWriter, SendingNames, type Outgoing } from '../../../runtime/link/batch.ts';

const FLOW = new OutFlow(0, 0, LANE.user, new Int32Array(8), 0, false);

interface Parts {
  readonly sender?: string;
  readonly correlationId?: string;
  readonly path?: readonly PathHop[];
  readonly payload?: unknown;
}

const mailOf = (id: string, { sender = 'a', correlationId, path, payload = null }: Parts): Mail =>
  new Mail(id, '', 0, sender, 'b', correlationId, 1, payload, undefined, 0, NO_ASK, path, undefined);

const batchOf = (mails: readonly Mail[], replyAsks: readonly number[] = []): Outgoing => ({
  flows: mails.map(() => FLOW),
  mails,
  replyAsks,
  replyKinds: replyAsks.map(() => REPLY.value),
  replyPayloads: replyAsks.map(() => 'yes'),
  cancels: [],
  pulls: [],
});

function setUp() {
  const names = new SendingNames();
  const writer = new BatchWriter(names);
  const reader = new BatchReader();
  const write = (batch: Outgoing): unknown =>
    writer.write(batch, { tableVersion: 1, peak: 1 }, { flows: [], slabs: [] });
  /** Posts the batch; returns the mails as they arrive. */
  const send = (batch: Outgoing): Mail[] => {
    const message = write(batch);
    names.written();
    const arrived: Mail[] = [];
    const none = (): void => {};
    const mail = (_: number, one: Mail): unknown => arrived.push(one);
    reader.read(message, { header: none, introduce: none, mail, reply: none, cancel: none, pull: none });
    return arrived;
  };
  return { write, send };
}

describe('BatchWriter', () => {
  it('keeps the correlation id of mails when the last one of their run has it as its own id', () => {
    const { send } = setUp();
    const mails = ['first', 'talk'].map((id) => mailOf(id, { correlationId: 'talk' }));
    expect(send(batchOf(mails)).map(({ correlationId }) => correlationId)).toEqual(['talk', 'talk']);
  });

  it('tells names of a batch that failed with the next post, though that is a single answer', () => {
    const { write, send } = setUp();
    expect(() => write(batchOf([mailOf('1', { sender: 'new', payload: 1n })]))).toThrow(TypeError);
    send(batchOf([], [7]));
    expect(send(batchOf([mailOf('2', { sender: 'new' })]))).toMatchObject([
      { sender: 'new', recipient: 'b' },
    ]);
  });

  it('gives no number away that the same batch has used', () => {
    const { send } = setUp();
    const pathOf = (n: number): PathHop[] => [{ agent: 'a', capability: 'c', envelopeId: `${n}` }];
    const mails = Array.from({ length: 513 }, (_, n) =>
      mailOf(`m${n}`, { correlationId: `talk-${n}`, path: pathOf(n) }),
    );
    for (const mail of mails.slice(0, 512)) send(batchOf([mail]));
    // The oldest one is still known; the newest one takes the oldest number.
    const [oldest, newest] = send(batchOf([mails[0] as Mail, mails[512] as Mail]));
    expect(oldest).toMatchObject({ correlationId: 'talk-0', path: pathOf(0) });
    expect(newest).toMatchObject({ correlationId: 'talk-512', path: pathOf(512) });
  });

  describe('what the journal was given as text', () => {
    const kept = (id: string, number: number, payload: unknown, text?: string): Mail => {
      const mail = mailOf(id, {});
      mail.payload = payload;
      mail.kept = number;
      mail.text = text;
      return mail;
    };
    const seen = (mails: readonly Mail[]): unknown => mails.map((mail) => [mail.id, mail.kept, mail.payload]);

    it('crosses as that text, between others, each with its number', () => {
      const { send } = setUp();
      const mails = [
        kept('a', 7, { n: 1 }, '{"n":"as it was kept"}'),
        kept('b', 0, { n: 2 }),
        kept('c', 9, undefined, undefined),
        kept('d', 3, [4], '[4]'),
        kept('e', 2 ** 40, () => 0),
      ];
      expect(seen(send(batchOf(mails)))).toEqual([
        ['a', 7, { n: 'as it was kept' }],
        ['b', 0, { n: 2 }],
        ['c', 9, undefined],
        ['d', 3, [4]],
        ['e', 2 ** 40, null],
      ]);
      expect(mails.map(({ text }) => text)).toEqual(Array(5).fill(undefined));
    });

    it('crosses alone, whether or not names are told with it', () => {
      const { send } = setUp();
      for (const number of [7, 8]) {
        const arrived = send(batchOf([kept('a', number, 0, '{"x":[1]}')]));
        expect(seen(arrived)).toEqual([['a', number, { x: [1] }]]);
      }
    });

    it('is written anew where it is posted again', () => {
      const { send } = setUp();
      const mails = [kept('a', 7, { n: 1 }, '{"n":1}'), kept('b', 8, { n: 2 }, '{"n":2}')];
      const first = seen(send(batchOf(mails)));
      expect(seen(send(batchOf(mails)))).toEqual(first);
    });
  });
});
