import type { LargeBody } from './large-bodies.ts';
import { type JsonRead, readJson } from './read-json.ts';

/** The body of a request, which is here whole. */
export interface Body {
  /** How many bytes it has. */
  readonly length: number;
  /** As they came. */
  readonly bytes: Uint8Array;
  /** What it says. Rejects with BODY_TOO_LARGE for too many members, and with THREAD_DIED when it cannot be read. */
  json(): Promise<JsonRead>;
}

/** `large`: it is read in another thread. `counted` counts what is refused. */
export interface ReceivedBodyDeps {
  readonly large: LargeBody | undefined;
  readonly counted: (read: Promise<JsonRead>) => Promise<JsonRead>;
}

/** A body whose bytes are put together when somebody wants them so. */
export class ReceivedBody implements Body {
  readonly #deps: ReceivedBodyDeps;
  #chunks: readonly Uint8Array[];

  constructor(chunks: readonly Uint8Array[], deps: ReceivedBodyDeps) {
    this.#chunks = chunks;
    this.#deps = deps;
  }

  get length(): number {
    return this.#chunks.reduce((sum, { length }) => sum + length, 0);
  }

  get bytes(): Uint8Array {
    if (this.#chunks.length !== 1) this.#chunks = [Buffer.concat(this.#chunks)];
    return this.#chunks[0] as Uint8Array;
  }

  async json(): Promise<JsonRead> {
    const { large, counted } = this.#deps;
    return large === undefined ? readJson(this.bytes) : counted(large.json());
  }
}
