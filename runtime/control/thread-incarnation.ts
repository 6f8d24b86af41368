import { newCommitLogMemory } from '../mailbox/commit-log.ts';
import {
  distance,
  FLOWS_PER_SLAB,
  hasWindow,
  IN_COMMON,
  MARK,
  MARK_WORDS,
  WINDOW_RECORDS,
} from '../mailbox/flow-marks.ts';
import { keyText } from '../mailbox/outsider.ts';
import { type NamedMail, readNames } from '../mailbox/mail-names.ts';
import { COUNT, newCounters } from '../observe/thread-counters.ts';
import type { DiedOver } from '../supervision/supervisor.ts';
import type { Charge, ThreadDeath } from '../thread/control-protocol.ts';
import { countAhead, isSettledAt, lastSettled } from '../mailbox/settled-ahead.ts';
import { newStatusMemory, STATUS } from '../mailbox/status-words.ts';

/** The memories that an incarnation is made with, when they exist before it. */
export interface ThreadMemories {
  readonly counters: SharedArrayBuffer;
  readonly status: SharedArrayBuffer;
  readonly commitLog: SharedArrayBuffer;
}

export const newThreadMemories = (): ThreadMemories => ({
  counters: newCounters(),
  status: newStatusMemory(),
  commitLog: newCommitLogMemory(),
});

/**
 * One thread's time in a place: the memories that it shares, kept here because they outlive it.
 *
 * A place whose thread is replaced gets a new incarnation, so that nothing which a dead thread left behind can be mistaken for
 * its successor's.
 */
export class ThreadIncarnation {
  readonly number: number;
  readonly memories: ThreadMemories;
  /** How many of its reports have been heard. */
  heard = 0;
  /** How its thread ended. */
  death: ThreadDeath | undefined = undefined;
  readonly #slabs: Int32Array[] = [];
  readonly #memories: SharedArrayBuffer[] = [];
  readonly #nameSlabs: SharedArrayBuffer[] = [];

  constructor(number: number, memories: ThreadMemories = newThreadMemories()) {
    this.number = number;
    this.memories = memories;
  }

  addFlowSlab(index: number, memory: SharedArrayBuffer): void {
    this.#memories[index] = memory;
    this.#slabs[index] = new Int32Array(memory);
  }

  addNameSlab(memory: SharedArrayBuffer): void {
    this.#nameSlabs.push(memory);
  }

  names(): NamedMail[] {
    return this.#nameSlabs.flatMap(readNames);
  }

  /** What the thread had in hand when it was last seen; undefined when no agent's code ran. */
  get inHand(): { readonly slot: number; readonly charge: Charge | undefined } | undefined {
    const words = new Int32Array(this.memories.status);
    const current = words[STATUS.current] as number;
    if (current === 0) return undefined;
    const incarnation = words[STATUS.incarnation] as number;
    const flow = words[STATUS.flow] as number;
    const sequence = words[STATUS.sequence] as number;
    return { slot: current - 1, charge: incarnation < 0 ? undefined : { incarnation, flow, sequence } };
  }

  get beat(): number {
    return new Int32Array(this.memories.status)[STATUS.beat] as number;
  }

  /** How many reports its thread has posted. */
  get reported(): number {
    return new Int32Array(this.memories.status)[STATUS.reported] as number;
  }

  hasHeard(reports: number): boolean {
    return distance(this.heard, reports) >= 0;
  }

  /** The marks of one flow; undefined when its memory never came. */
  flow(number: number): FlowWords | undefined {
    const index = Math.floor(number / FLOWS_PER_SLAB);
    const words = this.#slabs[index];
    if (words === undefined) return undefined;
    return {
      words,
      base: (number % FLOWS_PER_SLAB) * MARK_WORDS,
      slab: this.#memories[index] as SharedArrayBuffer,
    };
  }

  /** What was last begun on in a flow, as a death is charged. */
  lastBegun(flow: number): DiedOver | undefined {
    const marks = this.flow(flow);
    return marks && begunOn(marks);
  }

  /** Up to where a flow is settled. */
  settled(flow: number): number | undefined {
    const marks = this.flow(flow);
    return marks === undefined ? undefined : (marks.words[marks.base + MARK.settled] as number);
  }

  /** Every flow that has been used. */
  *flows(): Iterable<FlowWords & { readonly flow: number }> {
    for (const [index, words] of this.#slabs.entries()) {
      if (words === undefined) continue;
      for (let at = 0; at < FLOWS_PER_SLAB; at++) {
        const base = at * MARK_WORDS;
        const flow = index * FLOWS_PER_SLAB + at;
        // What stands behind the marks is no flow.
        if (hasWindow(words, base)) at += WINDOW_RECORDS;
        if (words[base + MARK.sent] === 0 && words[base + MARK.started] === 0) continue;
        yield { words, base, flow, slab: this.#memories[index] as SharedArrayBuffer };
      }
    }
  }

  /** The flows on which something is sent and not settled, as the marks say. */
  *openFlows(): Iterable<OpenFlow> {
    for (const { words, base, flow } of this.flows()) {
      const settled = words[base + MARK.settled] as number;
      const open = distance(words[base + MARK.sent] as number, settled);
      if (open <= 0) continue;
      const slot = words[base + MARK.slot] as number;
      yield {
        flow,
        slot,
        open: open - countAhead(words, base),
        inHand: inHandOf({ words, base }, { incarnation: this.number, flow }),
      };
    }
  }

  /** The flows on which more is settled than the thread came to mark as sent: `last` is the last that is. */
  *unmarkedFlows(): Iterable<FlowWords & { readonly last: number }> {
    for (const flow of this.flows()) {
      const { words, base } = flow;
      const last = lastSettled(words, base, words[base + MARK.settled] as number);
      if (distance(last, words[base + MARK.sent] as number) > 0) yield { ...flow, last };
    }
  }

  /**
   * The counters of a thread that is gone. Accepted is what the marks say: it may have ended between what it posted and what
   * it counted, and whoever received that marks it.
   */
  lastCounts(): Float64Array {
    const counts = new Float64Array(this.memories.counters).slice();
    let marked = 0;
    for (const { words, base } of this.flows()) marked += words[base + MARK.sent] as number;
    const counted = counts[COUNT.accepted] as number;
    // Marks wrap: their sum is right in 32 bits. A memory that never came makes it too small.
    counts[COUNT.accepted] = counted + Math.max(0, (marked - counted) | 0);
    return counts;
  }

  /** What is marked as sent is what is settled, in every flow. */
  get isSettled(): boolean {
    for (const { words, base } of this.flows())
      if (words[base + MARK.sent] !== words[base + MARK.settled]) return false;
    return true;
  }
}

/** Where the marks of a flow stand. */
export interface FlowWords {
  readonly words: Int32Array;
  readonly base: number;
  readonly slab: SharedArrayBuffer;
}

/** What of an agent's mail it has begun on; `charge` names it where it is one envelope alone. */
export interface InHand extends DiedOver {
  readonly charge: Charge | undefined;
}

/** `open` counts envelopes; `inHand` is what a death is over those that its recipient has begun on, if it has. */
export interface OpenFlow {
  readonly flow: number;
  readonly slot: number;
  readonly open: number;
  readonly inHand: InHand | undefined;
}

/** What a death over what is in hand of a flow is: of several over all of them, as far as these have one cause. */
function inHandOf(
  marks: Pick<FlowWords, 'words' | 'base'>,
  of: Pick<Charge, 'incarnation' | 'flow'>,
): InHand | undefined {
  const { words, base } = marks;
  const settled = words[base + MARK.settled] as number;
  const started = words[base + MARK.started] as number;
  let count = 0;
  let sequence = settled;
  for (let next = (settled + 1) | 0; count < 2 && distance(next, started) <= 0; next = (next + 1) | 0) {
    if (isSettledAt(words, base, settled, next)) continue;
    count += 1;
    sequence = next;
  }
  if (count === 0) return undefined;
  const over = hasWindow(words, base) ? diedOver(marks, IN_COMMON) : begunOn(marks);
  return count === 1 ? { ...over, charge: { ...of, sequence } } : overSeveral(over);
}

/** What a death is that may be over the one or the other: over the caller of both. */
export function overEither(one: InHand, other: InHand): InHand {
  const isOfOne =
    one.outsider !== undefined &&
    other.outsider !== undefined &&
    keyText(one.outsider.key) === keyText(other.outsider.key);
  return overSeveral({ outsider: isOfOne ? one.outsider : undefined });
}

/** Of several nobody knows which it was: it counts as a first one, or there would be no end of it. */
export const overSeveral = ({ outsider }: Pick<DiedOver, 'outsider'>): InHand => ({
  outsider,
  isAgain: false,
  charge: undefined,
});

const begunOn = (marks: Pick<FlowWords, 'words' | 'base'>): DiedOver => diedOver(marks, MARK);

/** As it is written at `at`. */
function diedOver(
  { words, base }: Pick<FlowWords, 'words' | 'base'>,
  at: typeof MARK | typeof IN_COMMON,
): DiedOver {
  const key = [words[base + at.outsider] as number, words[base + at.outsiderMore] as number] as const;
  return { outsider: key[1] === 0 ? undefined : { key }, isAgain: words[base + at.isAgain] === 1 };
}
