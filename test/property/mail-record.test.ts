import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Mail, type MailExtras, NO_ASK } from '../../runtime/mailbox/mail.ts';
import { MailRecorder, mailFromRecord } from '../../runtime/mailbox/mail-record.ts';

const text = fc.string({ unit: 'binary' });
const time = fc.integer({ min: 0, max: 2 ** 45 });
const paths = [
  undefined,
  [{ agent: 'mars', capability: 'c', envelopeId: 'm"1' }],
  [{ agent: 'mars', capability: 'c', envelopeId: 'm"1' }],
];
const extras: (MailExtras | undefined)[] = [
  undefined,
  { delivery: 'retry' },
  { delivery: 'once', justification: 'a "b" \n' },
  { unknown: { x: [1] } },
  { structured: true },
];

const mail = fc
  .record({
    key: fc.oneof(text, fc.nat()),
    origin: fc.constantFrom('', 'or', 'o"r'),
    type: fc.nat(5),
    sender: fc.constantFrom('mars', 've"nus'),
    recipient: fc.constantFrom('a', 'b'),
    correlationId: fc.option(text, { nil: undefined }),
    timestamp: time,
    payload: fc.option(fc.jsonValue(), { nil: undefined }),
    capability: fc.constantFrom(undefined, 'do.it'),
    deadlineAtMs: fc.oneof(fc.constant(0), time),
    path: fc.constantFrom(...paths),
    extras: fc.constantFrom(...extras),
  })
  .map(
    (one) =>
      new Mail(
        one.key,
        one.origin,
        one.type,
        one.sender,
        one.recipient,
        one.correlationId,
        one.timestamp,
        one.payload,
        one.capability,
        one.deadlineAtMs,
        NO_ASK,
        one.path,
        one.extras,
      ),
  );

/** All of a mail that outlives its process. */
const told = (one: Mail): unknown => {
  const { id, type, sender, recipient, correlationId, timestamp, payload, capability, deadlineAtMs } = one;
  const rest = { path: one.path, extras: one.extras };
  return {
    id,
    type,
    sender,
    recipient,
    correlationId,
    timestamp,
    payload,
    capability,
    deadlineAtMs,
    ...rest,
  };
};

/** What JSON makes of a value: -0 is 0. */
const asJson = (value: unknown): unknown => (value === undefined ? value : JSON.parse(JSON.stringify(value)));

describe('The record of a mail (F-01)', () => {
  it('is the mail again, whatever was written before it', () => {
    fc.assert(
      fc.property(fc.array(mail, { minLength: 1, maxLength: 12 }), (mails) => {
        const recorder = new MailRecorder();
        mails.forEach((one, at) => {
          const again = mailFromRecord({
            number: at + 1,
            recipient: one.recipient,
            body: recorder.record(one),
          });
          const payload = one.extras?.structured === true ? one.payload : asJson(one.payload);
          expect(told(again)).toEqual({ ...(told(one) as object), payload });
          expect(again.kept).toBe(at + 1);
          if (one.extras?.structured === true || one.payload === undefined) expect(one.text).toBeUndefined();
          else expect(JSON.parse(one.text as string)).toEqual(payload);
        });
      }),
      { numRuns: 300 },
    );
  });
});
