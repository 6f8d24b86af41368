import { Fifo } from '../mailbox/fifo.ts';
import { remoteUnreachable } from '../protocol/edge-errors.ts';
import type { PeerRequest } from './peer-message.ts';
import { notSaid, type PeerSession, type RequestUser, type SentRequest } from './peer-session.ts';

/** A request that waits for a session. */
interface Held {
  readonly message: Omit<PeerRequest, 'n'>;
  readonly user: RequestUser;
  sent: SentRequest | undefined;
  /** What its reader has asked for so far, of a stream. */
  pulled: number;
  isOver: boolean;
}

/**
 * The way to one other node, whatever session carries it at the moment. While there is none, requests wait here as long as the
 * node is awaited; a node that is not gets none.
 */
export class PeerLine {
  readonly node: string;
  readonly #held = new Fifo<Held>();
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

  /** Throws REMOTE_UNREACHABLE when the node is not awaited, and NOT_SERIALISABLE. */
  request(message: Omit<PeerRequest, 'n'>, user: RequestUser): SentRequest {
    if (this.#lostBecause !== undefined) throw this.#unreachable(this.#lostBecause);
    const held: Held = { message, user, sent: undefined, pulled: 0, isOver: false };
    if (this.#session === undefined || this.#held.length > 0) this.#held.push(held);
    else this.#give(this.#session, held);
    return {
      pull: (count) => {
        held.pulled += count;
        held.sent?.pull(count);
      },
      abort: (reason) => {
        held.isOver = true;
        held.sent?.abort(reason);
      },
    };
  }

  /** Requests go over this session from now on, first those that have waited. */
  use(session: PeerSession): void {
    this.#session = session;
    this.#lostBecause = undefined;
    for (let held = this.#held.shift(); held !== undefined; held = this.#held.shift()) {
      if (held.isOver) continue;
      try {
        this.#give(session, held);
      } catch (error) {
        held.user.onAnswer({ type: 'failed', n: 0, error: notSaid(error) });
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
    for (let held = this.#held.shift(); held !== undefined; held = this.#held.shift())
      if (!held.isOver) held.user.onLost(reason, false);
  }

  #give(session: PeerSession, held: Held): void {
    held.sent = session.request(held.message, {
      onAnswer: (answer) => held.user.onAnswer(answer),
      onLost: (reason, mayHaveArrived) => {
        // What has not left this node goes over the next session.
        if (mayHaveArrived || this.#lostBecause !== undefined) held.user.onLost(reason, mayHaveArrived);
        else {
          held.sent = undefined;
          this.#held.push(held);
        }
      },
    });
    if (held.pulled > 0) held.sent.pull(held.pulled);
  }

  #unreachable(reason: string): Error {
    return remoteUnreachable(this.node, reason, { mayHaveArrived: false });
  }
}
