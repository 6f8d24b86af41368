import { comparedBy, wordsOf, writtenWords } from './words.ts';

/** BM25's saturation of a word's count in a text, and how much a text's length counts (Robertson and Zaragoza, 2009). */
const K1 = 1.2;
const B = 0.75;
/** Where a number is asked for, it is what tells things apart: an order, a version, a ticket. It says as much as so many words. */
const NUMBER_WEIGHT = 5;
const NUMBER = /^\p{N}/u;
/** Places of removed texts are kept up to this share of all: then the index is made anew without them. */
const MOST_REMOVED = 0.2;
/** Of texts that may be similar no more rare words are looked up once there are so many. */
const ENOUGH_CANDIDATES = 2_000;
const FIRST_ROOM = 64;
/** The largest of a byte. BM25 hardly tells so many from more. */
const MOST_COUNTED = 255;
/** How many written words are known at most with what they are compared by. */
const MOST_WRITTEN = 30_000;
/** Those that are longer are rare, and may keep the whole text in memory that they are a part of. */
const MOST_WRITTEN_CHARS = 12;
/** The length of a text that is there no more: one without words is in no column. */
const REMOVED = 0;

/** Which texts a word is in, and how often. */
class Postings {
  /** A place times 256, plus the count there: one array grows and is read faster than two. It is for less than 2 ** 24 places. */
  readonly entries: number[] = [];
  /** How many of these texts are there still. */
  living = 0;

  /** Counts the word once more at a place, the last one or a later one; says whether it is the first time there. */
  count(place: number): boolean {
    const last = this.entries.length - 1;
    const entry = last < 0 ? undefined : (this.entries[last] as number);
    if (entry !== undefined && placeOf(entry) === place) {
      if (countOf(entry) < MOST_COUNTED) this.entries[last] = entry + 1;
      return false;
    }
    this.entries.push(place * (MOST_COUNTED + 1) + 1);
    this.living += 1;
    return true;
  }
}

const placeOf = (entry: number): number => entry >>> 8;
const countOf = (entry: number): number => entry & MOST_COUNTED;

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
  readonly #words = new Map<string, Postings>();
  /** Where to count a word as it is written: most have come before, and are not taken apart again. */
  readonly #written = new Map<string, readonly Postings[]>();
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
    const distinct: Postings[] = [];
    let words = 0;
    for (const written of writtenWords(text))
      for (const postings of this.#postingsOf(written)) {
        words += 1;
        if (postings.count(place)) distinct.push(postings);
      }
    this.#textWords.push(distinct);
    this.#lengths[place] = Math.min(words, 65_535);
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
   * How well the text at each place fits, 0 to 1: what BM25 gives it of the most that it could give any text for these words, a
   * number counting five times. It is overwritten by the next query.
   */
  scores(query: string): Float32Array {
    const scores = this.#scores.subarray(0, this.places).fill(0);
    const asked = [...new Set(wordsOf(query))].map((word) => {
      const postings = this.#words.get(word);
      // A word that no text has is as rare as can be: what is asked for and not there keeps every score low.
      const rarity = this.#weight(postings?.living ?? 0);
      return { postings, weight: NUMBER.test(word) ? NUMBER_WEIGHT * rarity : rarity };
    });
    const most = asked.reduce((sum, { weight }) => sum + weight, 0);
    for (const { postings, weight } of asked)
      if (postings !== undefined && postings.living > 0) this.#score(postings, weight / most, scores);
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
    for (const { entries } of rarest) {
      for (const entry of entries) candidates.add(placeOf(entry));
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

  #score({ entries }: Postings, weight: number, scores: Float32Array): void {
    const shortest = K1 * (1 - B);
    const ofLength = (K1 * B * this.#living) / Math.max(1, this.#totalLength);
    const lengths = this.#lengths;
    for (let next = 0; next < entries.length; next++) {
      const entry = entries[next] as number;
      const place = placeOf(entry);
      const length = lengths[place] as number;
      if (length === REMOVED) continue;
      const count = countOf(entry);
      scores[place] = (scores[place] as number) + (weight * count) / (count + shortest + ofLength * length);
    }
  }

  #postingsOf(written: string): readonly Postings[] {
    const known = this.#written.get(written);
    if (known !== undefined) return known;
    const all = comparedBy(written).map((word) => {
      const postings = this.#words.get(word) ?? new Postings();
      this.#words.set(word, postings);
      return postings;
    });
    if (written.length <= MOST_WRITTEN_CHARS) {
      if (this.#written.size === MOST_WRITTEN) this.#written.clear();
      this.#written.set(written, all);
    }
    return all;
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
