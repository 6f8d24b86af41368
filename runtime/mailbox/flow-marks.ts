/**
 * The words of a flow's marks, in shared memory that no worker owns.
 *
 * A *flow* is everything that one thread sends to one recipient in one lane. Its sequence is dense: 1, 2, 3, ... in Int32, so
 * `distance` compares two of it. The sender's thread owns the record and writes `sent`, `slot` and `lane`; the recipient's
 * thread writes the others. Replay and conservation read the marks when either thread is gone.
 */
export const MARK = {
  /** Last sequence posted. */
  sent: 0,
  /** Highest sequence whose handling has begun. */
  started: 1,
  /** Last sequence up to which every outcome is known and everything its handler sent is posted. */
  settled: 2,
  /** Slot of the recipient, so that the record can be read without its owner. */
  slot: 3,
  /** The lane, with `WINDOWED` added if words stand behind the marks. */
  lane: 4,
  /** First half of the key of the outsider who caused the envelope last begun on; both halves are 0 for nobody. */
  outsider: 5,
  /** Second half of that key. Whoever retires the thread charges this outsider. */
  outsiderMore: 6,
  /** 1 if that envelope was begun on before: its deaths are one charge. */
  isAgain: 7,
} as const;

export const MARK_WORDS = 8;
export const FLOWS_PER_SLAB = 512;
/** Words behind the marks, if the recipient handles several at once: one bit for each envelope that is settled ahead. */
export const WINDOW_WORDS = 32;
/** The words behind the window: what all envelopes in hand have in common. */
export const IN_COMMON = {
  /** First half of the key of the outsider who caused them all; both halves are 0 if nobody did, or not the same one. */
  outsider: MARK_WORDS + WINDOW_WORDS,
  /** Second half of that key. */
  outsiderMore: MARK_WORDS + WINDOW_WORDS + 1,
  /** 1 if only one is in hand, and it was begun on before. */
  isAgain: MARK_WORDS + WINDOW_WORDS + 2,
} as const;
/** How many flow records the window and the words behind it take. Their flow numbers are not given to flows. */
export const WINDOW_RECORDS = WINDOW_WORDS / MARK_WORDS + 1;
/** Added to the word of the lane if a window stands behind the marks. */
const WINDOWED = 256;

export const laneAt = (words: Int32Array, base: number): number =>
  (words[base + MARK.lane] as number) & ~WINDOWED;

export const hasWindow = (words: Int32Array, base: number): boolean =>
  ((words[base + MARK.lane] as number) & WINDOWED) !== 0;

export function openWindow(words: Int32Array, base: number): void {
  words[base + MARK.lane] = (words[base + MARK.lane] as number) | WINDOWED;
}

/** `a - b` of two sequences that may have wrapped. */
export const distance = (a: number, b: number): number => (a - b) | 0;

/** A block of flow records. */
export interface FlowSlab {
  readonly index: number;
  readonly memory: SharedArrayBuffer;
  readonly words: Int32Array;
}

export function newFlowSlab(index: number): FlowSlab {
  return openFlowSlab(index, new SharedArrayBuffer(FLOWS_PER_SLAB * MARK_WORDS * 4));
}

export const openFlowSlab = (index: number, memory: SharedArrayBuffer): FlowSlab => ({
  index,
  memory,
  words: new Int32Array(memory),
});

/** Where the record of flow number `flow` starts in its slab. */
export const flowBase = (flow: number): number => (flow % FLOWS_PER_SLAB) * MARK_WORDS;

/** Which slab holds flow number `flow`. */
export const slabIndexOf = (flow: number): number => Math.floor(flow / FLOWS_PER_SLAB);
