import { describe, expect, it } from 'vitest';
import { CellMailbox, isAwaited } from '../../../runtime/cell/cell-mailbox.ts';
import type { Handling } from '../../../runtime/cell/handling.ts';
import type { InFlow } from '../../../runtime/mailbox/in-flow.ts';
import { LANE, type Lane, Mail, NO_ASK } from '../../../runtime/mailbox/mail.ts';

type Fields = { lane?: Lane; sender?: string; isAsk?: boolean; wasLeft?: boolean };

function mailOf(
  id: string,
  { lane = LANE.user, sender = 'venus', isAsk = false, wasLeft = false }: Fields = {},
): Mail {
  const ask = isAsk ? 1 : NO_ASK;
  const mail = new Mail(id, '', 0, sender, 'mars', undefined, 0, null, undefined, 0, ask, undefined, {});
  mail.flow = { lane } as InFlow;
  mail.wasLeft = wasLeft;
  return mail;
}

/** A mailbox into which these came, in this order. */
function holding(...mails: readonly Mail[]): CellMailbox {
  const mailbox = new CellMailbox();
  for (const mail of mails) mailbox.put(mail, (mail.flow as InFlow).lane);
  return mailbox;
}

const idOf = (mail: Mail | undefined): string | undefined => mail?.id;

function takeAll(mailbox: CellMailbox): string[] {
  const ids: string[] = [];
  for (let mail = mailbox.take(); mail !== undefined; mail = mailbox.take()) ids.push(mail.id);
  return ids;
}

/** Work that has caused these envelopes, and waits for answers of these agents. */
const work = ({ caused = [], awaits = [] }: { caused?: string[]; awaits?: string[] }): Handling =>
  ({
    hasCaused: ({ id }: Mail) => caused.includes(id),
    waitsForAgent: (agentId: string) => awaits.includes(agentId),
  }) as Handling;

describe('The mailbox of an agent', () => {
  it('gives the system lane first, then call-backs, what former processes left, and others, each in their order', () => {
    const left = { wasLeft: true };
    const mailbox = holding(
      mailOf('user-1'),
      mailOf('left-1', left),
      mailOf('callback-1', { lane: LANE.callback }),
      mailOf('user-2'),
      mailOf('system-1', { lane: LANE.system }),
      mailOf('left-2', left),
      mailOf('system-2', { lane: LANE.system }),
    );
    expect(mailbox.length).toBe(7);
    const order = ['system-1', 'system-2', 'callback-1', 'left-1', 'left-2', 'user-1', 'user-2'];
    expect(takeAll(mailbox)).toEqual(order);
    expect(mailbox.length).toBe(0);
  });

  it.each([LANE.system, LANE.callback, LANE.user])('puts back in front of its lane: %s', (lane) => {
    const [first, second] = [mailOf('first', { lane }), mailOf('second', { lane })];
    const mailbox = holding(first, second);
    mailbox.putBack(mailbox.take() as Mail);
    expect(takeAll(mailbox)).toEqual(['first', 'second']);
  });

  it('puts back what was left in front of what was left', () => {
    const mailbox = holding(mailOf('first', { wasLeft: true }), mailOf('second', { wasLeft: true }));
    mailbox.putBack(mailbox.take() as Mail);
    expect(takeAll(mailbox)).toEqual(['first', 'second']);
  });

  it('keeps its user lane back while more may come of what was left, and no other', () => {
    const mailbox = holding(mailOf('user'), mailOf('left', { wasLeft: true }));
    mailbox.expectsLeft = true;
    expect(takeAll(mailbox)).toEqual(['left']);
    mailbox.put(mailOf('left later', { wasLeft: true }), LANE.user);
    mailbox.put(mailOf('system', { lane: LANE.system }), LANE.system);
    expect(takeAll(mailbox)).toEqual(['system', 'left later']);
    mailbox.expectsLeft = false;
    expect(takeAll(mailbox)).toEqual(['user']);
  });

  it('holds everything that it is asked for, and nothing once it is drained', () => {
    const mailbox = holding(
      mailOf('user', { isAsk: true }),
      mailOf('ahead', { isAsk: true }),
      mailOf('left', { wasLeft: true }),
      mailOf('callback', { lane: LANE.callback }),
      mailOf('system', { lane: LANE.system }),
    );
    const all = ['ahead', 'callback', 'left', 'system', 'user'];
    expect(Array.from(mailbox, ({ id }) => id).sort()).toEqual(all);
    expect(Array.from(mailbox.drain(), ({ id }) => id).sort()).toEqual(all);
    expect([mailbox.length, mailbox.mayInterrupt, mailbox.take()]).toEqual([0, false, undefined]);
  });
});

describe('What an actor takes ahead', () => {
  const all = (): boolean => true;

  it('is only what it may have, and only while nobody could come before', () => {
    const mailbox = holding(mailOf('user'));
    expect(mailbox.takeAhead(() => false)).toBeUndefined();
    mailbox.expectsLeft = true;
    expect(mailbox.takeAhead(all)).toBeUndefined();
    mailbox.expectsLeft = false;
    for (const before of [
      mailOf('system', { lane: LANE.system }),
      mailOf('callback', { lane: LANE.callback }),
      mailOf('left', { wasLeft: true }),
    ]) {
      mailbox.put(before, (before.flow as InFlow).lane);
      expect(mailbox.takeAhead(all)).toBeUndefined();
      expect(idOf(mailbox.take())).toBe(before.id);
    }
    expect(idOf(mailbox.takeAhead(all))).toBe('user');
  });

  it('stays in the mailbox until its turn comes, which is before everybody else’s', () => {
    const mailbox = holding(mailOf('first'), mailOf('second'), mailOf('third'));
    mailbox.takeAhead(all);
    mailbox.takeAhead(all);
    expect([mailbox.hasTaken, mailbox.length]).toEqual([true, 3]);
    mailbox.put(mailOf('system', { lane: LANE.system }), LANE.system);
    expect(takeAll(mailbox)).toEqual(['first', 'second', 'system', 'third']);
    expect(mailbox.hasTaken).toBe(false);
  });

  it('goes back youngest first, so that nobody is overtaken', () => {
    const mailbox = holding(mailOf('first'), mailOf('second'), mailOf('third'));
    mailbox.takeAhead(all);
    mailbox.takeAhead(all);
    const left = mailbox.leftAhead();
    expect(left.map(({ id }) => id)).toEqual(['second', 'first']);
    for (const mail of left) mailbox.putBack(mail);
    expect(takeAll(mailbox)).toEqual(['first', 'second', 'third']);
  });

  it('comes after what is put back while it is there', () => {
    const mailbox = holding(mailOf('first'), mailOf('second'));
    mailbox.takeAhead(all);
    mailbox.takeAhead(all);
    mailbox.putBack(mailbox.take() as Mail);
    expect(takeAll(mailbox)).toEqual(['first', 'second']);
  });
});

describe('What comes between while a handler waits', () => {
  it('is a call-back that the work has caused, whoever came before it', () => {
    const lane = LANE.callback;
    const mailbox = holding(mailOf('other', { lane }), mailOf('ours', { lane }));
    expect(mailbox.mayInterrupt).toBe(true);
    expect(idOf(mailbox.takeBetween([work({}), work({ caused: ['ours'] })]))).toBe('ours');
    expect(mailbox.takeBetween([work({ caused: ['ours'] })])).toBeUndefined();
    expect(takeAll(mailbox)).toEqual(['other']);
  });

  it('is an ask of the agent that it waits for, and no notification of that', () => {
    const mailbox = holding(
      mailOf('notification'),
      mailOf('of another', { isAsk: true, sender: 'earth' }),
      mailOf('ask', { isAsk: true }),
    );
    expect(idOf(mailbox.takeBetween([work({ awaits: ['venus'] })]))).toBe('ask');
    expect(mailbox.takeBetween([work({ awaits: ['venus'] })])).toBeUndefined();
    expect(takeAll(mailbox)).toEqual(['notification', 'of another']);
  });

  it('may have been taken ahead', () => {
    const mailbox = holding(mailOf('ask', { isAsk: true }));
    mailbox.takeAhead(() => true);
    expect(idOf(mailbox.takeBetween([work({ awaits: ['venus'] })]))).toBe('ask');
    expect([mailbox.hasTaken, mailbox.length, mailbox.mayInterrupt]).toEqual([false, 0, false]);
  });

  it('is counted: an ask of an agent that is taken or put back, and never one of the embedder', () => {
    const mailbox = holding(mailOf('of the host', { isAsk: true, sender: 'system/host' }));
    expect(mailbox.mayInterrupt).toBe(false);
    mailbox.put(mailOf('ask', { isAsk: true }), LANE.user);
    expect(mailbox.mayInterrupt).toBe(true);
    mailbox.take();
    const ask = mailbox.take() as Mail;
    expect(mailbox.mayInterrupt).toBe(false);
    mailbox.putBack(ask);
    expect(mailbox.mayInterrupt).toBe(true);
  });

  it('is of whoever one of several handlings waits for', () => {
    expect(isAwaited('venus', [work({ awaits: ['earth'] }), work({ awaits: ['venus'] })])).toBe(true);
    expect(isAwaited('venus', [work({ awaits: ['earth'] })])).toBe(false);
  });
});
