import { wordsOf } from './words.ts';

/** BM25's saturation of a word's count in a text, and how much a text's length counts (Robertson and Zaragoza, 2009). */
const K1 = 1.2;
const B = 0.75;
/** Places of removed texts are kept up to this share of all: then the index is made anew without them. */
const MOST_REMOVED = 0.2;
/** Of texts that may be similar no more rare words are looked up once there are so many. */
const ENOUGH_CANDIDATES = 2_000;
const FIRST_ROOM = 64;
/** The largest of a byte. BM25 hardly tells so many from more. */
const MOST_COUNTED = 255;
/** The length of a text that is there no more: one without words is in no column. */
const REMOVED = 0;

/** Which texts a word is in, and how often: two columns that grow together. */
class Postings {
  #at = new Uint32Array(4);
  #counts = new Uint8Array(4);
  #length = 0;
  /** How many of these texts are there still. */
  living = 0;

  /** Counts the word once more at a place, the last one or a later one; says whether it is the first time there. */
  count(place: number): boolean {
    const last = this.#length - 1;
    if (last >= 0 && this.#at[last] === place) {
      this.#counts[last] = Math.min((this.#counts[last] as number) + 1, MOST_COUNTED);
      return false;
    }
    if (this.#length === this.#at.length) {
      this.#at = grown(this.#at);
      this.#counts = grown(this.#counts);
    }
    this.#at[this.#length] = place;
    this.#counts[this.#length] = 1;
    this.#length += 1;
    this.living += 1;
    return true;
  }

  get at(): Uint32Array {
    return this.#at.subarray(0, this.#length);
  }

  get counts(): Uint8Array {
    return this.#counts.subarray(0, this.#length);
  }
}

/** - `similarity` the share of the distinct words of both that both have, 0 to 1. */
export interface Similar {
  readonly place: number;
  readonly similarity: number;
}

/** - `share` the least similarity, above 0. - `takes` which places are meant. - `most` how many are wanted. */
export interface SimilarQuery {
  readonly takes: (place: number) => boolean;
  readonly share: number;
  readonly most: number;
}

/** Where texts are found by their words: BM25 over the texts of one owner, whose counts nobody else's texts change. */
export class TextIndex {
  #words = new Map<string, Postings>();
  /** The distinct words of the text at each place; undefined at that of a removed one. */
  #textWords: (readonly Postings[] | undefined)[] = [];
  #lengths = new Uint16Array(FIRST_ROOM);
  #scores = new Float32Array(FIRST_ROOM);
  #living = 0;
  #totalLength = 0;

  /** How many texts there are. */
  get size(): number {
    return this.#living;
  }

  /** How many places there are, those of removed texts among them. */
  get places(): number {
    return this.#textWords.length;
  }

  /** Whether it should be made anew from the texts that are there. */
  get isWorn(): boolean {
    return this.places > FIRST_ROOM && this.places - this.#living > this.places * MOST_REMOVED;
  }

  /** Puts a text at the next place, and returns that. */
  add(text: string): number {
    const place = this.places;
    if (place === this.#lengths.length) {
      this.#lengths = grown(this.#lengths);
      this.#scores = new Float32Array(this.#lengths.length);
    }
    const words = wordsOf(text);
    const distinct: Postings[] = [];
    for (const word of words) {
      const postings = this.#postingsOf(word);
      if (postings.count(place)) distinct.push(postings);
    }
    this.#textWords.push(distinct);
    this.#lengths[place] = Math.min(words.length, 65_535);
    this.#totalLength += this.#lengths[place] as number;
    this.#living += 1;
    return place;
  }

  /** Takes the text at a place out: it is found no more, and no score is of it. */
  remove(place: number): void {
    const words = this.#textWords[place];
    if (words === undefined) return;
    this.#textWords[place] = undefined;
    for (const postings of words) postings.living -= 1;
    this.#totalLength -= this.#lengths[place] as number;
    this.#lengths[place] = REMOVED;
    this.#living -= 1;
  }

  /**
   * How well the text at each place fits, 0 to 1: what BM25 gives it of the most that it could give any text for these words. It is
   * overwritten by the next query.
   */
  scores(query: string): Float32Array {
    const scores = this.#scores.subarray(0, this.places).fill(0);
    const found = [...new Set(wordsOf(query))].map((word) => this.#words.get(word));
    // A word that no text has is as rare as can be: what is asked for and not there keeps every score low.
    const most = found.reduce((sum, postings) => sum + this.#weight(postings?.living ?? 0) * (K1 + 1), 0);
    for (const postings of found)
      if (postings !== undefined && postings.living > 0) this.#score(postings, most, scores);
    return scores;
  }

  /**
   * The texts that share at least so much of their distinct words with this one, of all that either has, the most similar first.
   * Whatever does has one of the rarest words of this text: only texts with those are looked at, and no more of them once there are
   * thousands, so that nobody can have long texts of common words compared with all that there are.
   */
  similar(text: string, { takes, share, most }: SimilarQuery): readonly Similar[] {
    const words = [...new Set(wordsOf(text))];
    const known = words.flatMap((word) => this.#words.get(word) ?? []);
    const product = Math.ceil(words.length * share);
    // The product may be rounded up to above what the quotient below says is enough.
    const needed = (product - 1) / words.length >= share ? product - 1 : product;
    const rarest = known
      .toSorted((one, other) => one.living - other.living)
      .slice(0, Math.max(0, known.length - needed + 1));
    const candidates = new Set<number>();
    for (const { at } of rarest) {
      for (const place of at) candidates.add(place);
      if (candidates.size >= ENOUGH_CANDIDATES) break;
    }
    const own = new Set(known);
    const found = [...candidates].flatMap((place): Similar[] => {
      const its = this.#textWords[place];
      if (its === undefined || !areAlike(its.length, words.length, share)) return [];
      if (!takes(place)) return [];
      const common = its.reduce((count, word) => count + (own.has(word) ? 1 : 0), 0);
      const similarity = common / (words.length + its.length - common);
      return similarity >= share ? [{ place, similarity }] : [];
    });
    return found.toSorted((one, other) => other.similarity - one.similarity).slice(0, most);
  }

  #score({ at, counts, living }: Postings, most: number, scores: Float32Array): void {
    const weight = (this.#weight(living) * (K1 + 1)) / most;
    const shortest = K1 * (1 - B);
    const ofLength = (K1 * B * this.#living) / Math.max(1, this.#totalLength);
    const lengths = this.#lengths;
    for (let next = 0; next < at.length; next++) {
      const place = at[next] as number;
      const length = lengths[place] as number;
      if (length === REMOVED) continue;
      const count = counts[next] as number;
      scores[place] = (scores[place] as number) + (weight * count) / (count + shortest + ofLength * length);
    }
  }

  #postingsOf(word: string): Postings {
    let postings = this.#words.get(word);
    if (postings === undefined) {
      postings = new Postings();
      this.#words.set(word, postings);
    }
    return postings;
  }

  /** How much a word says that is in so many texts. */
  #weight(texts: number): number {
    return Math.log(1 + (this.#living - texts + 0.5) / (texts + 0.5));
  }
}

/** Whether texts of so many words can share so much of them, about: what is much shorter or longer cannot. */
const areAlike = (one: number, other: number, share: number): boolean =>
  one + 1 >= other * share && other + 1 >= one * share;

function grown<Column extends Uint8Array | Uint16Array | Uint32Array>(column: Column): Column {
  const more = new (column.constructor as new (length: number) => Column)(column.length * 2);
  more.set(column);
  return more;
}
