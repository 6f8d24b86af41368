/** Chance that is the same each time (Steele, Lea and Flood's splitmix, 32 bits of it). */
export function chanceOf(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x9e3779b9) | 0;
    let mixed = Math.imul(state ^ (state >>> 16), 0x85ebca6b);
    mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
    return ((mixed ^ (mixed >>> 16)) >>> 0) / 2 ** 32;
  };
}

/**
 * Words that are drawn as often as those of a language are: the second half as often as the first, and so on (Zipf). They are
 * made of letters, so that they go through everything that real ones do.
 */
export class RandomWords {
  readonly #chance: () => number;
  readonly #upTo: Float64Array;

  constructor(chance: () => number, vocabulary: number) {
    this.#chance = chance;
    let sum = 0;
    this.#upTo = Float64Array.from({ length: vocabulary }, (_, rank) => {
      sum += 1 / (rank + 1);
      return sum;
    });
  }

  /** A text of so many words, which nobody could read. */
  text(words: number): string {
    return Array.from({ length: words }, () => this.#word()).join(' ');
  }

  #word(): string {
    const last = this.#upTo.length - 1;
    const drawn = this.#chance() * (this.#upTo[last] as number);
    let low = 0;
    let high = last;
    while (low < high) {
      const middle = (low + high) >> 1;
      if ((this.#upTo[middle] as number) < drawn) low = middle + 1;
      else high = middle;
    }
    return lettersOf(low);
  }
}

const SYLLABLES = [
  'ba',
  'ko',
  'ri',
  'mu',
  'ten',
  'lo',
  'ska',
  'ven',
  'du',
  'ga',
  'pir',
  'zo',
  'fel',
  'wu',
  'nim',
  'jo',
];

/** A word for a number: rare ones are long, as in a language. */
function lettersOf(rank: number): string {
  let letters = '';
  for (let left = rank + SYLLABLES.length; left > 0; left = Math.floor(left / SYLLABLES.length))
    letters += SYLLABLES[left % SYLLABLES.length];
  return letters;
}

/** A vector that points anywhere: the worst case, nothing is near. */
export const randomEmbedding = (chance: () => number, dimensions: number): Float32Array =>
  Float32Array.from({ length: dimensions }, () => chance() + chance() + chance() - 1.5);
