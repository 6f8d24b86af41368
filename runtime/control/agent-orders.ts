import type { LastError } from '../protocol/errors.ts';
import type { Refusal } from '../supervision/outsiders.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import type { AgentTable, AgentRecord } from './agent-table.ts';
import type { Threads } from './threads.ts';

export interface AgentOrdersDeps {
  readonly agents: AgentTable;
  readonly threads: Threads;
  readonly supervisor: Supervisor;
}

/** Where an agent lives. */
type Seated = Pick<AgentRecord, 'place' | 'slot'>;

/** Tells places what is to become of their agents. */
export class AgentOrders {
  readonly #deps: AgentOrdersDeps;
  /** Who waits for the end of an agent, by its slot. */
  readonly #ended = new Map<number, () => void>();

  constructor(deps: AgentOrdersDeps) {
    this.#deps = deps;
  }

  /** The places get what concerns them, in the order of the agents, when they are up. */
  give(t: 'start' | 'halt' | 'stop', ids: readonly string[]): void {
    this.#give(
      t,
      ids.map((id) => this.#deps.agents.get(id)),
    );
  }

  /** Has places let go of agents that are registered no more; told after the table that says so. */
  forget(agents: readonly Seated[]): void {
    this.#give('forget', agents);
  }

  #give(t: 'start' | 'halt' | 'stop' | 'forget', agents: readonly Seated[]): void {
    const { threads } = this.#deps;
    const slots = new Map<string, number[]>();
    for (const { place, slot } of agents) {
      const here = slots.get(place) ?? [];
      here.push(slot);
      slots.set(place, here);
    }
    for (const [id, here] of slots) {
      const thread = threads.get(id);
      threads.whenUp(thread, () => threads.tell(thread, { t, slots: here }));
    }
  }

  /** Ends agents whose supervisor has decided what they are from now on: ended for good, or about to be restarted. */
  endAll(ids: readonly string[]): void {
    const isStopped = (id: string): boolean => this.#isStopped(id);
    this.give('stop', ids.filter(isStopped));
    this.give(
      'halt',
      ids.filter((id) => !isStopped(id)),
    );
  }

  /** Empties the mailboxes of those that do not come back: their restart kind says so. */
  endStopped(ids: readonly string[]): void {
    const stopped = ids.filter((id) => this.#deps.agents.has(id) && this.#isStopped(id));
    if (stopped.length > 0) this.give('stop', stopped);
  }

  /** The supervisor has an agent refuse somebody outside. A thread that is not up yet is told when it is. */
  refuse(id: string, refusal: Refusal): void {
    const { agents, threads } = this.#deps;
    const agent = agents.get(id);
    const thread = threads.get(agent.place);
    threads.whenUp(thread, () =>
      threads.tell(thread, { t: 'refuse', slot: agent.slot, refusals: [refusal] }),
    );
  }

  /** The supervisor has given an agent up. */
  giveUp(id: string, last: LastError): void {
    const { agents, threads } = this.#deps;
    const agent = agents.get(id);
    const thread = threads.get(agent.place);
    agent.gaveUp = last;
    threads.whenUp(thread, () => threads.tell(thread, { t: 'give-up', slot: agent.slot, last }));
  }

  /** Ends an agent that is stopped by hand; resolves when it is gone. */
  async stop(id: string): Promise<void> {
    const { agents, supervisor } = this.#deps;
    const { slot } = agents.get(id);
    supervisor.stop(id);
    await new Promise<void>((resolve) => {
      this.#ended.set(slot, resolve);
      this.give('stop', [id]);
    });
  }

  /** An agent is gone. */
  hasEnded(slot: number): void {
    this.#ended.get(slot)?.();
    this.#ended.delete(slot);
  }

  #isStopped(id: string): boolean {
    return this.#deps.supervisor.status(id).status === 'stopped';
  }
}
