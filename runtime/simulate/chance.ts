/** A random generator by seed and purpose (mulberry32). Draws of other generators do not affect it. */
export class Chance {
  #state: number;

  constructor(seed: number, purpose: string) {
    this.#state = (hashOf(purpose) ^ Math.imul(seed | 0, 0x9e3779b1)) >>> 0;
  }

  /** A number in [0, 1). */
  readonly next = (): number => {
    this.#state = (this.#state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(this.#state ^ (this.#state >>> 15), this.#state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 4_294_967_296;
  };

  between(least: number, most: number): number {
    return least + this.next() * (most - least);
  }

  /** True with this probability. Draws nothing at probability 0, so that a fault that is off changes nothing else. */
  isTrue(probability: number): boolean {
    return probability > 0 && this.next() < probability;
  }

  pick<Value>(values: readonly Value[]): Value | undefined {
    return values.length === 0 ? undefined : values[Math.floor(this.next() * values.length)];
  }
}

/** FNV-1a hash. */
function hashOf(text: string): number {
  let hash = 0x811c9dc5;
  for (let at = 0; at < text.length; at++) hash = Math.imul(hash ^ text.charCodeAt(at), 0x01000193);
  return hash >>> 0;
}
