import type { Clock } from '../protocol/seams.ts';

interface Planned {
  agentIds: string[];
  cancel: () => void;
}

/** The restarts that wait for their back-off. An agent waits for one at most: a newer plan replaces the older. */
export class RestartSchedule {
  readonly #clock: Clock;
  readonly #due: (agentIds: readonly string[], afterDeath: boolean) => void;
  readonly #planned = new Map<string, Planned>();

  constructor(clock: Clock, due: (agentIds: readonly string[], afterDeath: boolean) => void) {
    this.#clock = clock;
    this.#due = due;
  }

  /** Calls `due` with these agents, in this order, after `afterMs`. */
  plan(agentIds: readonly string[], afterMs: number, afterDeath: boolean): void {
    for (const agentId of agentIds) this.drop(agentId);
    const planned: Planned = { agentIds: [...agentIds], cancel: () => undefined };
    planned.cancel = this.#clock.setTimer(afterMs, () => {
      for (const agentId of planned.agentIds) this.#planned.delete(agentId);
      this.#due(planned.agentIds, afterDeath);
    });
    for (const agentId of agentIds) this.#planned.set(agentId, planned);
  }

  /** Takes one agent out of what is planned. */
  drop(agentId: string): void {
    const planned = this.#planned.get(agentId);
    if (planned === undefined) return;
    this.#planned.delete(agentId);
    planned.agentIds = planned.agentIds.filter((id) => id !== agentId);
    if (planned.agentIds.length === 0) planned.cancel();
  }

  close(): void {
    for (const { cancel } of this.#planned.values()) cancel();
    this.#planned.clear();
  }
}
