import { describe, expect, it } from 'vitest';
import { LANE, Mail, type MailExtras, NO_ASK } from '../../../runtime/mailbox/mail.ts';
import { mailFromRecord } from '../../../runtime/mailbox/mail-record.ts';
import type { StoreBatch } from '../../../runtime/protocol/store.ts';
import { JournalWriter, type Sending } from '../../../runtime/link/journal-writer.ts';

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
  const log = {
    isFull: false,
    failure: undefined,
    write: (unit: StoreBatch, done: (firstMail: number) => void, isAwaited: boolean) =>
      void units.push({ unit, done, isAwaited }),
  };
  let plans = 0;
  const writer = new JournalWriter({
    log,
    post: ({ mail: { payload, kept } }) => void posted.push([payload, kept]),
    plan: () => {
      plans += 1;
    },
  });
  const add = (one: Mail, sender?: Sending['sender']): void =>
    writer.add({ row: undefined as never, lane: LANE.user, mail: one, senderSlot: 0, sender });
  return { units, posted, log, writer, add, plans: () => plans };
}

describe('JournalWriter', () => {
  it('sends nothing on its way before it is kept, then in order, with its number', () => {
    const { units, posted, writer, add, plans } = setUp();
    for (const payload of [1, 2, 3]) add(mail(payload));
    expect([plans(), units.length]).toEqual([3, 0]);
    writer.flush();
    add(mail(4));
    writer.flush();
    expect([units.map(({ unit }) => unit.mails.length), posted]).toEqual([[3, 1], []]);
    units[0]?.done(70);
    expect(posted).toEqual([
      [1, 70],
      [2, 71],
      [3, 72],
    ]);
    units[1]?.done(90);
    expect(posted.at(-1)).toEqual([4, 90]);
    expect(writer.isIdle).toBe(true);
  });

  it('keeps a mail as it was, and what JSON cannot say where that was declared', () => {
    const { units, writer, add } = setUp();
    const at = new Date(5);
    add(mail('a', { derived: true }));
    add(mail(at, { structured: true }));
    writer.flush();
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

  it('lets streams, channels and what is fleeting pass in their order, without writer them', () => {
    const { units, posted, writer, add } = setUp();
    add(mail(1));
    add(mail(2, { stream: true }));
    add(mail(3));
    add(mail(4, { fleeting: true }));
    writer.flush();
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
    const { units, posted, writer, add } = setUp();
    const odd = mail(1n);
    add(odd);
    add(mail(2));
    writer.flush();
    units[0]?.done(10);
    expect(odd.tombstone?.code).toBe('NOT_SERIALISABLE');
    expect(posted).toEqual([
      [1n, 0],
      [2, 10],
    ]);
  });

  it('tells a sender of what it sent and is not kept yet', () => {
    const { units, writer, add } = setUp();
    let unkept = 0;
    const sender = {
      keeps: (count: number) => {
        unkept += count;
      },
    };
    add(mail(1), sender);
    add(mail(2), sender);
    expect(unkept).toBe(2);
    writer.flush();
    units[0]?.done(1);
    expect(unkept).toBe(0);
  });

  it('says whether somebody waits for a unit: for mail that is to go on its way, or for all that is kept', () => {
    const { units, writer, add } = setUp();
    writer.settled(5);
    writer.record({ kind: 'k', key: 'a', value: 'v' });
    writer.flush();
    add(mail(1));
    writer.settled(6);
    writer.flush();
    void writer.whenKept();
    writer.flush();
    expect(units.map(({ isAwaited }) => isAwaited)).toEqual([false, true, true]);
  });

  it('knows what is settled and not known to be so in the journal', () => {
    const { units, writer } = setUp();
    writer.settled(5);
    writer.flush();
    writer.settled(6);
    writer.flush();
    writer.settled(7);
    expect(writer.unsettled()).toEqual([5, 6, 7]);
    units[0]?.done(1);
    expect(writer.unsettled()).toEqual([6, 7]);
  });

  it('lets 256 mails go ahead of the handler that sends them, unless something else is to be known first', () => {
    const { units, log, writer, add } = setUp();
    const many = (from: number, count: number): void => {
      for (let n = from; n < from + count; n++) add(mail(n));
    };
    many(0, 300);
    expect(units.map(({ unit }) => unit.mails.length)).toEqual([256]);
    writer.flush();
    expect(units.map(({ unit }) => unit.mails.length)).toEqual([256, 44]);
    writer.settled(5);
    many(300, 300);
    writer.flush();
    writer.record({ kind: 'k', key: 'a', value: 'v' });
    many(600, 300);
    writer.flush();
    log.isFull = true;
    many(900, 300);
    expect(units.map(({ unit }) => unit.mails.length)).toEqual([256, 44, 300, 300]);
    log.isFull = false;
    add(mail(1_200));
    expect(units.at(-1)?.unit.mails).toHaveLength(301);
    expect(units.at(-1)?.isAwaited).toBe(true);
  });

  it('gathers while the log is full', () => {
    const { units, log, writer, add } = setUp();
    log.isFull = true;
    add(mail(1));
    writer.settled(5);
    writer.flush();
    writer.record({ kind: 'k', key: 'a', value: 'v' });
    expect(units).toEqual([]);
    log.isFull = false;
    writer.flush();
    expect(units[0]?.unit).toMatchObject({
      mails: [{ recipient: 'venus' }],
      settled: [5],
      records: [{ kind: 'k', key: 'a', value: 'v' }],
    });
  });

  it('says when all that came before is kept', async () => {
    const { units, writer, add } = setUp();
    await writer.whenKept();
    add(mail(1));
    writer.flush();
    let isKept = false;
    const waiting = writer.whenKept().then(() => {
      isKept = true;
    });
    writer.flush();
    units[0]?.done(1);
    await Promise.resolve();
    expect(isKept).toBe(false);
    units[1]?.done(2);
    await waiting;
    expect(isKept).toBe(true);
  });
});
