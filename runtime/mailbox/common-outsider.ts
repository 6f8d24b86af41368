import type { OutsiderKey } from './behalf.ts';
import { IN_COMMON } from './flow-marks.ts';
import { keyText } from './outsider.ts';

/** The key of nobody. */
export const NOBODY: OutsiderKey = [0, 0];

interface Begun {
  readonly key: OutsiderKey;
  readonly isAgain: boolean;
}

/**
 * The outsider who caused everything that a recipient has in hand of one flow, noted in the shared memory behind the marks. It is
 * for recipients that have several envelopes in hand.
 *
 * If the thread dies while no code runs, nobody knows over which envelope. If all have one cause, that does not matter.
 */
export class CommonOutsider {
  readonly #words: Int32Array;
  readonly #base: number;
  /** The envelopes in hand, by sequence. */
  readonly #begun = new Map<number, Begun>();
  /** How many of these each outsider caused, and how many nobody did. */
  readonly #counts = new Map<string, number>();

  constructor(words: Int32Array, base: number) {
    this.#words = words;
    this.#base = base;
  }

  /** Notes that `sequence`, which `key` caused, is begun on. */
  begin(sequence: number, key: OutsiderKey, isAgain: boolean): void {
    this.#forget(sequence);
    this.#begun.set(sequence, { key, isAgain });
    this.#count(key, 1);
    this.#write();
  }

  /** Notes that `sequence` is settled. */
  end(sequence: number): void {
    // The last envelope in hand stays noted until the next is begun on: its outcome may not be committed yet.
    if (this.#forget(sequence) && this.#begun.size > 0) this.#write();
  }

  #forget(sequence: number): boolean {
    const one = this.#begun.get(sequence);
    if (one === undefined) return false;
    this.#count(one.key, -1);
    return this.#begun.delete(sequence);
  }

  #write(): void {
    // This runs for each envelope: it must not look at all that are in hand.
    const [first, second] = this.#counts.size === 1 ? (this.#first?.key ?? NOBODY) : NOBODY;
    this.#set(IN_COMMON.outsider, first);
    this.#set(IN_COMMON.outsiderMore, second);
    this.#set(IN_COMMON.isAgain, this.#begun.size === 1 && this.#first?.isAgain === true ? 1 : 0);
  }

  #count(key: OutsiderKey, more: number): void {
    const name = keyText(key);
    const count = (this.#counts.get(name) ?? 0) + more;
    if (count > 0) this.#counts.set(name, count);
    else this.#counts.delete(name);
  }

  get #first(): Begun | undefined {
    return this.#begun.values().next().value;
  }

  #set(word: number, value: number): void {
    const at = this.#base + word;
    if (this.#words[at] !== value) this.#words[at] = value;
  }
}
