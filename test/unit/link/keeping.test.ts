import { describe, expect, it } from 'vitest';
import { LANE, Mail, type MailExtras, NO_ASK } from '../../../runtime/mailbox/mail.ts';
import { mailFromRecord } from '../../../runtime/mailbox/mail-record.ts';
import type { StoreBatch } from '../../../runtime/protocol/store.ts';
import { Keeping, type Sending } from '../../../runtime/link/keeping.ts';

const mail = (payload: unknown, extras?: MailExtras) =>
  new Mail(
    `m${String(payload)}`,
    '',
    3,
    'mars',
    'venus',
    'c',
    17,
    payload,
    'do.it',
    99,
    NO_ASK,
    undefined,
    extras,
  );

function setUp() {
  const units: { unit: StoreBatch; done: (firstMail: number) => void; isAwaited: boolean }[] = [];
  const posted: [unknown, number][] = [];
  const line = {
    isFull: false,
    failure: undefined,
    write: (unit: StoreBatch, done: (firstMail: number) => void, isAwaited: boolean) =>
      void units.push({ unit, done, isAwaited }),
  };
  let plans = 0;
  const keeping = new Keeping({
    line,
    post: ({ mail: { payload, kept } }) => void posted.push([payload, kept]),
    plan: () => {
      plans += 1;
    },
  });
  const add = (one: Mail, sender?: Sending['sender']): void =>
    keeping.add({ row: undefined as never, lane: LANE.user, mail: one, senderSlot: 0, sender });
  return { units, posted, line, keeping, add, plans: () => plans };
}

describe('Keeping', () => {
  it('sends nothing on its way before it is kept, then in order, with its number', () => {
    const { units, posted, keeping, add, plans } = setUp();
    for (const payload of [1, 2, 3]) add(mail(payload));
    expect([plans(), units.length]).toEqual([3, 0]);
    keeping.flush();
    add(mail(4));
    keeping.flush();
    expect([units.map(({ unit }) => unit.mails.length), posted]).toEqual([[3, 1], []]);
    units[0]?.done(70);
    expect(posted).toEqual([
      [1, 70],
      [2, 71],
      [3, 72],
    ]);
    units[1]?.done(90);
    expect(posted.at(-1)).toEqual([4, 90]);
    expect(keeping.isIdle).toBe(true);
  });

  it('keeps a mail as it was, and what JSON cannot say where that was declared', () => {
    const { units, keeping, add } = setUp();
    const at = new Date(5);
    add(mail('a', { derived: true }));
    add(mail(at, { structured: true }));
    keeping.flush();
    const [plain, structured] = (units[0]?.unit.mails ?? []).map((stored, n) =>
      mailFromRecord({ ...stored, number: n + 1 }),
    );
    expect(plain).toMatchObject({
      id: 'ma',
      type: 3,
      sender: 'mars',
      recipient: 'venus',
      correlationId: 'c',
      timestamp: 17,
      payload: 'a',
      capability: 'do.it',
      deadlineAtMs: 99,
      extras: { derived: true },
      kept: 1,
    });
    expect(structured?.payload).toEqual(at);
  });

  it('lets streams, channels and what is fleeting pass in their order, without keeping them', () => {
    const { units, posted, keeping, add } = setUp();
    add(mail(1));
    add(mail(2, { stream: true }));
    add(mail(3));
    add(mail(4, { fleeting: true }));
    keeping.flush();
    units[0]?.done(10);
    expect(units[0]?.unit.mails).toHaveLength(2);
    expect(posted).toEqual([
      [1, 10],
      [2, 0],
      [3, 11],
      [4, 0],
    ]);
  });

  it('ends what cannot be carried, and keeps the others', () => {
    const { units, posted, keeping, add } = setUp();
    const odd = mail(1n);
    add(odd);
    add(mail(2));
    keeping.flush();
    units[0]?.done(10);
    expect(odd.tombstone?.code).toBe('NOT_SERIALISABLE');
    expect(posted).toEqual([
      [1n, 0],
      [2, 10],
    ]);
  });

  it('tells a sender of what it sent and is not kept yet', () => {
    const { units, keeping, add } = setUp();
    let unkept = 0;
    const sender = {
      keeps: (count: number) => {
        unkept += count;
      },
    };
    add(mail(1), sender);
    add(mail(2), sender);
    expect(unkept).toBe(2);
    keeping.flush();
    units[0]?.done(1);
    expect(unkept).toBe(0);
  });

  it('says whether somebody waits for a unit: for mail that is to go on its way, or for all that is kept', () => {
    const { units, keeping, add } = setUp();
    keeping.settled(5);
    keeping.record({ kind: 'k', key: 'a', value: 'v' });
    keeping.flush();
    add(mail(1));
    keeping.settled(6);
    keeping.flush();
    void keeping.whenKept();
    keeping.flush();
    expect(units.map(({ isAwaited }) => isAwaited)).toEqual([false, true, true]);
  });

  it('knows what is settled and not known to be so in the journal', () => {
    const { units, keeping } = setUp();
    keeping.settled(5);
    keeping.flush();
    keeping.settled(6);
    keeping.flush();
    keeping.settled(7);
    expect(keeping.unsettled()).toEqual([5, 6, 7]);
    units[0]?.done(1);
    expect(keeping.unsettled()).toEqual([6, 7]);
  });

  it('lets 256 mails go ahead of the handler that sends them, unless something else is to be known first', () => {
    const { units, line, keeping, add } = setUp();
    const many = (from: number, count: number): void => {
      for (let n = from; n < from + count; n++) add(mail(n));
    };
    many(0, 300);
    expect(units.map(({ unit }) => unit.mails.length)).toEqual([256]);
    keeping.flush();
    expect(units.map(({ unit }) => unit.mails.length)).toEqual([256, 44]);
    keeping.settled(5);
    many(300, 300);
    keeping.flush();
    keeping.record({ kind: 'k', key: 'a', value: 'v' });
    many(600, 300);
    keeping.flush();
    line.isFull = true;
    many(900, 300);
    expect(units.map(({ unit }) => unit.mails.length)).toEqual([256, 44, 300, 300]);
    line.isFull = false;
    add(mail(1_200));
    expect(units.at(-1)?.unit.mails).toHaveLength(301);
    expect(units.at(-1)?.isAwaited).toBe(true);
  });

  it('gathers while the line is full', () => {
    const { units, line, keeping, add } = setUp();
    line.isFull = true;
    add(mail(1));
    keeping.settled(5);
    keeping.flush();
    keeping.record({ kind: 'k', key: 'a', value: 'v' });
    expect(units).toEqual([]);
    line.isFull = false;
    keeping.flush();
    expect(units[0]?.unit).toMatchObject({
      mails: [{ recipient: 'venus' }],
      settled: [5],
      records: [{ kind: 'k', key: 'a', value: 'v' }],
    });
  });

  it('says when all that came before is kept', async () => {
    const { units, keeping, add } = setUp();
    await keeping.whenKept();
    add(mail(1));
    keeping.flush();
    let isKept = false;
    const waiting = keeping.whenKept().then(() => {
      isKept = true;
    });
    keeping.flush();
    units[0]?.done(1);
    await Promise.resolve();
    expect(isKept).toBe(false);
    units[1]?.done(2);
    await waiting;
    expect(isKept).toBe(true);
  });
});
