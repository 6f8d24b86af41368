import { reasonOf } from '../protocol/errors.ts';
import type { SystemEvent } from '../protocol/system-event.ts';

/** Checks an invariant. `violations` has one sentence for each violation. */
export interface Check {
  readonly violations: readonly string[];
  /** Checks the present state; absent if events are enough. */
  check?(): void;
}

/** Returns a sentence about what is wrong, or undefined. */
export type InvariantOf<View> = (view: View) => string | undefined;

/** The invariants of the runtime, and those of the user. Each violation is reported once. */
export class Invariants<View> {
  readonly #checks: readonly Check[];
  readonly #own: readonly InvariantOf<View>[];
  readonly #view: View;
  readonly #violated = new Map<InvariantOf<View>, string>();

  constructor(checks: readonly Check[], own: readonly InvariantOf<View>[], view: View) {
    this.#checks = checks;
    this.#own = own;
    this.#view = view;
  }

  get violations(): readonly string[] {
    return [...this.#checks.flatMap(({ violations }) => violations), ...this.#violated.values()];
  }

  check(): void {
    for (const check of this.#checks) check.check?.();
    for (const invariant of this.#own) {
      if (this.#violated.has(invariant)) continue;
      const wrong = this.#ask(invariant);
      if (wrong !== undefined) this.#violated.set(invariant, wrong);
    }
  }

  #ask(invariant: InvariantOf<View>): string | undefined {
    try {
      return invariant(this.#view);
    } catch (error) {
      return `An invariant failed: ${reasonOf(error)}`;
    }
  }
}

/** Checks that no proposal is accepted by two agents, each of which would believe that the task is its own. */
export class ProposalCheck {
  readonly violations: string[] = [];
  readonly #acceptedBy = new Map<string, string>();

  see({ type, success, proposalId, targetAgentId }: SystemEvent): void {
    if (type !== 'negotiation' || success !== true || proposalId === undefined) return;
    const agentId = targetAgentId ?? '';
    const other = this.#acceptedBy.get(proposalId);
    this.#acceptedBy.set(proposalId, agentId);
    if (other !== undefined && other !== agentId)
      this.violations.push(`The proposal ${proposalId} was accepted by ${other} and by ${agentId}`);
  }
}
