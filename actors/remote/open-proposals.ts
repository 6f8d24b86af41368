import type { NegotiationAnswer } from '../../runtime/protocol/a2a-extension.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';

/** Who asks again, because the answer was lost, is answered as before for so long. */
const KEPT_MS = 10_000;

/** Proposes; `signal` withdraws it. */
export type RunProposal = (signal: AbortSignal) => Promise<NegotiationAnswer>;

/** A proposal that is being decided, or was a moment ago. */
interface Open {
  readonly withdrawing: AbortController;
  readonly decided: Promise<NegotiationAnswer>;
  answer: NegotiationAnswer | undefined;
  failure: { readonly error: unknown } | undefined;
  letGo: () => void;
}

/**
 * Proposals of other systems that agents here are asked: so many at once, and the others in the order in which they came.
 */
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

  /** Begins with it as soon as there is room. */
  begin(key: string, run: RunProposal): void {
    const { promise: turn, resolve: start } = Promise.withResolvers<void>();
    const withdrawing = new AbortController();
    const decided = turn.then(() => run(withdrawing.signal));
    const open: Open = {
      withdrawing,
      decided,
      answer: undefined,
      failure: undefined,
      letGo: () => undefined,
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

  /** What has become of it, if that is known within `ms`; else that it is open. Rejects as the proposal did. */
  async answerOf(key: string, proposalId: string, ms: number): Promise<NegotiationAnswer> {
    const open = this.#open.get(key);
    if (open === undefined) return { kind: 'open', proposalId };
    if (open.answer === undefined && open.failure === undefined && ms > 0) await this.#atMost(ms, open);
    if (open.failure !== undefined) throw open.failure.error;
    return open.answer ?? { kind: 'open', proposalId };
  }

  /** Nobody waits for it any more. */
  withdraw(key: string): void {
    const open = this.#open.get(key);
    if (open === undefined) return;
    this.#forget(key, open);
    open.withdrawing.abort();
    const start = this.#waiting.get(open);
    this.#waiting.delete(open);
    // What never had its turn is withdrawn when it has it.
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
    // What was accepted is known by its lease.
    if (open.answer?.kind === 'accept') this.#forget(key, open);
    else open.letGo = this.#clock.setTimer(KEPT_MS, () => this.#forget(key, open));
  }

  #forget(key: string, open: Open): void {
    open.letGo();
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
