import { describe, expect, it } from 'vitest';
import { DeadLetters } from '../../../runtime/observe/control-log.ts';
import { envelopeOf } from '../routing/standalone-team.ts';

const letterOf = (id: string, payload: unknown) => ({
  id,
  sender: 'a',
  recipient: 'b',
  type: 'notification',
  code: 'NOT_HERE' as const,
  reason: 'gone',
  atMs: 1,
  envelope: envelopeOf({ id, sender: 'a', recipient: 'b', payload }),
});

describe('DeadLetterBook', () => {
  it('keeps the newest with their envelopes, as far as their payloads are not too large, and all by name', () => {
    const book = new DeadLetters();
    for (let n = 0; n < 100; n++) book.add(letterOf(`l${n}`, 'x'.repeat(1_000_000)));
    const letters = book.toArray();
    expect(letters.map(({ id }) => id)).toEqual(Array.from({ length: 100 }, (_, n) => `l${n}`));
    const whole = letters.filter(({ envelope }) => envelope !== undefined);
    expect(whole.length).toBeGreaterThan(10);
    expect(whole.length).toBeLessThan(20);
    expect(whole.at(-1)?.id).toBe('l99');
  });

  it('keeps 1,024 small ones whole', () => {
    const book = new DeadLetters();
    for (let n = 0; n < 2_000; n++) book.add(letterOf(`l${n}`, n));
    const whole = book.toArray().filter(({ envelope }) => envelope !== undefined);
    expect(whole).toHaveLength(1_024);
    expect(whole[0]?.id).toBe('l976');
  });
});
