import { reasonOf } from '../protocol/errors.ts';
import {
  cutText,
  type PeerAnswer,
  type PeerMessage,
  type PeerRequest,
  type ToldError,
} from './peer-message.ts';

/** What is asked of another node; the session that says it gives it a number. */
export type Asking = Omit<PeerRequest, 'n'>;

/** Whoever waits for what becomes of a request at the other node. */
export interface RequestUser {
  onAnswer(answer: PeerAnswer): void;
  /** The session is over before the answer came; `mayHaveArrived`: the other node may have begun on it. */
  onLost(reason: string, mayHaveArrived: boolean): void;
}

/** A request of ours at the other node. */
export interface SentRequest {
  pull(count: number): void;
  /** Nobody waits for its answer any more; nothing more is heard of it. */
  abort(reason: string): void;
  /** Nobody waits for it any more; what the other node has of it goes on. */
  leave(): void;
}

/** What says more about a request that was said. */
interface Teller {
  say(message: PeerMessage): void;
  sayAbort(n: number, reason: string): void;
}

/** Where requests wait for a session. */
export interface RequestKeeper {
  /** Keeps one that has not left this node for the next session; false where there will be none. */
  takeBack(request: OwnRequest): boolean;
}

/** A request of ours to another node: it waits until a session says it, and then for its answers. */
export class OwnRequest implements SentRequest {
  /** Nobody waits for it any more, or its last answer came. */
  isOver = false;
  /** Called when nobody waits for it any more, while it is in a queue. */
  onGivenUp: (() => void) | undefined;
  readonly #user: RequestUser;
  readonly #keeper: RequestKeeper | undefined;
  /** Until it is said: what is asked can be large, and answers can take long. */
  #asking: Asking | undefined;
  /** What was asked for of its stream before it was said. */
  #pulled = 0;
  #n = -1;
  #teller: Teller | undefined;

  constructor(asking: Asking, user: RequestUser, keeper?: RequestKeeper) {
    this.#asking = asking;
    this.#user = user;
    this.#keeper = keeper;
  }

  /** Has `write` say it under this number; what it throws leaves the request as it was. */
  sayAs(n: number, teller: Teller, write: (request: PeerRequest) => void): void {
    const request = this.#asking as PeerRequest;
    request.n = n;
    write(request);
    this.#asking = undefined;
    this.#n = n;
    this.#teller = teller;
    if (this.#pulled > 0) teller.say({ type: 'pull', n, count: this.#pulled });
  }

  pull(count: number): void {
    if (this.#teller === undefined) this.#pulled += count;
    else if (!this.isOver) this.#teller.say({ type: 'pull', n: this.#n, count });
  }

  abort(reason: string): void {
    if (this.isOver) return;
    this.leave();
    this.#teller?.sayAbort(this.#n, reason);
  }

  leave(): void {
    if (this.isOver) return;
    this.isOver = true;
    this.#asking = undefined;
    this.onGivenUp?.();
  }

  /** What was given up here goes on there until it hears of that. */
  answered(answer: PeerAnswer, isLast: boolean): void {
    if (this.isOver) return;
    this.isOver = isLast;
    this.#user.onAnswer(answer);
  }

  /** It cannot be said. */
  refuse(error: unknown): void {
    this.answered({ type: 'failed', n: 0, error: notSaid(error) }, true);
  }

  /** The session is over. What has not left this node goes over the next one, if there will be one. */
  lose(reason: string, mayHaveArrived: boolean): void {
    if (this.isOver || (!mayHaveArrived && this.#keeper?.takeBack(this) === true)) return;
    this.#user.onLost(reason, mayHaveArrived);
  }
}

/** Why something was not said to the other node. */
export const notSaid = (error: unknown): ToldError => ({
  code: 'NOT_SERIALISABLE',
  message: cutText(reasonOf(error)),
});
