import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CommitLog, newCommitLogMemory } from '../../runtime/mailbox/commit-log.ts';
import { flowBase, MARK, newFlowSlab } from '../../runtime/mailbox/flow-marks.ts';
import { InFlow } from '../../runtime/mailbox/in-flow.ts';
import { LANE, Mail, NO_ASK } from '../../runtime/mailbox/mail.ts';
import { OutFlow } from '../../runtime/mailbox/out-flow.ts';
import type { Outcome } from '../../runtime/protocol/system-event.ts';

const OUTCOMES: readonly Outcome[] = ['handled', 'rejected', 'expired', 'dead-lettered'];
const FLOW = 3;
const SENDER_SEAT = 7;

/** Where a flow stands at first: at its beginning, or shortly before its numbers turn over. */
const arbStart = () =>
  fc.oneof(
    fc.constant(0),
    fc.integer({ min: 2 ** 31 - 25, max: 2 ** 31 - 1 }),
    fc.integer({ min: -20, max: 0 }),
  );

const arbStep = () =>
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({ kind: fc.constantFrom('send' as const, 'arrive' as const), count: fc.nat(20) }),
    },
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant('settle' as const),
        count: fc.oneof(fc.constant(0), fc.nat(6)),
        outcome: fc.constantFrom(...OUTCOMES),
      }),
    },
    fc.record({ kind: fc.constantFrom('start' as const, 'mark' as const), count: fc.nat(6) }),
    { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('commit' as const, 'trim' as const) }) },
  );

/** A flow with both its ends in one memory, as if `start` envelopes had gone over it before. */
function flowFrom(start: number) {
  const { words } = newFlowSlab(0);
  const base = flowBase(FLOW);
  for (const mark of [MARK.sent, MARK.started, MARK.settled]) words[base + mark] = start;
  const out = new OutFlow(FLOW, 1, LANE.user, words, base, false);
  out.sent = start;
  return { words, base, out, into: new InFlow(SENDER_SEAT, FLOW, 1, LANE.user, words, base) };
}

const newMail = (n: number): Mail =>
  new Mail(n, 'o', 0, 'a', 'b', undefined, 0, n, undefined, 0, NO_ASK, undefined, undefined);

describe('a flow', () => {
  it('keeps exactly what has no committed outcome, and knows what was begun, when its numbers turn over too', () => {
    fc.assert(
      fc.property(arbStart(), fc.array(arbStep(), { maxLength: 80, size: 'max' }), (start, steps) => {
        const { words, base, out, into } = flowFrom(start);
        const sequenceOf = (n: number): number => (start + n) | 0;
        const log = new CommitLog(newCommitLogMemory());
        const counted = { handled: 0, rejected: 0, expired: 0, deadLettered: 0 };
        // The model: numbers from 1 on that never turn over, and what is known of each.
        let sent = 0;
        let marked = 0;
        let arrived = 0;
        let begun = 0;
        let committed = 0;
        const outcomes = new Map<number, Outcome>();
        const known = (): number => {
          let upTo = committed;
          while (outcomes.has(upTo + 1)) upTo += 1;
          return upTo;
        };

        const run: Record<(typeof steps)[number]['kind'], (step: (typeof steps)[number]) => void> = {
          send: (step) => {
            for (let time = 0; 'count' in step && time < step.count; time++) {
              sent += 1;
              const mail = newMail(sent);
              out.add(mail);
              expect(mail.sequence).toBe(sequenceOf(sent));
            }
          },
          mark: (step) => {
            const to = Math.min(sent, marked - 2 + ('count' in step ? step.count : 0));
            if (to < 0) return;
            expect(out.mark(sequenceOf(to))).toBe(to > marked);
            marked = Math.max(marked, to);
            expect(words[base + MARK.sent]).toBe(sequenceOf(marked));
          },
          arrive: (step) => {
            if (!('count' in step)) return;
            arrived = Math.min(sent, arrived + step.count);
            into.received = sequenceOf(arrived);
          },
          start: (step) => {
            const to = Math.min(arrived, begun - 2 + ('count' in step ? step.count : 0));
            if (to < 0) return;
            into.start(sequenceOf(to));
            begun = Math.max(begun, to);
            expect(words[base + MARK.started]).toBe(sequenceOf(begun));
          },
          settle: (step) => {
            if (!('outcome' in step)) return;
            const open = Array.from({ length: arrived - committed }, (_, at) => committed + 1 + at).filter(
              (n) => !outcomes.has(n),
            );
            const n = open[step.count];
            if (n === undefined) return;
            outcomes.set(n, step.outcome);
            into.settle(sequenceOf(n), step.outcome);
          },
          commit: () => {
            into.commit(log, 0, counted);
            log.commit(new Float64Array(8), [0, 0, 0, 0, 0]);
            committed = known();
          },
          trim: () => expect(out.trim()).toBe(sent - committed),
        };

        for (const step of steps) {
          run[step.kind](step);
          expect(into.settled).toBe(sequenceOf(known()));
          expect(words[base + MARK.settled]).toBe(sequenceOf(committed));
          expect(out.unsettled).toBe(sent - committed);
          expect(into.uncommitted).toBe([...outcomes.keys()].filter((n) => n > committed).length);
          expect(into.isSettled).toBe(committed === arrived);
        }
        expect(out.unsettledEntries().map(({ mail, fate }) => [mail.payload, fate])).toEqual(
          Array.from({ length: sent - committed }, (_, at) => {
            const n = committed + 1 + at;
            return [n, n <= begun ? 'cut-off' : 'untouched'];
          }),
        );
        const ended = Array.from({ length: committed }, (_, at) => outcomes.get(at + 1));
        expect(Object.values(counted)).toEqual(
          OUTCOMES.map((outcome) => ended.filter((one) => one === outcome).length),
        );
      }),
      { numRuns: 300 },
    );
  });

  it('within one thread keeps nothing at its sender, and marks what was sent with the commit', () => {
    const { words } = newFlowSlab(0);
    const base = flowBase(FLOW);
    const out = new OutFlow(FLOW, 1, LANE.system, words, base, true);
    const log = new CommitLog(newCommitLogMemory());
    for (let n = 1; n <= 40; n++) {
      const mail = newMail(n);
      out.add(mail);
      out.uncommitted += 1;
      out.isDirty = true;
      expect(mail.sequence).toBe(n);
    }
    expect(out.trim()).toBe(0);
    expect(out.commit(log, 2)).toBe(40);
    expect([out.uncommitted, out.isDirty, words[base + MARK.sent]]).toEqual([0, false, 0]);
    log.commit(new Float64Array(8), [40, 0, 0, 0, 0]);
    expect([words[base + MARK.sent], words[base + MARK.slot], words[base + MARK.lane]]).toEqual([40, 1, 0]);
    expect(out.inbound).toBe(out.inbound);
    expect([out.inbound.flow, out.inbound.incarnation, out.inbound.isSettled]).toEqual([FLOW, -1, true]);
  });
});
