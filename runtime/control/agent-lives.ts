import type { ErrorData, LastError } from '../protocol/errors.ts';
import type { AgentStatus } from '../protocol/roster.ts';
import type { Refusal } from '../supervision/outsiders.ts';
import type { Crash, Supervisor } from '../supervision/supervisor.ts';
import type { NodeReport } from '../thread/control-protocol.ts';
import type { AgentTable, AgentEntry } from './agent-table.ts';
import type { ThreadHandle, Threads } from './threads.ts';

/** What a place says of the life of one of its agents. */
export type AgentReport = NodeReport & {
  readonly t: 'started' | 'crashed' | 'exited' | 'parked' | 'process';
};

/** What is said to who waits: why the agent cannot be started with the options that it has. */
export type FirstStart = ErrorData | undefined;

export interface AgentLivesDeps {
  readonly agents: AgentTable;
  readonly threads: Threads;
  readonly supervisor: Supervisor;
}

/** Where an agent lives. */
type Placed = Pick<AgentEntry, 'place' | 'slot'>;

/**
 * The lives of agents between supervisor and places: tells places what the supervisor has decided, and the supervisor what
 * places report.
 */
export class AgentLives {
  readonly #deps: AgentLivesDeps;
  readonly #firstStarts = new FirstStarts();
  /** Who waits for the end of an agent, by its slot. */
  readonly #ended = new Map<number, readonly (() => void)[]>();
  #isStopping = false;

  constructor(deps: AgentLivesDeps) {
    this.#deps = deps;
  }

  // What places are told

  /**
   * Orders the first start of agents. Resolves when each has been started once, has failed to, or waits for its first envelope:
   * to what is wrong about their options, by their order.
   */
  startNew(entries: readonly AgentEntry[]): Promise<readonly FirstStart[]> {
    const started = entries.map(({ id, profile }) =>
      profile.lazy ? undefined : this.#firstStarts.ofNew(id),
    );
    this.start(entries.map(({ id }) => id));
    return Promise.all(started);
  }

  start(ids: readonly string[]): void {
    this.#giveTo('start', ids);
  }

  /** Resolves when the agent has been started, or has failed to. */
  async whenStarted(id: string): Promise<void> {
    await this.#firstStarts.of(id);
  }

  /** Ends agents whose supervisor has decided what they are from now on: ended for good, or about to be restarted. */
  endAll(ids: readonly string[]): void {
    const isStopped = (id: string): boolean => this.statusOf(id) === 'stopped';
    this.#giveTo('stop', ids.filter(isStopped));
    this.#giveTo(
      'halt',
      ids.filter((id) => !isStopped(id)),
    );
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
    this.#firstStarts.ended(id);
  }

  /** Ends an agent that is stopped by hand; resolves when it is gone. */
  async stop(id: string): Promise<void> {
    const { agents, supervisor } = this.#deps;
    const { slot } = agents.get(id);
    supervisor.stop(id);
    await new Promise<void>((resolve) => {
      const others = this.#ended.get(slot) ?? [];
      this.#ended.set(slot, [...others, resolve]);
      this.#giveTo('stop', [id]);
    });
  }

  /** An agent is gone. */
  hasEnded(slot: number): void {
    const waiting = this.#ended.get(slot) ?? [];
    this.#ended.delete(slot);
    for (const resolve of waiting) resolve();
  }

  /** Has places let go of agents that are registered no more; told after the table that says so. */
  forget(agents: readonly Placed[]): void {
    this.#give('forget', agents);
  }

  /** An agent that has failed, was stopped or is parked is so in the place's new thread, too. */
  bringUpToDate(thread: ThreadHandle, agents: readonly AgentEntry[]): void {
    const { threads, supervisor } = this.#deps;
    for (const { id, slot, gaveUp } of agents) {
      const status = this.statusOf(id);
      const refusals = supervisor.refusals(id);
      if (refusals.length > 0) threads.tell(thread, { t: 'refuse', slot, refusals });
      if (status === 'failed')
        threads.tell(thread, { t: 'give-up', slot, last: gaveUp ?? { reason: 'it had failed before' } });
      if (status === 'stopped') threads.tell(thread, { t: 'stop', slots: [slot] });
      if (status === 'parked') threads.tell(thread, { t: 'park', slots: [slot] });
    }
  }

  // What places report

  hear(message: AgentReport): void {
    const agent = this.#deps.agents.inSlot(message.slot);
    if (agent === undefined) return;
    if (message.t === 'process') {
      agent.pid = message.pid;
      return;
    }
    if (this.#isStopping) return;
    if (message.t === 'parked') agent.parked = { snapshot: message.snapshot, why: message.why };
    this.#hearOfLife(agent, message);
  }

  #hearOfLife(agent: AgentEntry, message: Exclude<AgentReport, { t: 'process' }>): void {
    const { supervisor } = this.#deps;
    const { id } = agent;
    switch (message.t) {
      case 'started':
        supervisor.started(id);
        this.#firstStarts.ended(id);
        return;
      case 'crashed': {
        const { reason, stack, taint, charged, over, fault } = message;
        agent.pid = undefined;
        if (fault !== undefined && this.#firstStarts.isNew(id)) {
          supervisor.misconfigured(id, { reason, stack, taint });
          this.#endStopped([id]);
          this.#firstStarts.ended(id, fault);
          return;
        }
        supervisor.crashed(id, { reason, stack, taint, charged, over });
        this.#endStopped([id]);
        if (charged || this.statusOf(id) === 'stopped') this.#firstStarts.ended(id);
        return;
      }
      case 'parked':
        supervisor.parked(id, message.why.message);
        this.#firstStarts.ended(id);
        return;
      case 'exited':
        supervisor.exited(id, message.over);
        this.#endStopped([id]);
        this.#firstStarts.ended(id);
        return;
    }
  }

  /** Agents have died with their thread, whose successor is up. */
  diedTogether(crashes: readonly Crash[]): void {
    this.#deps.supervisor.crashedTogether(crashes);
    this.#endStopped(crashes.map(({ agentId }) => agentId));
    for (const { agentId, charged } of crashes) if (charged) this.#firstStarts.ended(agentId);
  }

  /** The system stops: what ends now is no death. */
  beginStopping(): void {
    this.#isStopping = true;
  }

  statusOf(id: string): AgentStatus {
    return this.#deps.supervisor.status(id).status;
  }

  /** Empties the mailboxes of those that do not come back: their restart kind says so. */
  #endStopped(ids: readonly string[]): void {
    const stopped = ids.filter((id) => this.#deps.agents.has(id) && this.statusOf(id) === 'stopped');
    if (stopped.length > 0) this.#giveTo('stop', stopped);
  }

  #giveTo(t: 'start' | 'halt' | 'stop', ids: readonly string[]): void {
    this.#give(
      t,
      ids.map((id) => this.#deps.agents.get(id)),
    );
  }

  /** The places get what concerns them, in the order of the agents, when they are up. */
  #give(t: 'start' | 'halt' | 'stop' | 'forget', agents: readonly Placed[]): void {
    const { threads } = this.#deps;
    for (const [id, here] of Map.groupBy(agents, ({ place }) => place)) {
      const thread = threads.get(id);
      const slots = here.map(({ slot }) => slot);
      threads.whenUp(thread, () => threads.tell(thread, { t, slots }));
    }
  }
}

/** Who waits until an agent has been started once, or will not be. */
class FirstStarts {
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
