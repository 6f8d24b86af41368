import type { Readable } from 'node:stream';
import { OrreryError } from '../../../runtime/protocol/errors.ts';
import type { ParsedLimits } from './gateway-limits.ts';

const RETRY_MS = 1_000;

/**
 * The connection that a request came over, for whoever knows it.
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
  readonly #requests = new Map<Request, InHand>();
  readonly #bytesOf = new Map<string, number>();
  #bytes = 0;
  #waiting: (() => void)[] = [];

  constructor({ maxBytesInHand, maxBodyBytes }: Pick<ParsedLimits, 'maxBytesInHand' | 'maxBodyBytes'>) {
    this.#maxBytes = maxBytesInHand;
    this.#maxBodyBytes = maxBodyBytes;
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
    const inHand = this.#requests.get(request);
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

  /** Its body has been dealt with. */
  letGo(request: Request): void {
    const inHand = this.#requests.get(request);
    if (inHand !== undefined) this.#add(inHand, -inHand.bytes);
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
