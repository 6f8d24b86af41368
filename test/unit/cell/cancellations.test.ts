import { describe, expect, it } from 'vitest';
import { Cancellations, isCausedBy } from '../../../runtime/cell/cancellations.ts';
import { Mail, NO_ASK } from '../../../runtime/mailbox/mail.ts';

const mailOf = (id: string, ...above: string[]): Mail => {
  const path = above.map((envelopeId) => ({ agent: 'sun', capability: 'test.work', envelopeId }));
  return new Mail(id, '', 0, 'sun', 'mars', undefined, 0, null, undefined, 0, NO_ASK, path, undefined);
};

describe('What a thread knows of what was cancelled (F-04)', () => {
  it('is of the envelope and of all that it caused, and names it', () => {
    const cancellations = new Cancellations();
    expect(cancellations.reasonFor(mailOf('one'))).toBeUndefined();
    expect(cancellations.add('one').code).toBe('CANCELLED');
    expect(cancellations.reasonFor(mailOf('one'))?.message).toContain('one');
    expect(cancellations.reasonFor(mailOf('two', 'zero', 'one'))?.message).toContain('one');
    expect(cancellations.reasonFor(mailOf('two', 'zero'))).toBeUndefined();
    expect(isCausedBy(mailOf('two', 'one'), 'one')).toBe(true);
  });

  it('is of 16,384 of them, the last: as many as one signal may end', () => {
    const cancellations = new Cancellations();
    for (let n = 0; n <= 16_384; n++) cancellations.add(`ask ${n}`);
    expect(cancellations.reasonFor(mailOf('ask 0'))).toBeUndefined();
    expect(cancellations.reasonFor(mailOf('ask 1'))).toBeDefined();
    expect(cancellations.reasonFor(mailOf('ask 16384'))).toBeDefined();
  });
});
