import { type Hit, HybridIndex } from '../search/hybrid-index.ts';
import type { Vector } from '../search/vector.ts';
import type { Ownership } from './ownership.ts';
import type { Statement } from './precedence.ts';

/**
 * What is known of a memory beside its text, to choose by.
 *
 * - `hash`                      of its text.
 * - `validFromMs`, `validUntilMs` when it holds, Unix milliseconds; absent is for ever.
 */
export interface IndexedMemory extends Ownership {
  readonly id: string;
  readonly subject: string | null;
  readonly tags: readonly string[];
  readonly hash: string;
  readonly updatedAtMs: number;
  readonly validFromMs: number | null;
  readonly validUntilMs: number | null;
}

export interface MemoryQuery {
  readonly text: string;
  /** Of the query. @default by words alone */
  readonly vector: Vector | undefined;
  readonly takes: (memory: IndexedMemory) => boolean;
  readonly most: number;
}

export interface FoundMemory extends Pick<Hit, 'score' | 'signals'> {
  readonly memory: IndexedMemory;
}

/** The memories of one tenant as they are found: by text, meaning and subject. */
export class MemoryIndex {
  readonly #index = new HybridIndex();
  /** By place. */
  readonly #memories: (IndexedMemory | undefined)[] = [];
  readonly #places = new Map<string, number>();
  readonly #bySubject = new Map<string, Set<number>>();

  get size(): number {
    return this.#places.size;
  }

  /** Whether it should be made anew from the store. */
  get isWorn(): boolean {
    return this.#index.isWorn;
  }

  /** Takes a memory in, or as it is now. A changed text has no vector until that is set. */
  put(memory: IndexedMemory, content: string): void {
    const known = this.#places.get(memory.id);
    if (known !== undefined && this.#memories[known]?.hash === memory.hash) {
      this.#unlink(known);
      this.#link(known, memory);
      return;
    }
    this.remove(memory.id);
    const place = this.#index.add(content);
    this.#places.set(memory.id, place);
    this.#link(place, memory);
  }

  /** Gives a memory its vector, which comes later than its text; nothing for one that is not there. */
  setVector(id: string, vector: Vector): void {
    const place = this.#places.get(id);
    if (place !== undefined) this.#index.setVector(place, vector);
  }

  remove(id: string): void {
    const place = this.#places.get(id);
    if (place === undefined) return;
    this.#index.remove(place);
    this.#unlink(place);
    this.#memories[place] = undefined;
    this.#places.delete(id);
  }

  /** The best, the highest score first. */
  search({ text, vector, takes, most }: MemoryQuery): readonly FoundMemory[] {
    const hits = this.#index.search({ text, vector, takes: this.#takenBy(takes), most });
    return hits.map(({ place, score, signals }) => ({ memory: this.#at(place), score, signals }));
  }

  /** Those whose text has nearly the same words, the most similar first. */
  similar(
    text: string,
    wanted: {
      readonly takes: (memory: IndexedMemory) => boolean;
      readonly share: number;
      readonly most: number;
    },
  ): readonly { readonly memory: IndexedMemory; readonly similarity: number }[] {
    const found = this.#index.similar(text, { ...wanted, takes: this.#takenBy(wanted.takes) });
    return found.map(({ place, similarity }) => ({ memory: this.#at(place), similarity }));
  }

  /** All that say something about a subject. */
  about(subject: string): readonly (IndexedMemory & Statement)[] {
    const places = this.#bySubject.get(subject) ?? [];
    return [...places].map((place) => {
      const memory = this.#at(place);
      return { ...memory, rank: memory.layer };
    });
  }

  readonly #takenBy =
    (takes: (memory: IndexedMemory) => boolean) =>
    (place: number): boolean => {
      const memory = this.#memories[place];
      return memory !== undefined && takes(memory);
    };

  #at(place: number): IndexedMemory {
    return this.#memories[place] as IndexedMemory;
  }

  #link(place: number, memory: IndexedMemory): void {
    this.#memories[place] = memory;
    const { subject } = memory;
    if (subject === null) return;
    const places = this.#bySubject.get(subject);
    if (places === undefined) this.#bySubject.set(subject, new Set([place]));
    else places.add(place);
  }

  #unlink(place: number): void {
    const subject = this.#memories[place]?.subject ?? null;
    if (subject === null) return;
    const places = this.#bySubject.get(subject);
    places?.delete(place);
    if (places?.size === 0) this.#bySubject.delete(subject);
  }
}
