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
 * Who outside caused all that is in hand of a flow, whose recipient has several in hand: in the shared memory behind the marks.
 *
 * When the thread dies and no code runs, nobody knows which of them it died over. If all have one cause, that does not matter.
 */
export class CommonOutsider {
  readonly #words: Int32Array;
  readonly #base: number;
  /** In hand, by their sequences. */
  readonly #begun = new Map<number, Begun>();
  /** How many of these each outsider caused, and nobody. */
  readonly #counts = new Map<string, number>();

  constructor(words: Int32Array, base: number) {
    this.#words = words;
    this.#base = base;
  }

  /** `sequence` is begun on, which `key` caused. */
  begin(sequence: number, key: OutsiderKey, isAgain: boolean): void {
    this.#forget(sequence);
    this.#begun.set(sequence, { key, isAgain });
    this.#count(key, 1);
    this.#write();
  }

  /** `sequence` is settled. */
  end(sequence: number): void {
    // What was the last in hand stands there until the next one is: its outcome may not be committed yet.
    if (this.#forget(sequence) && this.#begun.size > 0) this.#write();
  }

  #forget(sequence: number): boolean {
    const one = this.#begun.get(sequence);
    if (one === undefined) return false;
    this.#count(one.key, -1);
    return this.#begun.delete(sequence);
  }

  #write(): void {
    // Asked for each envelope: of a thousand in hand not all can be looked at.
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
