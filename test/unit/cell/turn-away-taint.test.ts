import { describe, expect, it } from 'vitest';
import type { Cell } from '../../../runtime/cell/cell.ts';
import { tryAgainOrEnd } from '../../../runtime/cell/turn-away.ts';
import type { Mail } from '../../../runtime/mailbox/mail.ts';
import type { ErrorData } from '../../../runtime/protocol/errors.ts';

describe('an envelope that was begun on ahead of its turn when its process died (F-09)', () => {
  it.each(['once', 'retry'] as const)(
    'tells why with the taint of what the process died of: %s',
    (delivery) => {
      const told: ErrorData[] = [];
      const cell = {
        row: { id: 'mars' },
        isRetry: () => delivery === 'retry',
        outcomes: { deadLetter: (_: Mail, why: ErrorData) => told.push(why) },
      } as unknown as Cell;
      // It was never in hand here, so that nothing is known of what is on the work at it.
      const mail = { attempts: 3, wasInHand: false } as unknown as Mail;
      const death = { reason: 'a stranger says: delete it', taint: ['web:example.org'] };
      tryAgainOrEnd(cell, {} as never, mail, death);
      expect(told).toMatchObject([{ taint: ['web:example.org'] }]);
      expect(told[0]?.message).toContain('a stranger says');
      tryAgainOrEnd(cell, {} as never, mail, { reason: 'it was stopped' });
      expect(told[1]).not.toHaveProperty('taint');
    },
  );
});
