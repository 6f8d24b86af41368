/** What a coordinator has given an agent, over all its swarms. */
interface Given {
  open: number;
  /** Given since `told` was what everybody knew of the agent: it may be on its way still. */
  ahead: number;
  told: number;
}

/**
 * The load of agents: what everybody knows of them, and what a coordinator has given them since.
 *
 * `told` is what an agent has in hand and waiting, whoever gave it; that follows a little later.
 */
export class LoadBook {
  readonly #given = new Map<string, Given>();

  readonly of = (agentId: string, told: number): number => {
    const given = this.#given.get(agentId);
    if (given === undefined) return told;
    return Math.max(given.open, told === given.told ? told + given.ahead : told);
  };

  /** Counts one more; the returned function, called once, takes it away again. */
  add(agentId: string, told: number): () => void {
    const given = this.#given.get(agentId) ?? { open: 0, ahead: 0, told };
    this.#given.set(agentId, given);
    if (given.told !== told) given.ahead = 0;
    given.told = told;
    given.open += 1;
    given.ahead += 1;
    return () => {
      given.open -= 1;
      given.ahead = Math.min(given.ahead, given.open);
      if (given.open === 0) this.#given.delete(agentId);
    };
  }
}
