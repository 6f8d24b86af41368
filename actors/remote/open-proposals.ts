import type { NegotiationAnswer } from '../../runtime/protocol/a2a-extension.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';

/** How long an answer is kept for a caller that asks again because it got lost, milliseconds. */
const ANSWER_TTL_MS = 10_000;

/** Makes a proposal; `signal` withdraws it. */
export type RunProposal = (signal: AbortSignal) => Promise<NegotiationAnswer>;

/** A proposal that is undecided, or was decided within `ANSWER_TTL_MS`. */
interface Open {
  readonly withdrawing: AbortController;
  readonly decided: Promise<NegotiationAnswer>;
  answer: NegotiationAnswer | undefined;
  failure: { readonly error: unknown } | undefined;
  cancelForget: () => void;
}

/** Proposals of other systems to agents here. At most `atOnce` are decided at a time; others wait in order of arrival. */
export class OpenProposals {
  readonly #clock: Seams['clock'];
  readonly #atOnce: number;
  readonly #open = new Map<string, Open>();
  readonly #waiting = new Map<Open, () => void>();
  #asking = 0;

  constructor({ clock }: Pick<Seams, 'clock'>, atOnce: number) {
    this.#clock = clock;
    this.#atOnce = atOnce;
  }

  get size(): number {
    return this.#open.size;
  }

  has(key: string): boolean {
    return this.#open.has(key);
  }

  /** Adds a proposal, which starts as soon as its turn comes. */
  begin(key: string, run: RunProposal): void {
    const { promise: turn, resolve: start } = Promise.withResolvers<void>();
    const withdrawing = new AbortController();
    const decided = turn.then(() => run(withdrawing.signal));
    const open: Open = {
      withdrawing,
      decided,
      answer: undefined,
      failure: undefined,
      cancelForget: () => undefined,
    };
    this.#open.set(key, open);
    this.#waiting.set(open, start);
    decided
      .then(
        (answer) => {
          open.answer = answer;
        },
        (error: unknown) => {
          open.failure = { error };
        },
      )
      .finally(() => this.#over(key, open));
    this.#next();
  }

  /** Resolves to the decision if it comes within `ms`, else to `open`. Rejects as the proposal did. */
  async answerOf(key: string, proposalId: string, ms: number): Promise<NegotiationAnswer> {
    const open = this.#open.get(key);
    if (open === undefined) return { kind: 'open', proposalId };
    if (open.answer === undefined && open.failure === undefined && ms > 0) await this.#atMost(ms, open);
    if (open.failure !== undefined) throw open.failure.error;
    return open.answer ?? { kind: 'open', proposalId };
  }

  /** Withdraws a proposal. */
  withdraw(key: string): void {
    const open = this.#open.get(key);
    if (open === undefined) return;
    this.#forget(key, open);
    open.withdrawing.abort();
    const start = this.#waiting.get(open);
    this.#waiting.delete(open);
    // One that still waits is started, so that it is withdrawn and settles.
    if (start !== undefined) {
      this.#asking += 1;
      start();
    }
  }

  end(): void {
    for (const key of [...this.#open.keys()]) this.withdraw(key);
  }

  #next(): void {
    for (const [open, start] of this.#waiting) {
      if (this.#asking >= this.#atOnce) return;
      this.#waiting.delete(open);
      this.#asking += 1;
      start();
    }
  }

  #over(key: string, open: Open): void {
    this.#asking -= 1;
    this.#next();
    if (this.#open.get(key) !== open) return;
    // An accepted one is held by its lease from now on.
    if (open.answer?.kind === 'accept') this.#forget(key, open);
    else open.cancelForget = this.#clock.setTimer(ANSWER_TTL_MS, () => this.#forget(key, open));
  }

  #forget(key: string, open: Open): void {
    open.cancelForget();
    if (this.#open.get(key) === open) this.#open.delete(key);
  }

  async #atMost(ms: number, { decided }: Open): Promise<void> {
    const { promise: late, resolve } = Promise.withResolvers<void>();
    const cancel = this.#clock.setTimer(ms, resolve);
    await Promise.race([decided.then(nothing, nothing), late]);
    cancel();
  }
}

const nothing = (): void => undefined;
