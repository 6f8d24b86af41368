import type { Outgoing } from '../../runtime/link/batch.ts';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LANE, Mail, NO_ASK } from '../../runtime/mailbox/mail.ts';
import { OutFlow } from '../../runtime/mailbox/out-flow.ts';
import { OutgoingQueue } from '../../runtime/link/link.ts';

const FLOWS = [0, 1, 2].map((flow) => new OutFlow(flow, flow, LANE.user, new Int32Array(8), 0, false));

const newMail = (serial: number): Mail =>
  new Mail(serial, 'o', 0, 'a', 'b', undefined, 0, serial, undefined, 0, NO_ASK, undefined, undefined);

const step = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.record({ kind: fc.constant('mail' as const), count: fc.integer({ min: 1, max: 40 }) }),
  },
  {
    weight: 4,
    arbitrary: fc.record({
      kind: fc.constant('take' as const),
      count: fc.oneof(fc.nat(30), fc.constantFrom(0, 128, Number.POSITIVE_INFINITY)),
    }),
  },
  {
    weight: 2,
    arbitrary: fc.record({
      kind: fc.constantFrom('reply' as const, 'cancel' as const, 'pull' as const),
      count: fc.integer({ min: 1, max: 3 }),
    }),
  },
);

interface Model {
  mails: number[];
  replies: number[];
  cancels: string[];
  pulls: number[];
}

const EMPTY: Model = { mails: [], replies: [], cancels: [], pulls: [] };

/** What was taken, as the model has it; each mail is of the flow and each reply has the parts that its number says. */
function modelOf({ flows, mails, replyAsks, replyKinds, replyPayloads, cancels, pulls }: Outgoing): Model {
  const serials = mails.map(({ payload }) => payload as number);
  expect(flows.map(({ flow }) => flow)).toEqual(serials.map((serial) => serial % 3));
  expect(replyKinds).toEqual(replyAsks.map((ask) => ask % 6));
  expect(replyPayloads).toEqual(replyAsks.map((ask) => `reply ${ask}`));
  return { mails: serials, replies: [...replyAsks], cancels: [...cancels], pulls: [...pulls] };
}

describe('the queue of what a link has to say', () => {
  it('gives each mail once and in order, as many as are asked for, and everything else with the next taking', () => {
    fc.assert(
      fc.property(fc.array(step, { maxLength: 60, size: 'max' }), (steps) => {
        const queue = new OutgoingQueue();
        let waiting = structuredClone(EMPTY);
        let serial = 0;
        const add = {
          mail: () => {
            const count = queue.mail(FLOWS[serial % 3] as OutFlow, newMail(serial));
            expect(count).toBe(waiting.mails.push(serial));
          },
          reply: () =>
            expect(queue.reply(serial, serial % 6, `reply ${serial}`)).toBe(waiting.replies.push(serial)),
          cancel: () => {
            queue.cancel(`m${serial}`);
            waiting.cancels.push(`m${serial}`);
          },
          pull: () => {
            queue.pull(serial, 5);
            waiting.pulls.push(serial, 5);
          },
        };
        for (const { kind, count } of [
          ...steps,
          { kind: 'take' as const, count: Number.POSITIVE_INFINITY },
        ]) {
          if (kind === 'take') {
            const mails = waiting.mails.slice(0, count);
            expect(modelOf(queue.take(count))).toEqual({ ...waiting, mails });
            waiting = { ...structuredClone(EMPTY), mails: waiting.mails.slice(count) };
          } else
            for (let time = 0; time < count; time++) {
              add[kind]();
              serial += 1;
            }
          const { mails, replies, cancels, pulls } = waiting;
          const hasNotices = replies.length + cancels.length + pulls.length > 0;
          expect(queue.mailCount).toBe(mails.length);
          expect(queue.replyCount).toBe(replies.length);
          expect(queue.hasNotices).toBe(hasNotices);
          expect(queue.isEmpty).toBe(!hasNotices && mails.length === 0);
        }
        expect(queue.isEmpty).toBe(true);
      }),
      { numRuns: 300 },
    );
  });
});
