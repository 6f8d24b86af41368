import type { Miscount } from '../budget/account-memory.ts';
import type { Accounts } from '../budget/accounts.ts';
import type { Clock } from '../protocol/seams.ts';
import type { Threads } from './threads.ts';

/** Between two rounds every message that was under way has arrived, and every step of a living thread is over. */
const ROUND_MS = 500;

export interface LostAccountsDeps {
  readonly accounts: Accounts;
  readonly threads: Pick<Threads, 'askAll' | 'areUp' | 'isClosing' | 'size'>;
  readonly clock: Clock;
  /** The accounts of mails of which there are second copies. */
  readonly kept: () => Iterable<number>;
}

/**
 * Closes the accounts of envelopes that were lost together with the thread that sent them: nobody else will.
 *
 * What a dead thread had sent may still wait or be worked on elsewhere. All places are asked which accounts their envelopes
 * have; one that nobody has in two rounds is closed. So is finished what the thread was in the middle of: opening or closing
 * an account takes several steps.
 */
export class LostAccounts {
  readonly #deps: LostAccountsDeps;
  /** Those that dead threads opened, and whether nobody had them in the last round. */
  readonly #suspects = new Map<number, boolean>();
  /** Those that were being closed in the last round. */
  #closing: readonly number[] = [];
  /** Those that counted wrong in the last round. */
  #miscounts: readonly Miscount[] = [];
  #stop: (() => void) | undefined;

  constructor(deps: LostAccountsDeps) {
    this.#deps = deps;
  }

  /** The thread of `incarnation` is gone. */
  threadDied(incarnation: number): void {
    const { accounts } = this.#deps;
    for (const account of accounts.heldBy(incarnation)) this.#suspects.set(account, false);
    if (this.#stop === undefined) this.#look();
    this.#plan();
  }

  /** What is so at one moment only is a step that a living thread is in the middle of. */
  #look(): void {
    const { accounts } = this.#deps;
    this.#closing = accounts.closing();
    this.#miscounts = accounts.miscounted();
  }

  #plan(): void {
    if (this.#suspects.size === 0 && this.#closing.length === 0 && this.#miscounts.length === 0) return;
    this.#stop ??= this.#deps.clock.setTimer(ROUND_MS, () => void this.#round());
  }

  async #round(): Promise<void> {
    const { accounts, threads: places, kept } = this.#deps;
    const stuck = new Set(accounts.closing());
    for (const account of this.#closing) if (stuck.has(account)) accounts.finishClosing(account);
    for (const miscount of this.#miscounts) accounts.correct(miscount);
    this.#look();
    const answers = places.areUp ? await places.askAll((api) => api.heldAccounts()) : [];
    this.#stop = undefined;
    if (places.isClosing) return;
    // A place that is not up, or does not answer, may have any of them.
    if (answers.length === places.size && places.areUp)
      this.#closeLost(new Set([...answers.flat(), ...kept()]));
    this.#plan();
  }

  #closeLost(held: ReadonlySet<number>): void {
    const { accounts } = this.#deps;
    for (const [account, wasMissing] of this.#suspects) {
      const isMissing = !held.has(account);
      if (isMissing && wasMissing) accounts.close(account);
      if (accounts.isHeld(account)) this.#suspects.set(account, isMissing);
      else this.#suspects.delete(account);
    }
  }
}
