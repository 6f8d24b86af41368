import type { RestartIntensity, AgentSupervision, Strategy, Supervision } from './supervisor-options.ts';
import type { BackOff } from '../protocol/back-off.ts';
import { invalidOptions } from '../protocol/errors.ts';

/** Agents that are restarted together, in start order, and their charged restarts, newest first. */
export interface RestartGroup {
  readonly name: string | undefined;
  readonly strategy: Strategy;
  readonly intensity: RestartIntensity;
  readonly backOff: BackOff;
  readonly halfOpen: BackOff | false;
  readonly agents: readonly string[];
  restarts: readonly number[];
  /** How often in a row it was given up, without a window free of deaths in between. */
  givenUp: number;
  /** When it was last tried again after it was given up. */
  triedAtMs: number | undefined;
}

/** The restart groups, and the one to which each agent belongs. */
export class RestartGroups {
  readonly #options: Supervision;
  readonly #groups = new Map<string, RestartGroup>();
  /** Supervision of agents that no group names, as they declare it. */
  readonly #own = new Map<string, AgentSupervision>();

  constructor(options: Supervision) {
    this.#options = options;
    for (const { name, strategy, agents, intensity, backOff, halfOpen } of options.groups) {
      const group: RestartGroup = {
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

  /** Throws INVALID_OPTIONS if an agent of a configured group declares a supervision of its own. */
  requireAlone(agentId: string, own: AgentSupervision | undefined): void {
    const name = this.#groups.get(agentId)?.name;
    if (own === undefined || name === undefined) return;
    throw invalidOptions(
      'agent.supervision',
      own,
      `nothing: ${agentId} is in the group ${name}, which says it`,
    );
  }

  /** Sets how an agent is supervised; undefined: by the supervisor's own options. */
  setOwn(agentId: string, own: AgentSupervision | undefined): void {
    if (own === undefined) this.#own.delete(agentId);
    else this.#own.set(agentId, own);
    const known = this.#groups.get(agentId);
    if (known !== undefined && known.name === undefined)
      this.#groups.set(agentId, { ...known, ...this.#ownOf(agentId) });
  }

  /** The agent's group. An agent in no configured group gets its own when it first dies: most never do. */
  of(agentId: string): RestartGroup {
    const known = this.#groups.get(agentId);
    if (known !== undefined) return known;
    const alone: RestartGroup = {
      name: undefined,
      strategy: 'one-for-one',
      ...this.#ownOf(agentId),
      agents: [agentId],
      restarts: [],
      givenUp: 0,
      triedAtMs: undefined,
    };
    this.#groups.set(agentId, alone);
    return alone;
  }

  /** How many more restarts the agent's group may need within its window. */
  restartsLeft(agentId: string, nowMs: number): number {
    const { intensity, restarts } = this.#groups.get(agentId) ?? { ...this.#ownOf(agentId), restarts: [] };
    const recent = restarts.filter((at) => at >= nowMs - intensity.withinMs).length;
    return Math.max(0, intensity.maxRestarts - recent);
  }

  /** Clears the counts of the agent's group, if it has one. */
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
    this.#own.delete(agentId);
  }

  #ownOf(agentId: string): Pick<RestartGroup, 'intensity' | 'backOff' | 'halfOpen'> {
    const { intensity, backOff, halfOpen } = this.#options;
    const own = this.#own.get(agentId);
    return {
      intensity: own?.intensity ?? intensity,
      backOff: own?.backOff ?? backOff,
      halfOpen: own?.halfOpen ?? halfOpen,
    };
  }
}
