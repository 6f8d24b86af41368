/**
 * The marks of flows, in shared memory that no worker owns.
 *
 * A *flow* is everything one thread sends to one recipient in one lane: a dense sequence 1, 2, 3, ... in Int32, so
 * compared wrap-safely. Its sender's thread owns the record and writes `SENT`; the recipient's thread writes the others.
 * They stay readable when either thread is gone, which is what replay and conservation stand on.
 */
export const MARK = {
  /** Last sequence posted. */
  sent: 0,
  /** Highest sequence whose handling has begun. */
  started: 1,
  /** Last sequence up to which every outcome is known and everything its handler sent is posted. */
  settled: 2,
  /** Which agent, as its slot, and which lane, with `WINDOWED`: so that a record can be read without its owner. */
  slot: 3,
  lane: 4,
  /** Who outside caused what was last begun on, as their key; 0 and 0 for nobody. Whoever retires the thread charges them. */
  outsider: 5,
  outsiderMore: 6,
  /** It was begun on before: its deaths are one charge. */
  isAgain: 7,
} as const;

export const MARK_WORDS = 8;
export const FLOWS_PER_SLAB = 512;
/** The words behind the marks of a flow to an agent that handles several at once: one bit for each that is settled ahead. */
export const WINDOW_WORDS = 32;
/** The words behind these: what all have in common that are in hand. */
export const IN_COMMON = {
  /** Who outside caused them all, as their key; 0 and 0 for nobody, or not the same one. */
  outsider: MARK_WORDS + WINDOW_WORDS,
  outsiderMore: MARK_WORDS + WINDOW_WORDS + 1,
  /** There is one alone, and it was begun on before. */
  isAgain: MARK_WORDS + WINDOW_WORDS + 2,
} as const;
/** How many records such words take: numbers of flows that are none. */
export const WINDOW_RECORDS = WINDOW_WORDS / MARK_WORDS + 1;
/** In the word of the lane: such words stand behind it. */
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
