import type { ErrorData } from '../protocol/errors.ts';

/** What is said to who waits: why the agent cannot be started with the options that it has. */
export type FirstStart = ErrorData | undefined;

/** Who waits until an agent has been started once, or will not be. */
export class FirstStarts {
  readonly #waiting = new Map<string, ((fault: FirstStart) => void)[]>();
  /** Those that were never started. */
  readonly #isNew = new Set<string>();

  of(agentId: string): Promise<FirstStart> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(agentId) ?? [];
      waiting.push(resolve);
      this.#waiting.set(agentId, waiting);
    });
  }

  /** As `of`, of an agent that was never started. */
  ofNew(agentId: string): Promise<FirstStart> {
    this.#isNew.add(agentId);
    return this.of(agentId);
  }

  /** Whether this is the first start of an agent, and whoever ordered it waits. */
  isNew(agentId: string): boolean {
    return this.#isNew.has(agentId);
  }

  /** It has been started, or has failed to: because of `fault`, where its options are wrong. */
  ended(agentId: string, fault?: FirstStart): void {
    const waiting = this.#waiting.get(agentId);
    this.#waiting.delete(agentId);
    this.#isNew.delete(agentId);
    for (const resolve of waiting ?? []) resolve(fault);
  }
}
