import type { Readable } from 'node:stream';
import { OrreryError } from '../../../runtime/protocol/errors.ts';

const RETRY_MS = 1_000;

/**
 * The connection that a request came over, for whoever knows it.
 *
 * - `body` its bytes, as they come.
 * - `cut`  ends it, so that its caller sees that the answer is not whole.
 */
export interface Peer {
  readonly body: Readable;
  readonly cut: () => void;
}

interface InHand {
  readonly id: string;
  readonly peer: Peer | undefined;
  bytes: number;
}

/** The requests that a gateway has not answered yet, and how many bytes of theirs it holds. */
export class RequestsInHand {
  readonly #maxBytes: number;
  readonly #requests = new Map<Request, InHand>();
  #bytes = 0;
  #waiting: (() => void)[] = [];

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get count(): number {
    return this.#requests.size;
  }

  get bytes(): number {
    return this.#bytes;
  }

  begin(request: Request, id: string, peer: Peer | undefined): void {
    this.#requests.set(request, { id, peer, bytes: 0 });
  }

  idOf(request: Request): string | undefined {
    return this.#requests.get(request)?.id;
  }

  peerOf(request: Request): Peer | undefined {
    return this.#requests.get(request)?.peer;
  }

  /** Counts bytes of its body. Throws RATE_LIMITED when too many are held already. */
  hold(request: Request, bytes: number): void {
    if (this.#bytes + bytes > this.#maxBytes)
      throw new OrreryError('RATE_LIMITED', 'Too much is being read at once; try again later', {
        details: { maxBytes: this.#maxBytes, retryAfterMs: RETRY_MS },
      });
    const inHand = this.#requests.get(request);
    if (inHand === undefined) return;
    inHand.bytes += bytes;
    this.#bytes += bytes;
  }

  /** Its body has been dealt with. */
  letGo(request: Request): void {
    const inHand = this.#requests.get(request);
    if (inHand === undefined) return;
    this.#bytes -= inHand.bytes;
    inHand.bytes = 0;
  }

  end(request: Request): void {
    this.letGo(request);
    this.#requests.delete(request);
    if (this.#requests.size > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when there is none. */
  whenNone(): Promise<void> {
    if (this.#requests.size === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
