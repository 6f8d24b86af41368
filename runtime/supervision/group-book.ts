import type { BackOff } from './back-off.ts';
import type { RestartIntensity } from './restart-intensity.ts';
import type { Strategy, Supervision } from './supervisor-options.ts';

/** Agents that are restarted together, in start order, and their charged restarts, newest first. */
export interface Group {
  readonly name: string | undefined;
  readonly strategy: Strategy;
  readonly intensity: RestartIntensity;
  readonly backOff: BackOff;
  readonly halfOpen: BackOff | false;
  readonly agents: readonly string[];
  restarts: readonly number[];
  /** Times in a row that it was given up, none of which was followed by a window without a death. */
  givenUp: number;
  /** When it was last tried again after that. */
  triedAtMs: number | undefined;
}

/** Which group an agent belongs to. */
export class GroupBook {
  readonly #options: Supervision;
  readonly #groups = new Map<string, Group>();

  constructor(options: Supervision) {
    this.#options = options;
    for (const { name, strategy, agents, intensity, backOff, halfOpen } of options.groups) {
      const group: Group = {
        name,
        strategy,
        intensity: intensity ?? options.intensity,
        backOff: backOff ?? options.backOff,
        halfOpen: halfOpen ?? options.halfOpen,
        agents,
        restarts: [],
        givenUp: 0,
        triedAtMs: undefined,
      };
      for (const agentId of agents) this.#groups.set(agentId, group);
    }
  }

  /** Its group; an agent that none names gets one of its own when it first dies, which most never do. */
  of(agentId: string): Group {
    const known = this.#groups.get(agentId);
    if (known !== undefined) return known;
    const { intensity, backOff, halfOpen } = this.#options;
    const alone: Group = {
      name: undefined,
      strategy: 'one-for-one',
      intensity,
      backOff,
      halfOpen,
      agents: [agentId],
      restarts: [],
      givenUp: 0,
      triedAtMs: undefined,
    };
    this.#groups.set(agentId, alone);
    return alone;
  }

  /** Clears the record of its group, if there is one. */
  pardon(agentId: string): void {
    const group = this.#groups.get(agentId);
    if (group === undefined) return;
    group.restarts = [];
    group.givenUp = 0;
    group.triedAtMs = undefined;
  }

  /** Forgets the group of an agent that was supervised alone. */
  remove(agentId: string): void {
    if (this.#groups.get(agentId)?.name === undefined) this.#groups.delete(agentId);
  }
}
