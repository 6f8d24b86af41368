/** What each agent works on for a coordinator, over all its swarms. */
export class LoadBook {
  readonly #loads = new Map<string, number>();

  readonly of = (agentId: string): number => this.#loads.get(agentId) ?? 0;

  /** Counts one more; the returned function, called once, takes it away again. */
  add(agentId: string): () => void {
    this.#loads.set(agentId, this.of(agentId) + 1);
    return () => {
      const left = this.of(agentId) - 1;
      if (left === 0) this.#loads.delete(agentId);
      else this.#loads.set(agentId, left);
    };
  }
}
