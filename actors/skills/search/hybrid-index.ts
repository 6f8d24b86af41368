import { highestPlaces } from './highest-places.ts';
import type { Vector } from './vector.ts';
import { type Similar, type SimilarQuery, TextIndex } from './text-index.ts';
import { VectorIndex } from './vector-index.ts';

/** What a cosine counts beside the square of the score of the words: the middle of what a labelled set found best. */
const VECTOR_SHARE = 0.3;
/** How many are looked at closely, of those that are best by one signal, for each one that is wanted. */
const CANDIDATES = 20;
const FEWEST_CANDIDATES = 200;

/** How well a text fits: `text` by its words, 0 to 1; `vector` the cosine of its meaning, -1 to 1; null where it has none. */
export interface Signals {
  readonly text: number;
  readonly vector: number | null;
}

/** - `score` the square of `text` and 0.3 times `vector`, as far as that is above 0. */
export interface Hit {
  readonly place: number;
  readonly score: number;
  readonly signals: Signals;
}

/** - `vector` of the query. @default by words alone. - `takes` which places are meant. - `most` how many are wanted. */
export interface HybridQuery {
  readonly text: string;
  readonly vector: Vector | undefined;
  readonly takes: (place: number) => boolean;
  readonly most: number;
}

/** Where the texts of one owner are found by their words and by their meaning. */
export class HybridIndex {
  readonly #texts = new TextIndex();
  readonly #vectors = new VectorIndex();

  get size(): number {
    return this.#texts.size;
  }

  get places(): number {
    return this.#texts.places;
  }

  /** Whether it should be made anew from the texts that are there. */
  get isWorn(): boolean {
    return this.#texts.isWorn;
  }

  /** Puts a text at the next place, and returns that. */
  add(text: string, vector?: Vector): number {
    const place = this.#texts.add(text);
    if (vector !== undefined) this.#vectors.set(place, vector);
    return place;
  }

  /** Gives the text at a place its vector, which comes later than the text. */
  setVector(place: number, vector: Vector): void {
    this.#vectors.set(place, vector);
  }

  remove(place: number): void {
    this.#texts.remove(place);
    this.#vectors.remove(place);
  }

  /** As `TextIndex.similar`. */
  similar(text: string, query: SimilarQuery): readonly Similar[] {
    return this.#texts.similar(text, query);
  }

  /** The best, the highest score first; of equal ones the one that was added first. */
  search({ text, vector, takes, most }: HybridQuery): Hit[] {
    const wanted = { takes, most: Math.max(FEWEST_CANDIDATES, most * CANDIDATES) };
    const byWords = this.#texts.scores(text);
    const candidates = new Set(highestPlaces(byWords, wanted));
    if (vector !== undefined)
      for (const place of highestPlaces(this.#vectors.nearness(vector), wanted)) candidates.add(place);
    const hits = [...candidates].map((place): Hit => {
      const signals = {
        text: byWords[place] as number,
        vector: vector === undefined ? null : this.#vectors.cosine(vector, place),
      };
      // A text shares a few words with any question by chance. The square makes little of those, and much of most of them.
      return { place, score: signals.text ** 2 + VECTOR_SHARE * Math.max(0, signals.vector ?? 0), signals };
    });
    return hits
      .filter(({ score }) => score > 0)
      .sort((one, other) => other.score - one.score || one.place - other.place)
      .slice(0, most);
  }
}
