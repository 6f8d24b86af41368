import { remoteUnreachable } from '../protocol/edge-errors.ts';
import {
  type Asking,
  OwnRequest,
  type RequestKeeper,
  type RequestUser,
  type SentRequest,
} from './own-request.ts';
import type { PeerSession } from './peer-session.ts';
import { RequestQueue } from './request-queue.ts';

/**
 * The way to one other node, whatever session carries it at the moment. While there is none, requests wait here as long as the
 * node is awaited; a node that is not gets none.
 */
export class PeerLine implements RequestKeeper {
  readonly node: string;
  readonly #held = new RequestQueue();
  /** What requests go over. */
  #session: PeerSession | undefined;
  /** Why the node is not awaited any more; undefined while it is. */
  #lostBecause: string | undefined;

  constructor(node: string) {
    this.node = node;
  }

  /** Requests that wait for a session. */
  get held(): number {
    return this.#held.length;
  }

  /** Throws REMOTE_UNREACHABLE when the node is not awaited, and NOT_SERIALISABLE. `asking` belongs to the line from then on. */
  request(asking: Asking, user: RequestUser): SentRequest {
    if (this.#lostBecause !== undefined)
      throw remoteUnreachable(this.node, this.#lostBecause, { mayHaveArrived: false });
    const request = new OwnRequest(asking, user, this);
    if (this.#session === undefined || this.#held.length > 0) this.#held.push(request);
    else this.#session.carry(request);
    return request;
  }

  /** Requests go over this session from now on, first those that have waited. */
  use(session: PeerSession): void {
    this.#session = session;
    this.#lostBecause = undefined;
    for (let request = this.#held.shift(); request !== undefined; request = this.#held.shift()) {
      try {
        session.carry(request);
      } catch (error) {
        request.refuse(error);
      }
    }
  }

  /** The session is over, or has no connection at the moment: what comes waits until one is used again. */
  pause(): void {
    this.#session = undefined;
  }

  /** The node is not awaited any more: what waits for it fails, and whatever comes. */
  lose(reason: string): void {
    this.#lostBecause = reason;
    for (const request of this.#held.takeAll()) request.lose(reason, false);
  }

  /** It was asked before whatever waits here: what came while the session had no connection, and what is taken back already. */
  takeBack(request: OwnRequest): boolean {
    if (this.#lostBecause !== undefined) return false;
    this.#held.unshift(request);
    return true;
  }
}
