import { describe, expect, it } from 'vitest';
import { COMMITTED_COUNTERS, CommitLog, newCommitLogMemory } from '../../../runtime/mailbox/commit-log.ts';
import {
  MARK,
  MARK_WORDS,
  newFlowSlab,
  openWindow,
  WINDOW_WORDS,
} from '../../../runtime/mailbox/flow-marks.ts';
import { InFlow } from '../../../runtime/mailbox/in-flow.ts';
import { LANE, Mail, mailFromData, mailToData, NO_ASK } from '../../../runtime/mailbox/mail.ts';
import { MailNames } from '../../../runtime/mailbox/mail-names.ts';
import { COUNT } from '../../../runtime/observe/thread-counters.ts';
import { IncarnationRegistry } from '../../../runtime/control/incarnation-registry.ts';

const SLOT = 3;

/** As the recipient's thread commits it. */
function settleAhead(words: Int32Array, sequence: number): void {
  const flow = new InFlow(0, 0, SLOT, LANE.user, words, 0);
  const log = new CommitLog(newCommitLogMemory());
  flow.settle(sequence, 'handled');
  flow.commit(log, 0, { handled: 0, rejected: 0, expired: 0, deadLettered: 0 });
  log.commit(new Float64Array(COMMITTED_COUNTERS), [0, 1, 0, 0, 0]);
}

/** The book after the death of a thread that held `sent` of its own mails, had begun on `started`, and settled one. */
function bookOfDeath(sent: number, started: number, counted = sent) {
  const book = new IncarnationRegistry();
  const incarnation = book.open();
  new Float64Array(incarnation.memories.counters)[COUNT.accepted] = counted;
  const { index, memory, words } = newFlowSlab(0);
  incarnation.addFlowSlab(index, memory);
  words.set([sent, started, 1, SLOT, LANE.user], MARK.sent);
  const copy = (sequence: number): void => {
    const mail = new Mail(
      sequence,
      'o',
      0,
      'a',
      'b',
      undefined,
      0,
      sequence,
      undefined,
      0,
      NO_ASK,
      undefined,
      undefined,
    );
    mail.sequence = sequence;
    book.keep(incarnation.number, 0, mailToData(mail));
  };
  book.retire(incarnation);
  /** What a new thread is given after a death that is charged to the mail of this sequence. */
  const replayed = (charged: number | undefined, isRetry = true) =>
    book
      .replays({
        isThere: (slot) => slot === SLOT,
        idOf: () => 'b',
        isRetry: () => isRetry,
        death: {
          reason: 'it ended',
          charge:
            charged === undefined
              ? undefined
              : { incarnation: incarnation.number, flow: 0, sequence: charged },
        },
      })
      .flatMap(({ mails }) => mails.map(mailFromData));
  return { book, incarnation, copy, words, replayed };
}

describe('What a dead thread had posted and did not come to mark', () => {
  /** A thread that marked one of its mails as sent, and of which three were settled elsewhere. */
  const posted = () => {
    const { book, words } = bookOfDeath(1, 3);
    words[MARK.settled] = 3;
    return { book, words };
  };

  it('counts as accepted when it was settled by a thread that is gone as well, once (F-01)', () => {
    const { book, words } = posted();
    book.markSettled((slot) => slot === SLOT);
    book.markSettled((slot) => slot === SLOT);
    expect(words[MARK.sent]).toBe(3);
    expect(book.counts()[COUNT.accepted]).toBe(3);
  });

  it('is left to a thread that lives, and not forgotten before that has marked it', () => {
    const { book, words } = posted();
    const incarnation = 0;
    book.markSettled(() => false);
    book.prune();
    expect(words[MARK.sent]).toBe(1);
    expect(book.counts()[COUNT.accepted]).toBe(1);
    expect(book.dead(incarnation)).toBeDefined();
    words[MARK.sent] = 3;
    book.prune();
    expect(book.dead(incarnation)).toBeUndefined();
  });
});

describe('What is marked as sent of a dead thread that it did not come to count', () => {
  it('counts as accepted, also what whoever received it marks later, and once (F-01)', () => {
    const book = new IncarnationRegistry();
    const incarnation = book.open();
    const { index, memory, words } = newFlowSlab(0);
    incarnation.addFlowSlab(index, memory);
    // Two flows, one of which has wrapped.
    words[MARK.sent] = 5;
    words[MARK_WORDS + MARK.sent] = -(2 ** 31);
    const counters = new Float64Array(incarnation.memories.counters);
    counters[COUNT.accepted] = 3 + 2 ** 31;
    book.retire(incarnation);
    expect(book.counts()[COUNT.accepted]).toBe(5 + 2 ** 31);
    words[MARK.sent] = 6;
    expect(book.counts()[COUNT.accepted]).toBe(6 + 2 ** 31);
    words[MARK.settled] = 6;
    words[MARK_WORDS + MARK.settled] = -(2 ** 31);
    book.prune();
    expect(book.dead(incarnation.number)).toBeUndefined();
    expect(book.counts()[COUNT.accepted]).toBe(6 + 2 ** 31);
  });

  it('is nothing of a flow whose memory never came', () => {
    const book = new IncarnationRegistry();
    const incarnation = book.open();
    new Float64Array(incarnation.memories.counters)[COUNT.accepted] = 3;
    book.retire(incarnation);
    expect(book.counts()[COUNT.accepted]).toBe(3);
  });
});

describe('What a dead thread sent to an agent with several envelopes in hand', () => {
  it('is in flight as far as it is settled neither in its order nor ahead of it (F-01)', () => {
    const { book, words } = bookOfDeath(5, 4);
    openWindow(words, 0);
    expect(book.orphaned((slot) => slot === SLOT)).toBe(4);
    for (const sequence of [3, 4]) settleAhead(words, sequence);
    expect(book.orphaned((slot) => slot === SLOT)).toBe(2);
    expect(book.orphaned((slot) => slot !== SLOT)).toBe(0);
    words[MARK.settled] = 5;
    for (let at = 0; at < WINDOW_WORDS; at++) words[MARK_WORDS + at] = 0;
    expect(book.orphaned((slot) => slot === SLOT)).toBe(0);
  });
});

describe('The mail that a dead thread held', () => {
  it('is replayed from the first that is not settled on, each with what is left of it', () => {
    const { copy, replayed } = bookOfDeath(4, 2);
    for (const sequence of [1, 2, 4]) copy(sequence);
    const mails = replayed(undefined);
    expect(mails.map(({ sequence }) => sequence)).toEqual([2, 3, 4]);
    expect(mails.map(({ tombstone }) => tombstone?.code)).toEqual([undefined, 'THREAD_DIED', undefined]);
    expect(mails.map(({ payload }) => payload)).toEqual([2, null, 4]);
  });

  it('is told where it had begun and may be handled once alone', () => {
    const { copy, replayed } = bookOfDeath(3, 2);
    for (const sequence of [2, 3]) copy(sequence);
    expect(replayed(undefined, false).map(({ tombstone }) => tombstone?.code)).toEqual([
      'ACTOR_DIED',
      undefined,
    ]);
  });

  it('counts every death that is charged to it, over as many threads as die', () => {
    const { copy, replayed } = bookOfDeath(3, 2);
    for (const sequence of [2, 3]) copy(sequence);
    for (const attempts of [1, 2, 3])
      expect(replayed(2).map((mail) => [mail.sequence, mail.attempts])).toEqual([
        [2, attempts],
        [3, 0],
      ]);
  });

  it('is given back by the journal where only dead threads had it, in its place and under its number (F-01)', () => {
    const { book, incarnation, copy, words, replayed } = bookOfDeath(5, 2);
    copy(3);
    const names = new MailNames((memory) => incarnation.addNameSlab(memory));
    const kept = 2 ** 40 + 7;
    const mailOf = (sequence: number): Mail => {
      const mail = new Mail(
        `m${sequence}`,
        'o',
        0,
        'a',
        'b',
        undefined,
        0,
        'found',
        undefined,
        0,
        NO_ASK,
        undefined,
        undefined,
      );
      mail.sequence = sequence;
      mail.kept = kept + sequence;
      return mail;
    };
    for (const sequence of [4, 2, 1, 3]) names.write(mailOf(sequence), incarnation.number, 0, -1);
    const lost = book.lost((slot) => slot === SLOT);
    expect(lost.map(({ sequence, kept: number }) => [sequence, number])).toEqual([
      [2, kept + 2],
      [4, kept + 4],
    ]);
    expect(book.lost(() => false)).toEqual([]);
    // The journal has one of them; where in its flow it stands the journal does not know.
    const inJournal = mailOf(4);
    inJournal.sequence = 0;
    book.found(lost, [mailToData(inJournal)]);
    const mails = replayed(undefined);
    expect(mails.map(({ sequence, id, tombstone }) => [sequence, id, tombstone?.code])).toEqual([
      [2, 'm2', 'ACTOR_DIED'],
      [3, expect.any(String), undefined],
      [4, 'm4', undefined],
      [5, '', 'THREAD_DIED'],
    ]);
    expect(mails.map((mail) => mail.kept)).toEqual([kept + 2, 0, kept + 4, 0]);
    words[MARK.settled] = 4;
    expect(book.lost((slot) => slot === SLOT)).toEqual([]);
  });

  it('is forgotten when the marks say that it is settled', () => {
    const { book, words, copy, replayed } = bookOfDeath(3, 2);
    for (const sequence of [2, 3]) copy(sequence);
    words[MARK.settled] = 2;
    book.trim();
    expect(replayed(undefined).map(({ sequence }) => sequence)).toEqual([3]);
    words[MARK.settled] = 3;
    book.trim();
    book.prune();
    expect(replayed(undefined)).toEqual([]);
    expect(book.dead(0)).toBe(undefined);
  });
});
