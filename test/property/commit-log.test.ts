import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  COMMITTED_COUNTERS,
  CommitLog,
  finishCommit,
  newCommitLogMemory,
  toldUpTo,
} from '../../runtime/mailbox/commit-log.ts';
import {
  FLOWS_PER_SLAB,
  flowBase,
  MARK,
  newFlowSlab,
  slabIndexOf,
} from '../../runtime/mailbox/flow-marks.ts';

const SEATS = 3;

/** The flow memories of three threads, two slabs each. */
const newMemories = (): Int32Array[][] =>
  Array.from({ length: SEATS }, () => [newFlowSlab(0).words, newFlowSlab(1).words]);

const arbEntry = () =>
  fc.record({
    incarnation: fc.nat(SEATS - 1),
    flow: fc.oneof(fc.nat(3), fc.nat(2 * FLOWS_PER_SLAB - 1)),
    mark: fc.constantFrom(MARK.sent, MARK.settled),
    value: fc.oneof(fc.nat(9), fc.integer(), fc.constantFrom(2 ** 31 - 1, -(2 ** 31))),
  });

const arbCommit = () =>
  fc.record({
    entries: fc.array(arbEntry(), { minLength: 1, maxLength: 12 }),
    added: fc.array(fc.nat(5), { minLength: COMMITTED_COUNTERS, maxLength: COMMITTED_COUNTERS }),
  });

/** An array whose owner dies instead of its `left.stores`th store, which it shares with others. */
const mortal = <Values extends Int32Array | Float64Array>(values: Values, left: { stores: number }): Values =>
  new Proxy(values, {
    get: (target, at) => target[Number(at)],
    set: (target, at, value: number) => {
      if (left.stores === 0) throw new Error('killed');
      left.stores -= 1;
      target[Number(at)] = value;
      return true;
    },
  });

describe('the commit log', () => {
  it('commits everything or nothing, wherever in between its thread dies', () => {
    fc.assert(
      fc.property(fc.array(arbCommit(), { minLength: 1, maxLength: 3 }), fc.nat(45), (commits, stores) => {
        const memory = newCommitLogMemory();
        const log = new CommitLog(memory);
        const memories = newMemories();
        const counters = new Float64Array(8).fill(1);
        const left = { stores };
        const owned = memories.map((slabs) => slabs.map((words) => mortal(words, left)));
        const ownCounters = mortal(counters, left);
        const expected = newMemories();
        const expectedCounters = new Float64Array(8).fill(1);
        let isDead = false;
        let told = 0;
        for (const { entries, added } of commits) {
          told += 1;
          for (const { incarnation, flow, mark, value } of entries) {
            log.note(incarnation, flow, owned[incarnation]?.[slabIndexOf(flow)] as Int32Array, mark, value);
            (expected[incarnation]?.[slabIndexOf(flow)] as Int32Array)[flowBase(flow) + mark] = value;
          }
          added.forEach((count, at) => {
            expectedCounters[at] = (expectedCounters[at] as number) + count;
          });
          try {
            log.commit(ownCounters, added, told);
          } catch {
            isDead = true;
            break;
          }
        }
        const finish = () =>
          finishCommit(memory, counters, (incarnation, flow) => ({
            words: memories[incarnation]?.[slabIndexOf(flow)] as Int32Array,
            base: flowBase(flow),
          }));
        finish();
        // Retiring it twice changes nothing.
        if (isDead) finish();
        expect(memories).toEqual(expected);
        expect(counters).toEqual(expectedCounters);
        expect(toldUpTo(memory)).toBe(told);
      }),
      { numRuns: 200 },
    );
  });

  it('leaves undone what is only noted, and passes over a flow that nobody knows', () => {
    const memory = newCommitLogMemory();
    const log = new CommitLog(memory);
    const { words } = newFlowSlab(0);
    const counters = new Float64Array(8);
    const finish = () =>
      finishCommit(memory, counters, (_, flow) => (flow === 5 ? { words, base: flowBase(5) } : undefined));
    log.note(0, 5, words, MARK.settled, 3);
    finish();
    expect(words[flowBase(5) + MARK.settled]).toBe(0);
    log.commit(counters, [0, 0, 0, 0, 0]);
    log.note(0, 5, words, MARK.settled, 9);
    log.note(0, 6, mortal(words, { stores: 0 }), MARK.sent, 4);
    finish();
    expect(words[flowBase(5) + MARK.settled]).toBe(3);
    expect(toldUpTo(memory)).toBe(0);
    expect(() => log.commit(counters, [1, 0, 0, 0, 2])).toThrow('killed');
    finish();
    expect([words[flowBase(5) + MARK.settled], words[flowBase(6) + MARK.sent]]).toEqual([9, 0]);
    expect([...counters]).toEqual([1, 0, 0, 0, 2, 0, 0, 0]);
  });

  it('has room for the marks of one more flow until it says that it is full', () => {
    const memory = newCommitLogMemory();
    const log = new CommitLog(memory);
    const slabs = Array.from({ length: 5 }, (_, index) => newFlowSlab(index).words);
    const wordsOf = (flow: number): Int32Array => slabs[slabIndexOf(flow)] as Int32Array;
    const left = { stores: 0 };
    let flow = 0;
    const note = (): void => {
      log.note(1, flow, mortal(wordsOf(flow), left), MARK.settled, flow + 1);
      flow += 1;
    };
    while (!log.isFull) note();
    expect(flow).toBeGreaterThan(2_000);
    note();
    // It dies before the first mark: all of them have to be in the log.
    expect(() => log.commit(new Float64Array(8), [0, 0, 0, 0, 0])).toThrow('killed');
    finishCommit(memory, new Float64Array(8), (_, of) => ({ words: wordsOf(of), base: flowBase(of) }));
    const marks = Array.from({ length: flow }, (_, of) => wordsOf(of)[flowBase(of) + MARK.settled]);
    expect(marks).toEqual(Array.from({ length: flow }, (_, of) => of + 1));
  });
});
