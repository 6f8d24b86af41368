import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { IncarnationRegistry } from '../../runtime/control/incarnation-registry.ts';
import { COMMITTED_COUNTERS, CommitLog, newCommitLogMemory } from '../../runtime/mailbox/commit-log.ts';
import { FLOWS_PER_SLAB, flowBase, MARK, newFlowSlab, openWindow } from '../../runtime/mailbox/flow-marks.ts';
import { InFlow } from '../../runtime/mailbox/in-flow.ts';
import { LANE } from '../../runtime/mailbox/mail.ts';
import type { Outsider } from '../../runtime/mailbox/behalf.ts';
import { times } from '../fixtures/effort.ts';

const SLOT = 3;
const SENT = 40;
/** Flows of two threads, some of them from before the agent had several in hand. */
const FLOWS = [0, 1, 2] as const;
const CALLERS: readonly (Outsider | undefined)[] = [
  undefined,
  { name: 'eve', key: [7, 1] },
  { name: 'bob', key: [7, -3] },
];

interface InHand {
  readonly flow: number;
  readonly sequence: number;
  readonly outsider: Outsider | undefined;
  readonly isAgain: boolean;
}

const arbSteps = fc.array(
  fc.record({
    isBegin: fc.boolean(),
    flow: fc.constantFrom(...FLOWS),
    caller: fc.nat(CALLERS.length - 1),
    isAgain: fc.boolean(),
    at: fc.nat(20),
  }),
  { maxLength: 60, size: 'max' },
);

describe('The death of a thread, over what an agent has in hand of several threads', () => {
  it('is charged to the caller outside who caused all of it, and to none where two did, or nobody outside', () => {
    let common = 0;
    fc.assert(
      fc.property(arbSteps, (steps) => {
        const registry = new IncarnationRegistry();
        const log = new CommitLog(newCommitLogMemory());
        const counters = new Float64Array(COMMITTED_COUNTERS);
        const flows = FLOWS.map((number) => {
          const incarnation = registry.open();
          const { index, memory, words } = newFlowSlab(0);
          const base = flowBase(number * 8);
          expect(number * 8).toBeLessThan(FLOWS_PER_SLAB);
          words.set([SENT, 0, 0, SLOT, LANE.user], base + MARK.sent);
          if (number > 0) openWindow(words, base);
          incarnation.addFlowSlab(index, memory);
          return new InFlow(incarnation.number, number * 8, SLOT, LANE.user, words, base);
        });
        const inHand: InHand[] = [];
        for (const { isBegin, flow: number, caller, isAgain, at } of steps) {
          const flow = flows[number] as InFlow;
          if (isBegin) {
            const sequence = flow.received + 1;
            if (sequence > SENT || !flow.mayBegin(sequence)) continue;
            flow.receive();
            const outsider = CALLERS[caller];
            flow.start(sequence);
            flow.blame(sequence, outsider, isAgain);
            inHand.push({ flow: number, sequence, outsider, isAgain });
          } else {
            const [one] = inHand.splice(at % Math.max(1, inHand.length), 1);
            if (one === undefined) continue;
            const of = flows[one.flow] as InFlow;
            of.settle(one.sequence, 'handled');
            of.commit(log, 0, { handled: 0, rejected: 0, expired: 0, deadLettered: 0 });
            log.commit(counters, [0, 0, 0, 0, 0]);
          }
          const keys = new Set(inHand.map(({ outsider }) => outsider?.key));
          const [key] = keys;
          const over = registry.inHand().get(SLOT);
          expect(over === undefined).toBe(inHand.length === 0);
          expect(over?.outsider?.key).toEqual(keys.size === 1 ? key : undefined);
          expect(over?.isAgain ?? false).toBe(inHand.length === 1 && inHand[0]?.isAgain === true);
          if (inHand.length > 1 && key !== undefined && keys.size === 1) common += 1;
        }
      }),
      { numRuns: times(200, 2_000) },
    );
    // The runs had what this is about.
    expect(common).toBeGreaterThan(100);
  });
});
