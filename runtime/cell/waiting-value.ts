import type { Mail } from '../mailbox/mail.ts';
import { REPLY } from '../mailbox/reply.ts';
import type { Handling } from './handling.ts';
import { type AskListeners, WaitingAsk } from './waiting-ask.ts';

/** An ask that waits for one value. */
export class WaitingValue extends WaitingAsk {
  readonly #resolve: (value: never) => void;
  readonly #reject: (error: Error) => void;

  constructor(
    asked: Mail,
    owner: Handling | undefined,
    resolve: (value: never) => void,
    reject: (error: Error) => void,
    listeners: AskListeners,
  ) {
    super(asked, owner, listeners);
    this.#resolve = resolve;
    this.#reject = reject;
  }

  protected answered(kind: number, payload: unknown): boolean {
    if (kind === REPLY.value || kind === REPLY.empty) this.#resolve(payload as never);
    return false;
  }

  protected failed(error: Error): void {
    this.#reject(error);
  }
}
