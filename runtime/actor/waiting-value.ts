import type { Mail } from '../mailbox/mail.ts';
import type { ErrorData } from '../protocol/errors.ts';
import { errorFromData } from '../protocol/errors.ts';
import { REPLY } from '../threads/batch-format.ts';
import { WaitingAsk } from './ask-table.ts';
import { callOutside } from './call-outside.ts';
import type { Progress } from './context.ts';
import type { Handling } from './handling.ts';

/** An ask that waits for one value. */
export class WaitingValue extends WaitingAsk {
  readonly #resolve: (value: never) => void;
  readonly #reject: (error: Error) => void;
  readonly #onProgress: ((progress: Progress) => void) | undefined;

  constructor(
    asked: Mail,
    owner: Handling | undefined,
    resolve: (value: never) => void,
    reject: (error: Error) => void,
    onProgress: ((progress: Progress) => void) | undefined,
  ) {
    super(asked, owner);
    this.#resolve = resolve;
    this.#reject = reject;
    this.#onProgress = onProgress;
  }

  answer(kind: number, payload: unknown): boolean {
    if (kind === REPLY.value || kind === REPLY.empty) this.#resolve(payload as never);
    else if (kind === REPLY.error) this.#reject(errorFromData(payload as ErrorData));
    else if (kind === REPLY.progress) {
      callOutside(this.#onProgress, toProgress(payload as [number, string | null]));
      return true;
    }
    return false;
  }

  fail(error: Error): void {
    this.#reject(error);
  }
}

export const toProgress = ([fraction, note]: [number, string | null]): Progress =>
  note === null ? { fraction } : { fraction, note };
