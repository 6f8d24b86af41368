import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { CommitLog, newCommitLogMemory } from '../../../runtime/mailbox/commit-log.ts';
import { flowBase, MARK, newFlowSlab } from '../../../runtime/mailbox/flow-marks.ts';
import { InFlow } from '../../../runtime/mailbox/in-flow.ts';
import { LANE, Mail, NO_ASK } from '../../../runtime/mailbox/mail.ts';
import { OutFlow } from '../../../runtime/mailbox/out-flow.ts';
import { countAhead, WINDOW } from '../../../runtime/mailbox/settled-ahead.ts';
import type { Outcome } from '../../../runtime/protocol/system-event.ts';

const FLOW = 3;
const OUTCOMES: readonly Outcome[] = ['handled', 'rejected', 'expired', 'dead-lettered'];
const NONE = { handled: 0, rejected: 0, expired: 0, deadLettered: 0 };

/** A flow to an agent with several in hand; `restart` is what a new thread makes of its marks. */
function windowed(start = 0) {
  const { words } = newFlowSlab(0);
  const base = flowBase(FLOW);
  for (const mark of [MARK.sent, MARK.started, MARK.settled]) words[base + mark] = start;
  const out = new OutFlow(FLOW, 1, LANE.user, words, base, false);
  out.openWindow();
  out.sent = start;
  const log = new CommitLog(newCommitLogMemory());
  const counters = new Float64Array(16);
  const commit = (flow: InFlow): void => {
    const added = { ...NONE };
    flow.commit(log, 7, added);
    log.commit(counters, [0, added.handled, added.rejected, added.expired, added.deadLettered]);
  };
  const restart = (): InFlow => new InFlow(7, FLOW, 1, LANE.user, words, base);
  return { words, base, out, commit, restart, counted: () => [...counters.slice(1, 5)] };
}

const newMail = (n: number): Mail =>
  new Mail(n, 'o', 0, 'a', 'b', undefined, 0, n, undefined, 0, NO_ASK, undefined, undefined);

describe('what is settled out of its order', () => {
  it('is counted when it is committed, and not sent again after a death', () => {
    const { words, base, out, commit, restart, counted } = windowed();
    for (let n = 1; n <= 4; n++) out.add(newMail(n));
    const flow = restart();
    for (let n = 1; n <= 4; n++) flow.start(flow.receive());
    flow.settle(2, 'handled');
    flow.settle(4, 'rejected');
    commit(flow);
    expect([words[base + MARK.settled], countAhead(words, base), counted()]).toEqual([0, 2, [1, 1, 0, 0]]);
    expect([out.unsettled, out.trim(), flow.uncommitted]).toEqual([2, 2, 0]);
    expect(out.unsettledEntries().map(({ mail, fate }) => [mail.sequence, fate])).toEqual([
      [1, 'cut-off'],
      [3, 'cut-off'],
    ]);
    const next = restart();
    expect([next.receive(), next.receive(), next.receive()]).toEqual([1, 3, 5]);
    next.settle(1, 'handled');
    next.settle(3, 'dead-lettered');
    commit(next);
    expect([words[base + MARK.settled], countAhead(words, base), counted()]).toEqual([4, 0, [2, 1, 0, 1]]);
  });

  it('is begun on no further ahead than can be noted, and one at a time where nothing can', () => {
    const { restart } = windowed();
    const flow = restart();
    expect([flow.mayBegin(1), flow.mayBegin(WINDOW), flow.mayBegin(WINDOW + 1)]).toEqual([true, true, false]);
    flow.settle(1, 'handled');
    expect(flow.mayBegin(WINDOW + 1)).toBe(true);
    const plain = new InFlow(7, 1, 1, LANE.user, newFlowSlab(0).words, flowBase(1));
    expect([plain.mayBegin(1), plain.mayBegin(2)]).toEqual([true, false]);
  });

  it('has one outcome each, whatever the order, the commits and the deaths, when its numbers turn over too', () => {
    const arbStart = fc.oneof(fc.constant(0), fc.integer({ min: 2 ** 31 - 200, max: 2 ** 31 - 1 }));
    const arbSteps = fc.array(
      fc.oneof(
        {
          weight: 6,
          arbitrary: fc.record({ kind: fc.constant('settle' as const), at: fc.nat(30), of: fc.nat(3) }),
        },
        { weight: 2, arbitrary: fc.record({ kind: fc.constantFrom('commit' as const, 'death' as const) }) },
      ),
      { maxLength: 120, size: 'max' },
    );
    fc.assert(
      fc.property(arbStart, arbSteps, (start, steps) => {
        const { words, base, out, commit, restart, counted } = windowed(start);
        for (let n = 0; n < 60; n++) out.add(newMail(n));
        /** Those that are committed, and those that this thread has settled since. */
        const done = new Set<number>();
        let fresh = new Set<number>();
        let flow = restart();
        let open: number[] = [];
        const receiveAll = (): void => {
          open = out.unsettledEntries().map(({ mail }) => mail.sequence);
          expect(open.map(() => flow.receive())).toEqual(open);
        };
        receiveAll();
        const keep = (): void => {
          commit(flow);
          for (const sequence of fresh) {
            expect(done.has(sequence)).toBe(false);
            done.add(sequence);
          }
          fresh = new Set();
        };
        for (const step of steps) {
          if ('at' in step) {
            const [sequence] = open.splice(step.at % Math.max(1, open.length), 1);
            if (sequence === undefined) continue;
            flow.settle(sequence, OUTCOMES[step.of] as Outcome);
            fresh.add(sequence);
          } else if (step.kind === 'commit') keep();
          else {
            fresh = new Set();
            flow = restart();
            receiveAll();
          }
          const all = counted().reduce((sum, count) => sum + count);
          expect([flow.uncommitted, all, out.unsettled]).toEqual([fresh.size, done.size, 60 - done.size]);
        }
        for (const sequence of open.splice(0)) {
          flow.settle(sequence, 'handled');
          fresh.add(sequence);
        }
        keep();
        expect([words[base + MARK.settled], countAhead(words, base)]).toEqual([out.sent, 0]);
        expect([done.size, flow.isSettled, out.trim()]).toEqual([60, true, 0]);
      }),
      { numRuns: 100 },
    );
  });
});
