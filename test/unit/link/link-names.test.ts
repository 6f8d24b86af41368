import { describe, expect, it } from 'vitest';
import type { MailExtras } from '../../../runtime/mailbox/mail.ts';
import { ReceivedNames, SendingNames } from '../../../runtime/link/batch.ts';

/** More are not named. */
const STRINGS = 65_536;

function setUp() {
  const sending = new SendingNames();
  const received = new ReceivedNames();
  const post = (): void => {
    const { added } = sending;
    if (added !== 0) received.add(JSON.parse(JSON.stringify(added)));
    sending.written();
  };
  return { sending, received, post };
}

describe('the names of a link', () => {
  it('are told once each, with the post that needs them', () => {
    const { sending, received, post } = setUp();
    const planner = sending.string('planner');
    expect(sending.string('planner')).toBe(planner);
    expect(sending.added).toEqual([['planner'], []]);
    post();
    expect(sending.added).toBe(0);
    expect([sending.string('planner'), sending.string(undefined)]).toEqual([planner, 0]);
    expect([received.string(planner), received.string(0)]).toEqual(['planner', undefined]);
    const empty = sending.string('');
    post();
    expect(received.string(empty)).toBe('');
  });

  it('stay untold until a post goes out', () => {
    const { sending, received, post } = setUp();
    const first = sending.string('first');
    const second = sending.string('second');
    expect(sending.added).toEqual([['first', 'second'], []]);
    expect(sending.added).toEqual([['first', 'second'], []]);
    post();
    expect([received.string(first), received.string(second)]).toEqual(['first', 'second']);
  });

  it('are 65,536 at most: every further text is itself, known ones keep their number', () => {
    const { sending, received, post } = setUp();
    const numbers = Array.from({ length: STRINGS }, (_, at) => sending.string(`s${at}`));
    post();
    expect(new Set(numbers).size).toBe(STRINGS);
    expect(sending.string('one more')).toBe('one more');
    expect(received.string('one more')).toBe('one more');
    expect(sending.string(`s${STRINGS - 1}`)).toBe(numbers[STRINGS - 1]);
    for (const at of [0, 1, STRINGS - 2, STRINGS - 1])
      expect(received.string(numbers[at] as number)).toBe(`s${at}`);

    const extras: MailExtras = Object.freeze({ structured: true, justification: 'late' });
    expect(received.extras(sending.extras(extras))).toEqual(extras);
    expect(sending.added).toBe(0);
  });

  it('make extras that mails share the same object on the other side too, and one that nobody changes', () => {
    const { sending, received, post } = setUp();
    const extras: MailExtras = Object.freeze({ justification: 'urgent' });
    const number = sending.extras(extras);
    expect(sending.extras(extras)).toBe(number);
    expect(sending.extras(Object.freeze({ justification: 'urgent' }))).toBe(number);
    post();
    const arrived = received.extras(number);
    expect(arrived).toEqual(extras);
    expect(received.extras(number)).toBe(arrived);
    expect(Object.isFrozen(arrived)).toBe(true);
  });
});
