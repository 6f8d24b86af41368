import type { Taint } from '../protocol/taint.ts';

/**
 * What can hold what an agent was told, whatever becomes of its actors: its thread, as long as that lives, by the variables of
 * its modules and what is held for it in its thread; or its process.
 *
 * - `taint` where that came from outside.
 */
export interface AgentMemory {
  taint: Taint | undefined;
}

/** The memories of the agents of one thread, by their ids: also one that was removed and is back goes on with its own. */
export class AgentMemories {
  readonly #byAgent = new Map<string, AgentMemory>();

  of(agentId: string): AgentMemory {
    const known = this.#byAgent.get(agentId);
    if (known !== undefined) return known;
    const made: AgentMemory = { taint: undefined };
    this.#byAgent.set(agentId, made);
    return made;
  }
}
