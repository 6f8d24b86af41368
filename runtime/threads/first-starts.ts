/** Who waits until an agent has been started once, or will not be. */
export class FirstStarts {
  readonly #waiting = new Map<string, (() => void)[]>();

  of(agentId: string): Promise<void> {
    return new Promise((resolve) => {
      const waiting = this.#waiting.get(agentId) ?? [];
      waiting.push(resolve);
      this.#waiting.set(agentId, waiting);
    });
  }

  /** It has been started, or has failed to. */
  ended(agentId: string): void {
    const waiting = this.#waiting.get(agentId);
    this.#waiting.delete(agentId);
    for (const resolve of waiting ?? []) resolve();
  }
}
