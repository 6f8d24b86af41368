import type { LargeBody } from './large-bodies.ts';
import { type JsonRead, readJson } from './read-json.ts';

/** What is done with a body of more bytes than this takes turns with what is done for others. */
export const LONG_BYTES = 65_536;

/** The body of a request, which is here whole. */
export interface Body {
  /** How many bytes it has. */
  readonly length: number;
  /** As they came. */
  readonly bytes: Uint8Array;
  /**
   * What it says. Rejects with BODY_TOO_LARGE for too many members, with THREAD_DIED when it cannot be read, and as `turn`
   * does.
   */
  json(): Promise<JsonRead>;
  /**
   * Between two things that are done with it: resolves when others have had their turn; undefined where it is so short that
   * they need none. Rejects with SYSTEM_STOPPED when its caller has gone.
   */
  turn(): Promise<void> | undefined;
}

/**
 * - `large`   it is read in another thread.
 * - `counted` counts what is refused.
 * - `turn`    resolves when it is this body's turn, for the first time or again.
 */
export interface ReceivedBodyDeps {
  readonly large: LargeBody | undefined;
  readonly counted: (read: Promise<JsonRead>) => Promise<JsonRead>;
  readonly turn: (nth: 'first' | 'again') => Promise<void>;
}

/** A body whose bytes are put together when somebody wants them so. */
export class ReceivedBody implements Body {
  readonly length: number;
  readonly #deps: ReceivedBodyDeps;
  #chunks: readonly Uint8Array[];
  #isBegun: boolean;

  constructor(chunks: readonly Uint8Array[], deps: ReceivedBodyDeps) {
    this.length = chunks.reduce((sum, { length }) => sum + length, 0);
    this.#chunks = chunks;
    this.#deps = deps;
    this.#isBegun = deps.large !== undefined;
  }

  get bytes(): Uint8Array {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] as Uint8Array;
  }

  async json(): Promise<JsonRead> {
    const { large, counted } = this.#deps;
    if (large === undefined) await this.turn();
    const read = large === undefined ? readJson(this.bytes) : await counted(large.json());
    await this.turn();
    return read;
  }

  turn(): Promise<void> | undefined {
    if (this.length <= LONG_BYTES) return undefined;
    const nth = this.#isBegun ? 'again' : 'first';
    this.#isBegun = true;
    return this.#deps.turn(nth);
  }
}

/** A body that came whole, in one piece, and is read where that is done at once. */
export class ShortBody implements Body {
  readonly bytes: Uint8Array;

  constructor(bytes: Uint8Array) {
    this.bytes = bytes;
  }

  get length(): number {
    return this.bytes.length;
  }

  async json(): Promise<JsonRead> {
    return readJson(this.bytes);
  }

  turn(): undefined {
    return undefined;
  }
}
