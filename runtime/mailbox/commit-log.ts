import { flowBase, WINDOW_WORDS } from './flow-marks.ts';

const LENGTH = 0;
const COUNTERS = 1;
/** Up to which number told outcomes count. */
const TOLD = 6;
/** Up to which number they count once the commit is valid. */
const TOLD_NEXT = 7;
const FIRST_ENTRY = 8;
const ENTRY_WORDS = 3;
const MARKS_A_FLOW = 8;
const CAPACITY = 2_048;
/** Entries that one flow needs at most: its settled mark, and the words behind its marks. */
const MOST_A_FLOW = 1 + WINDOW_WORDS;

/** Counters that a commit sets: accepted and the four outcomes, in the order of `COUNT`. */
export const COMMITTED_COUNTERS = 5;

export const newCommitLogMemory = (): SharedArrayBuffer =>
  new SharedArrayBuffer((FIRST_ENTRY + CAPACITY * ENTRY_WORDS) * 8);

/**
 * Makes a commit one step, although it writes many marks, and a thread can be ended between any two of them.
 *
 * The new values are written here first, as absolute values. One store declares them valid; then they are applied. If the log
 * of a dead thread is still valid, whoever retires the thread applies it again, with the same result.
 */
export class CommitLog {
  readonly #shared: Float64Array;
  readonly #words: Int32Array[] = [];
  readonly #offsets: number[] = [];
  readonly #values: number[] = [];

  constructor(memory: SharedArrayBuffer) {
    this.#shared = new Float64Array(memory);
  }

  get isFull(): boolean {
    return this.#values.length > CAPACITY - MOST_A_FLOW;
  }

  /** Notes that the commit sets a mark of a flow to `value`. */
  note(incarnation: number, flow: number, words: Int32Array, mark: number, value: number): void {
    const at = FIRST_ENTRY + this.#values.length * ENTRY_WORDS;
    const shared = this.#shared;
    shared[at] = incarnation;
    shared[at + 1] = flow * MARKS_A_FLOW + mark;
    shared[at + 2] = value;
    this.#words.push(words);
    this.#offsets.push(flowBase(flow) + mark);
    this.#values.push(value);
  }

  /**
   * Commits what is noted, and adds `added` to the first counters of `counters`. From then on outcomes that were told up to the
   * number `told` count.
   */
  commit(counters: Float64Array, added: readonly number[], told = 0): void {
    const shared = this.#shared;
    shared[TOLD_NEXT] = told;
    for (let at = 0; at < COMMITTED_COUNTERS; at++) {
      shared[COUNTERS + at] = (counters[at] as number) + (added[at] as number);
    }
    shared[LENGTH] = this.#values.length;
    for (let at = 0; at < this.#values.length; at++) {
      (this.#words[at] as Int32Array)[this.#offsets[at] as number] = this.#values[at] as number;
    }
    for (let at = 0; at < COMMITTED_COUNTERS; at++) counters[at] = shared[COUNTERS + at] as number;
    shared[TOLD] = told;
    shared[LENGTH] = 0;
    this.#words.length = 0;
    this.#offsets.length = 0;
    this.#values.length = 0;
  }
}

/** Up to which number the outcomes that the thread told count. */
export const toldUpTo = (memory: SharedArrayBuffer): number => new Float64Array(memory)[TOLD] as number;

/** Finishes the commit in which a thread died, if it died in one. */
export function finishCommit(
  memory: SharedArrayBuffer,
  counters: Float64Array,
  flowOf: (
    incarnation: number,
    flow: number,
  ) => { readonly words: Int32Array; readonly base: number } | undefined,
): void {
  const shared = new Float64Array(memory);
  const length = shared[LENGTH] as number;
  if (length === 0) return;
  for (let entry = 0; entry < length; entry++) {
    const at = FIRST_ENTRY + entry * ENTRY_WORDS;
    const key = shared[at + 1] as number;
    const flow = flowOf(shared[at] as number, Math.floor(key / MARKS_A_FLOW));
    if (flow !== undefined) flow.words[flow.base + (key % MARKS_A_FLOW)] = shared[at + 2] as number;
  }
  for (let at = 0; at < COMMITTED_COUNTERS; at++) counters[at] = shared[COUNTERS + at] as number;
  shared[TOLD] = shared[TOLD_NEXT] as number;
  shared[LENGTH] = 0;
}
