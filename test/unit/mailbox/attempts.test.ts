import { describe, expect, it } from 'vitest';
import { chargeDeaths, MAX_ATTEMPTS, Mail, NO_ASK } from '../../../runtime/mailbox/mail.ts';

const mail = (): Mail =>
  new Mail('m', '', 0, 'a', 'b', undefined, 0, null, undefined, 0, NO_ASK, undefined, undefined);
const death = { agentId: 'b', reason: 'its thread looped' };

describe('Deaths that are charged to an envelope', () => {
  it('are counted, and leave it another try', () => {
    const one = mail();
    chargeDeaths(one, MAX_ATTEMPTS - 1, death);
    expect([one.attempts, one.tombstone]).toEqual([MAX_ATTEMPTS - 1, undefined]);
  });

  it('end it with the last one, which says of what that was', () => {
    const one = mail();
    chargeDeaths(one, MAX_ATTEMPTS, death);
    expect(one.tombstone).toEqual({
      code: 'POISON',
      message:
        'b failed 3 times over this envelope, the last time with: its thread looped; it is not tried again',
      details: { agentId: 'b', attempts: 3, reason: 'its thread looped' },
    });
  });

  it('tell it with where what is said of the last one came from outside (F-09)', () => {
    const one = mail();
    chargeDeaths(one, MAX_ATTEMPTS, { ...death, taint: ['thread:worker-1'] });
    expect(one.tombstone).toMatchObject({ code: 'POISON', taint: ['thread:worker-1'] });
  });

  it('do not change why it had ended before', () => {
    const one = mail();
    one.tombstone = { code: 'NOT_HERE', message: 'It is gone' };
    chargeDeaths(one, MAX_ATTEMPTS, death);
    expect(one.tombstone.code).toBe('NOT_HERE');
  });
});
