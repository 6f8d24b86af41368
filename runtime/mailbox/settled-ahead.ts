import type { CommitLog } from './commit-log.ts';
import { distance, hasWindow, MARK_WORDS, WINDOW_WORDS } from './flow-marks.ts';

/** How far beyond a flow's settled mark an outcome can be noted. */
export const WINDOW = WINDOW_WORDS * 32;

/**
 * The envelopes of a flow that are settled beyond its mark, because the recipient has several in hand. They are a ring of one bit
 * for each envelope, in the shared memory behind the marks.
 *
 * The recipient's thread writes it with the marks, in one commit. After a death it says what must not run again.
 */
export class SettledAhead {
  readonly #words: Int32Array;
  readonly #base: number;
  readonly #flow: number;
  /** The shared words as the next commit writes them. */
  readonly #bits: Int32Array;
  /** One bit for each word that changed since the last commit. */
  #changed = 0;
  /** Sequences that are settled and have no bit yet. */
  readonly #fresh = new Set<number>();
  /** How many sequences have a bit. */
  noted = 0;

  constructor(words: Int32Array, base: number, flow: number) {
    this.#words = words;
    this.#base = base + MARK_WORDS;
    this.#flow = flow;
    this.#bits = words.slice(this.#base, this.#base + WINDOW_WORDS);
    for (const word of this.#bits) this.noted += bitsIn(word);
  }

  /** Says whether `sequence` has its bit. It must be at most `WINDOW` beyond the settled mark. */
  has(sequence: number): boolean {
    return ((this.#bits[wordOf(sequence)] as number) & bitOf(sequence)) !== 0;
  }

  /** Notes that `sequence` is settled before an older one. */
  add(sequence: number): void {
    this.#fresh.add(sequence);
  }

  /** Clears the bit of `sequence`, as the mark goes past it. Says whether a former commit has counted it. */
  pass(sequence: number): boolean {
    if (!this.has(sequence)) {
      this.#fresh.delete(sequence);
      return false;
    }
    this.#set(sequence, 0);
    this.noted -= 1;
    return true;
  }

  /** Notes in `log` what is settled beyond `settled`, and calls `count` with each. What is too far beyond waits. */
  commit(log: CommitLog, incarnation: number, settled: number, count: (sequence: number) => void): void {
    for (const sequence of this.#fresh) {
      if (distance(sequence, settled) > WINDOW) continue;
      this.#fresh.delete(sequence);
      this.#set(sequence, bitOf(sequence));
      this.noted += 1;
      count(sequence);
    }
    // Each word is noted as if it were the mark of a flow at its place.
    for (let at = 0; this.#changed !== 0; at++, this.#changed >>>= 1) {
      if ((this.#changed & 1) === 0) continue;
      const record = 1 + Math.floor(at / MARK_WORDS);
      log.note(incarnation, this.#flow + record, this.#words, at % MARK_WORDS, this.#bits[at] as number);
    }
  }

  #set(sequence: number, bit: number): void {
    const at = wordOf(sequence);
    this.#bits[at] = ((this.#bits[at] as number) & ~bitOf(sequence)) | bit;
    this.#changed |= 1 << at;
  }
}

/** Says whether the marks at `base` have `sequence` as settled, in order or ahead. */
export function isSettledAt(words: Int32Array, base: number, settled: number, sequence: number): boolean {
  const beyond = distance(sequence, settled);
  if (beyond <= 0) return true;
  if (beyond > WINDOW || !hasWindow(words, base)) return false;
  return ((words[base + MARK_WORDS + wordOf(sequence)] as number) & bitOf(sequence)) !== 0;
}

/** How many of a flow are settled beyond its mark. */
export function countAhead(words: Int32Array, base: number): number {
  if (!hasWindow(words, base)) return 0;
  let count = 0;
  for (let at = 0; at < WINDOW_WORDS; at++) count += bitsIn(words[base + MARK_WORDS + at] as number);
  return count;
}

/** The last sequence of a flow that is settled, in order or ahead. */
export function lastSettled(words: Int32Array, base: number, settled: number): number {
  if (!hasWindow(words, base)) return settled;
  for (let beyond = WINDOW; beyond > 0; beyond--) {
    const sequence = (settled + beyond) | 0;
    if (isSettledAt(words, base, settled, sequence)) return sequence;
  }
  return settled;
}

const wordOf = (sequence: number): number => (sequence & (WINDOW - 1)) >>> 5;
const bitOf = (sequence: number): number => 1 << (sequence & 31);

function bitsIn(word: number): number {
  let count = 0;
  for (let left = word; left !== 0; left &= left - 1) count += 1;
  return count;
}
