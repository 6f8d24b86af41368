import { untilAborted } from '../../runtime/protocol/until-aborted.ts';

/** Whether a server hangs is looked into, and while that is not known it is given nothing more. */
export class HangCheck {
  readonly #answers: () => Promise<boolean>;
  readonly #onHang: (hasHeld: boolean) => void;
  #checking: Promise<boolean> | undefined;
  #held = 0;

  /**
   * - `answers` whether it says anything at all; never rejects.
   * - `onHang`  hears that it does not. `hasHeld`: somebody waits whose request was not sent.
   */
  constructor(answers: () => Promise<boolean>, onHang: (hasHeld: boolean) => void) {
    this.#answers = answers;
    this.#onHang = onHang;
  }

  /** Something has had no answer. */
  begin(): void {
    this.#checking ??= this.#answers().then((answers) => {
      this.#checking = undefined;
      if (!answers) this.#onHang(this.#held > 0);
      return answers;
    });
  }

  /** Resolves when it may be given something; rejects when it hangs, or nobody waits any more. */
  async mayGoOn(signal: AbortSignal): Promise<void> {
    if (this.#checking === undefined) return;
    this.#held += 1;
    try {
      if (!(await untilAborted(this.#checking, signal))) throw new Error('it hangs, and nothing was sent');
    } finally {
      this.#held -= 1;
    }
  }
}
