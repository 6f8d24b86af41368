import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../runtime/cell/cell.ts';
import { CellOutcomes } from '../../../runtime/cell/cell-outcomes.ts';
import { MAX_ATTEMPTS, type Mail } from '../../../runtime/mailbox/mail.ts';
import { cancelled, type ErrorData } from '../../../runtime/protocol/errors.ts';

/** The outcomes of an agent `mars`, of which those that were told are listed. */
function outcomesOf({ isRetry = false, nowMs = 0, cancels = false } = {}) {
  const told: ErrorData[] = [];
  const closed: string[] = [];
  const thread = {
    cancellations: { reasonFor: () => (cancels ? cancelled('It') : undefined) },
    turns: { nowMs },
    seams: { clock: { monotonicMs: () => nowMs } },
  };
  const cell = { thread, row: { id: 'mars' }, isRetry: () => isRetry } as unknown as Cell;
  const outcomes = Object.assign(new CellOutcomes(cell), {
    deadLetter: (_: Mail, why: ErrorData) => void told.push(why),
    close: (_: Mail, outcome: string, { code }: { readonly code: string }) =>
      void closed.push(`${outcome} ${code}`),
  });
  return { outcomes, told, closed };
}

const mailOf = (fields: Partial<Mail> = {}) =>
  ({ id: 'm', attempts: 0, deadlineAtMs: 0, timestamp: 0, wasInHand: false, ...fields }) as unknown as Mail;

describe('an envelope that was begun on ahead of its turn when its process died (F-09)', () => {
  it.each([false, true])(
    'tells why with the taint of what the process died of; tried again: %s',
    (isRetry) => {
      const { outcomes, told } = outcomesOf({ isRetry });
      // It was never in hand here, so that nothing is known of what is on the work at it.
      const mail = mailOf({ attempts: MAX_ATTEMPTS });
      expect(
        outcomes.endAttempt(mail, { reason: 'a stranger says: delete it', taint: ['web:example.org'] }),
      ).toBe(true);
      expect(told).toMatchObject([{ taint: ['web:example.org'] }]);
      expect(told[0]?.message).toContain('a stranger says');
      expect(outcomes.endAttempt(mail, { reason: 'it was stopped' })).toBe(true);
      expect(told[1]).not.toHaveProperty('taint');
    },
  );

  it('is tried again, and has no outcome, while it has attempts left', () => {
    const { outcomes, told } = outcomesOf({ isRetry: true });
    expect(outcomes.endAttempt(mailOf({ attempts: 1 }), { reason: 'it died' })).toBe(false);
    expect(told).toEqual([]);
  });
});

describe('An envelope whose turn it is', () => {
  const KEY = [1, 2] as const;
  const byOutsider = mailOf({ extras: { outsider: { key: KEY } } } as never);

  it('is handled when nothing speaks against it', () => {
    expect(outcomesOf({ nowMs: 5 }).outcomes.rejectStale(mailOf({ deadlineAtMs: 6 }))).toBe(false);
  });

  it.each([
    ['expired DEADLINE_EXCEEDED', { nowMs: 5 }, { deadlineAtMs: 5 }],
    ['expired CANCELLED', { cancels: true }, {}],
  ])('is stale: %s', (outcome, around, fields) => {
    const { outcomes, closed } = outcomesOf(around);
    expect(outcomes.rejectStale(mailOf(fields))).toBe(true);
    expect(closed).toEqual([outcome]);
  });

  it('is dead when its outcome was known before, or its attempts are used up', () => {
    const { outcomes, told } = outcomesOf({ cancels: true });
    const tombstone = { code: 'NOT_HERE', message: 'gone' } as const;
    expect(outcomes.rejectStale(mailOf({ tombstone }))).toBe(true);
    expect(outcomes.rejectStale(mailOf({ attempts: MAX_ATTEMPTS }))).toBe(true);
    expect(told.map(({ code }) => code)).toEqual(['NOT_HERE', 'POISON']);
  });

  it('is rejected for as long as the outsider who caused it is refused', () => {
    const { outcomes, closed } = outcomesOf({ nowMs: 10 });
    expect(outcomes.rejectStale(byOutsider)).toBe(false);
    outcomes.refuse({ key: KEY, forMs: 0 } as never);
    expect(outcomes.rejectStale(byOutsider)).toBe(false);
    outcomes.refuse({ key: KEY, forMs: 1 } as never);
    expect(outcomes.refusedForMs(byOutsider)).toBe(1);
    expect(outcomes.rejectStale(byOutsider)).toBe(true);
    expect(closed).toEqual(['rejected RATE_LIMITED']);
  });
});
