import { describe, expect, it } from 'vitest';
import { CommitLog } from '../../../runtime/mailbox/commit-log.ts';
import type { EventReport } from '../../../runtime/observe/event-report.ts';
import { ThreadIncarnation } from '../../../runtime/control/thread-incarnation.ts';
import { EventReports } from '../../../runtime/control/event-reports.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';

const told = (number: number): EventReport => ({ t: 'told', number, letters: [], events: [] });
const fact: EventReport = { t: 'audited', event: { type: 'error', timestamp: 1 } };

function newBook() {
  const clock = new FakeClock();
  const given: (number | string)[] = [];
  const dead = new Set<number>();
  const book = new EventReports({
    clock,
    isLiving: (incarnation) => !dead.has(incarnation),
    give: (report) => given.push(report.t === 'told' ? report.number : report.t),
  });
  const incarnation = new ThreadIncarnation(1);
  const commit = (number: number): void =>
    new CommitLog(incarnation.memories.commitLog).commit(new Float64Array(8), [0, 0, 0, 0, 0], number);
  return { book, clock, given, dead, incarnation, commit };
}

describe('what a thread tells of envelopes (F-01)', () => {
  it('is given on when the thread has committed it, in the order in which it was told', () => {
    const { book, clock, given, incarnation, commit } = newBook();
    commit(1);
    book.hear(incarnation, told(1));
    expect(given).toEqual([1]);
    book.hear(incarnation, told(2));
    book.hear(incarnation, fact);
    expect(given).toEqual([1]);
    commit(2);
    clock.advance(10);
    expect(given).toEqual([1, 2, 'audited']);
  });

  it('is forgotten when the thread died before that, but for what happened all the same', () => {
    const { book, given, dead, incarnation, commit } = newBook();
    commit(4);
    book.hear(incarnation, told(5));
    book.hear(incarnation, fact);
    dead.add(1);
    book.look();
    expect(given).toEqual(['audited']);
    // What arrives after the death is judged as what arrived before.
    book.hear(incarnation, told(4));
    book.hear(incarnation, told(5));
    expect(given).toEqual(['audited', 4]);
  });
});
