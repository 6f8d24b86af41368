import { describe, expect, it } from 'vitest';
import { A2A_MESSAGE_TYPES, type A2AMessageType } from '../../../runtime/protocol/envelope.ts';
import { Grants, type GrantOptions } from '../../../runtime/routing/grants.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { envelopeOf } from './standalone-team.ts';

const WORK: A2AMessageType[] = [
  'response',
  'notification',
  'stream-start',
  'stream-data',
  'stream-end',
  'error',
];

/** What an assignment is leave for: the work, to renew it and to give it back. */
const ASSIGNED: A2AMessageType[] = [...WORK, 'task-accept', 'task-reject'];

function bookOf(options?: GrantOptions) {
  const clock = new FakeClock(0);
  const book = new Grants(clock, options);
  const asked = (type: A2AMessageType, fields: object = {}) =>
    book.hold(envelopeOf({ id: 'q', sender: 'venus', recipient: 'mercury', type, ...fields }), 'mercury');
  const reply = (type: A2AMessageType, fields: object = {}) => ({
    inReplyTo: 'q',
    sender: 'mercury',
    recipient: 'venus',
    type,
    ...fields,
  });
  const permitted = () => A2A_MESSAGE_TYPES.filter((type) => book.permits(reply(type)));
  return { clock, book, asked, reply, permitted };
}

const inOrder = (types: A2AMessageType[]): A2AMessageType[] =>
  A2A_MESSAGE_TYPES.filter((type) => types.includes(type));

describe('Grants (C-06)', () => {
  it.each<[A2AMessageType, A2AMessageType[]]>([
    ['request', WORK],
    ['stream-start', WORK],
    ['task-proposal', ['task-accept', 'task-reject', 'error']],
    ['task-accept', ['task-reject']],
    ['notification', []],
    ['response', []],
    ['stream-data', []],
  ])('for a delivered %s grants its recipient %j', (type, types) => {
    const { asked, permitted } = bookOf();
    asked(type);
    expect(permitted()).toEqual(inOrder(types));
  });

  it('grants the recipient alone, towards the sender alone, for this envelope alone', () => {
    const { asked, book, reply } = bookOf();
    asked('request');
    expect(book.permits(reply('response'))).toBe(true);
    expect(book.permits(reply('response', { sender: 'earth' }))).toBe(false);
    expect(book.permits(reply('response', { recipient: 'mars' }))).toBe(false);
    expect(book.permits(reply('response', { inReplyTo: 'other' }))).toBe(false);
  });

  it('cannot be claimed by ids that look alike when they are put together', () => {
    const { book, reply } = bookOf();
    const asked = envelopeOf({ id: 'q', sender: 'venus', recipient: 'a', type: 'request' });
    book.hold(asked, 'a\nb');
    expect(book.permits(reply('response', { sender: 'a\nb' }))).toBe(true);
    expect(book.permits(reply('response', { inReplyTo: 'q\na', sender: 'b' }))).toBe(false);
  });

  it.each<A2AMessageType>(['response', 'stream-end', 'error'])('is used up by a final %s', (type) => {
    const { asked, book, reply, permitted } = bookOf();
    asked('request');
    book.use(reply('stream-data'));
    expect(book.permits(reply(type))).toBe(true);
    book.use(reply(type));
    expect(permitted()).toEqual([]);
    expect(book.size).toBe(0);
  });

  it('is turned by a task-accept into one for the work, until the assignment ends', () => {
    const { asked, book, reply, permitted, clock } = bookOf();
    asked('task-proposal', { payload: { deadlineMs: 100 } });
    book.use(reply('task-accept'));
    expect(permitted()).toEqual(inOrder(ASSIGNED));
    clock.advance(10_000_000);
    for (const type of ['response', 'task-accept'] as const) {
      book.use(reply(type));
      expect(permitted()).toEqual(inOrder(ASSIGNED));
    }
    book.end('q', 'mercury', 'venus');
    expect(permitted()).toEqual([]);
  });

  it('ends with the assignment that is given back', () => {
    const { asked, book, reply, permitted } = bookOf();
    asked('task-proposal');
    book.use(reply('task-accept'));
    book.use(reply('task-reject'));
    expect(permitted()).toEqual([]);
  });

  it('for a task that an agent is told it has is leave to say that it has not, no more', () => {
    const { asked, book, reply, permitted } = bookOf();
    asked('task-accept');
    book.use(reply('task-accept'));
    expect(permitted()).toEqual(['task-reject']);
    book.use(reply('task-reject'));
    expect(permitted()).toEqual([]);
  });

  it('is used up by a task-reject', () => {
    const { asked, book, reply, permitted } = bookOf();
    asked('task-proposal');
    book.use(reply('task-reject'));
    expect(permitted()).toEqual([]);
  });

  it.each([
    ['the deadline of the envelope', 'request', { metadata: { tier: 2, deadlineAtMs: 50 } }],
    ['the deadline of the proposal', 'task-proposal', { payload: { deadlineMs: 50 } }],
    ['a time of its own', 'request', { payload: { deadlineMs: 1_000_000 } }],
  ] as const)('expires with %s', (_case, type, fields) => {
    const { asked, permitted, clock } = bookOf({ ttlMs: 50 });
    asked(type, fields);
    clock.advance(49);
    expect(permitted()).not.toEqual([]);
    clock.advance(1);
    expect(permitted()).toEqual([]);
  });

  it('keeps a grant for each of those who got one broadcast', () => {
    const { book, reply } = bookOf();
    const broadcast = envelopeOf({ id: 'q', sender: 'venus', recipient: '*', type: 'request' });
    for (const holder of ['mercury', 'earth']) book.hold(broadcast, holder);
    book.use(reply('response'));
    expect(book.permits(reply('response'))).toBe(false);
    expect(book.permits(reply('response', { sender: 'earth' }))).toBe(true);
  });

  it('is bounded: the oldest go, and assignments are counted on their own', () => {
    const { book, reply } = bookOf({ capacity: 2 });
    const ask = (id: string, type: A2AMessageType) =>
      book.hold(envelopeOf({ id, sender: 'venus', recipient: 'mercury', type }), 'mercury');
    ask('p', 'task-proposal');
    book.use(reply('task-accept', { inReplyTo: 'p' }));
    for (const id of ['a', 'b', 'c']) ask(id, 'request');
    const held = ['p', 'a', 'b', 'c'].filter((inReplyTo) => book.permits(reply('response', { inReplyTo })));
    expect(held).toEqual(['p', 'b', 'c']);
    expect(book.size).toBe(3);
  });

  it('makes room out of what has expired', () => {
    const { book, clock, reply } = bookOf({ capacity: 3, ttlMs: 10 });
    const ask = (id: string) =>
      book.hold(envelopeOf({ id, sender: 'venus', recipient: 'mercury', type: 'request' }), 'mercury');
    ask('a');
    ask('b');
    clock.advance(10);
    ask('c');
    ask('d');
    expect(book.size).toBe(2);
    expect(book.permits(reply('response', { inReplyTo: 'c' }))).toBe(true);
  });

  it('refuses options that are none', () => {
    expect(() => bookOf({ capacity: 0 })).toThrow(expect.objectContaining({ code: 'INVALID_OPTIONS' }));
  });
});
