import type { Readable } from 'node:stream';
import { OrreryError } from '../../runtime/protocol/errors.ts';
import type { EdgeCall } from './edge-call.ts';
import type { ParsedLimits } from './gateway-options.ts';

const RETRY_MS = 1_000;

/**
 * The connection that a request came over.
 *
 * - `body`    its bytes, as they come.
 * - `address` of its other end: a caller's, or a proxy's.
 * - `cut`     ends it, so that its caller sees that the answer is not whole.
 */
export interface Peer {
  readonly body: Readable;
  readonly address?: string | undefined;
  readonly cut: () => void;
}

interface InHand {
  readonly id: string;
  readonly peer: Peer | undefined;
  bytes: number;
}

/**
 * The requests that a gateway has not answered yet, and how many bytes of theirs it holds: of one address no more than are
 * left for all others, but one body at least.
 */
export class RequestsInHand {
  readonly #maxBytes: number;
  readonly #maxBodyBytes: number;
  /** A WeakMap: a Map's old tables would hold deleted requests until a full collection. */
  readonly #requests = new WeakMap<EdgeCall, InHand>();
  readonly #bytesOf = new Map<string, number>();
  #count = 0;
  #bytes = 0;
  #waiting: (() => void)[] = [];

  constructor({ maxBytesInHand, maxBodyBytes }: Pick<ParsedLimits, 'maxBytesInHand' | 'maxBodyBytes'>) {
    this.#maxBytes = maxBytesInHand;
    this.#maxBodyBytes = maxBodyBytes;
  }

  get count(): number {
    return this.#count;
  }

  get bytes(): number {
    return this.#bytes;
  }

  begin(call: EdgeCall, id: string, peer: Peer | undefined): void {
    this.#count += 1;
    this.#requests.set(call, { id, peer, bytes: 0 });
  }

  /** `other` has the id and the connection of `call`, and is over with it. */
  standIn(other: EdgeCall, call: EdgeCall): void {
    const inHand = this.#requests.get(call);
    if (inHand !== undefined) this.#requests.set(other, inHand);
  }

  idOf(call: EdgeCall): string | undefined {
    return this.#requests.get(call)?.id;
  }

  peerOf(call: EdgeCall): Peer | undefined {
    return this.#requests.get(call)?.peer;
  }

  /** Counts bytes of a request's body. Throws RATE_LIMITED when too many are held already. */
  hold(call: EdgeCall, bytes: number): void {
    const inHand = this.#requests.get(call);
    const left = this.#maxBytes - this.#bytes - bytes;
    if (left < 0 || this.#isTooMuch(inHand?.peer?.address, bytes, left))
      throw new OrreryError('RATE_LIMITED', 'Too much is being read at once; try again later', {
        details: { maxBytes: this.#maxBytes, retryAfterMs: RETRY_MS },
      });
    if (inHand !== undefined) this.#add(inHand, bytes);
  }

  #isTooMuch(address: string | undefined, bytes: number, left: number): boolean {
    if (address === undefined) return false;
    return (this.#bytesOf.get(address) ?? 0) + bytes > Math.max(left, this.#maxBodyBytes);
  }

  #add(inHand: InHand, bytes: number): void {
    inHand.bytes += bytes;
    this.#bytes += bytes;
    const address = inHand.peer?.address;
    if (address === undefined || bytes === 0) return;
    const held = (this.#bytesOf.get(address) ?? 0) + bytes;
    if (held === 0) this.#bytesOf.delete(address);
    else this.#bytesOf.set(address, held);
  }

  /** Releases the bytes of a request's body. */
  letGo(call: EdgeCall): void {
    const inHand = this.#requests.get(call);
    if (inHand !== undefined) this.#add(inHand, -inHand.bytes);
  }

  end(call: EdgeCall): void {
    this.letGo(call);
    if (!this.#requests.delete(call)) return;
    this.#count -= 1;
    if (this.#count > 0) return;
    for (const resolve of this.#waiting.splice(0)) resolve();
  }

  /** Resolves when no request is in hand. */
  whenNone(): Promise<void> {
    if (this.#count === 0) return Promise.resolve();
    return new Promise((resolve) => this.#waiting.push(resolve));
  }
}
