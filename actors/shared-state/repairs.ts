import type { Clock } from '../../runtime/protocol/seams.ts';

/**
 * - `delayMs`  from the notice that something is missing to asking for it, and between two askings.
 * - `isNeeded` whether `agentId` still has something that is missing here.
 * - `ask`      asks it.
 */
export interface RepairsDeps {
  readonly clock: Clock;
  readonly delayMs: number;
  readonly isNeeded: (agentId: string) => boolean;
  readonly ask: (agentId: string) => void;
}

/** How often a member that does not answer is asked, until something new is noticed. */
const MAX_ATTEMPTS = 5;

interface Want {
  isCertain: boolean;
  attempts: number;
}

/** Asks members for what is missing: after a while, as most gaps close by themselves, and not too often. */
export class Repairs {
  readonly #deps: RepairsDeps;
  readonly #wants = new Map<string, Want>();
  readonly #askedAtMs = new Map<string, number>();
  #cancelTimer: (() => void) | undefined;

  constructor(deps: RepairsDeps) {
    this.#deps = deps;
  }

  /** Asks `agentId` after the delay, if that is still needed then; `isCertain`: in any case. */
  soon(agentId: string, isCertain = false): void {
    const want = this.#wants.get(agentId) ?? { isCertain, attempts: 0 };
    want.isCertain ||= isCertain;
    this.#wants.set(agentId, want);
    this.#arm();
  }

  /** Asks `agentId` in any case, and at once unless it was asked within the delay. */
  now(agentId: string): void {
    this.soon(agentId, true);
    const askedAtMs = this.#askedAtMs.get(agentId) ?? Number.NEGATIVE_INFINITY;
    if (this.#deps.clock.monotonicMs() - askedAtMs >= this.#deps.delayMs) this.#ask(agentId);
  }

  /** `agentId` has answered. */
  answered(agentId: string): void {
    this.#wants.delete(agentId);
  }

  /** Forgets what is missing from `agentId`. */
  forget(agentId: string): void {
    this.#wants.delete(agentId);
    this.#askedAtMs.delete(agentId);
  }

  close(): void {
    this.#cancelTimer?.();
    this.#cancelTimer = undefined;
    this.#wants.clear();
  }

  #arm(): void {
    this.#cancelTimer ??= this.#deps.clock.setTimer(this.#deps.delayMs, () => {
      this.#cancelTimer = undefined;
      this.#fire();
    });
  }

  #fire(): void {
    for (const [agentId, { isCertain, attempts }] of [...this.#wants]) {
      if (attempts === MAX_ATTEMPTS || !(isCertain || this.#deps.isNeeded(agentId)))
        this.#wants.delete(agentId);
      else this.#ask(agentId);
    }
    if (this.#wants.size > 0) this.#arm();
  }

  #ask(agentId: string): void {
    const want = this.#wants.get(agentId);
    if (want !== undefined) want.attempts += 1;
    this.#askedAtMs.set(agentId, this.#deps.clock.monotonicMs());
    this.#deps.ask(agentId);
  }
}
