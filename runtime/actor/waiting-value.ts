import type { Mail } from '../mailbox/mail.ts';
import { REPLY } from '../threads/batch-format.ts';
import type { Progress } from './context.ts';
import type { Handling } from './handling.ts';
import { WaitingAsk } from './waiting-ask.ts';

/** An ask that waits for one value. */
export class WaitingValue extends WaitingAsk {
  readonly #resolve: (value: never) => void;
  readonly #reject: (error: Error) => void;

  constructor(
    asked: Mail,
    owner: Handling | undefined,
    resolve: (value: never) => void,
    reject: (error: Error) => void,
    onProgress: ((progress: Progress) => void) | undefined,
  ) {
    super(asked, owner, onProgress);
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
