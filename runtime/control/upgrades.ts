import type { ControlLog } from '../observe/control-log.ts';
import {
  agentNotFound,
  type ErrorData,
  errorFromData,
  invalidOptions,
  refused,
  threadDied,
} from '../protocol/errors.ts';
import { isSystemId } from '../protocol/policy.ts';
import { offeringProfile } from '../routing/offered-profile.ts';
import type { AgentProfile } from '../protocol/agent-row.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import type { AgentStatus } from '../protocol/roster.ts';
import type { AgentTable, AgentEntry, ParkedAgent } from './agent-table.ts';
import type { Enrolment } from './enrolment.ts';
import type { ChangeOrder, NodeReport } from '../thread/control-protocol.ts';
import { concurrencyOf, type LoadedAgent, requireRunnable, clearanceOf } from '../agent/loaded-agent.ts';
import type { ThreadHandle, Threads } from './threads.ts';

/**
 * - `module`  the code from now on. @default the one that it has
 * - `isLive`  `module` is the key of a live definition, which only the embedder's thread has.
 * - `isFresh` without its state.
 * - `graceMs` how long what is in hand may take.
 */
export interface UpgradeOrder {
  readonly module: string | undefined;
  readonly isLive: boolean;
  readonly isFresh: boolean;
  readonly graceMs: number;
}

/** How the agent stands that has the new code: only one that is running runs it. */
export interface Upgraded {
  readonly status: AgentStatus;
}

interface NewCode {
  readonly module: string;
  readonly loaded: LoadedAgent;
  readonly profile: AgentProfile;
}

type ChangedMessage = NodeReport & { readonly t: 'changed' };
/** What became of an agent in its place. */
type ChangedAgent = NonNullable<ChangedMessage['changed']>;

export interface UpgradesDeps {
  readonly agents: AgentTable;
  readonly threads: Threads;
  readonly supervisor: Supervisor;
  readonly enrolment: Enrolment;
  readonly log: Pick<ControlLog, 'note'>;
}

interface Pending {
  readonly thread: ThreadHandle;
  readonly agentId: string;
  /** Writes down what has become of the agent; throws what whoever asked for it is told. */
  readonly conclude: (changed: ChangedAgent) => void;
  readonly resolve: () => void;
  readonly reject: (error: unknown) => void;
}

/**
 * Gives agents other code while they run.
 *
 * Until the place has said that the agent runs it, or is parked, its code is the old one: a thread that dies meanwhile is
 * replaced by one that has that.
 */
export class Upgrades {
  readonly #deps: UpgradesDeps;
  readonly #pending = new Map<number, Pending>();
  readonly #busy = new Set<string>();
  #nextRef = 0;

  constructor(deps: UpgradesDeps) {
    this.#deps = deps;
  }

  /**
   * Resolves when the agent runs the module, or will from its next start on, and says which. Fails with SNAPSHOT_UNKNOWN when it is parked
   * over it; with MODULE_INVALID, NOT_SERIALISABLE, THREAD_DIED, REFUSED or INVALID_OPTIONS, and then it has the code that
   * it had.
   */
  async upgrade(agentId: string, order: UpgradeOrder): Promise<Upgraded> {
    await this.#alone(agentId, (agent) => {
      if (this.#parkedOf(agent) !== undefined) throw refused(`${agentId} is parked: resume it`, { agentId });
      return this.#change(agent, order, undefined);
    });
    const { status } = this.#deps.supervisor.status(agentId);
    return { status };
  }

  /** Resolves when a parked agent runs the module, with its state or without. Fails as `upgrade` does; it is still parked then. */
  resume(agentId: string, order: UpgradeOrder): Promise<void> {
    return this.#alone(agentId, async (agent) => {
      const parked = this.#parkedOf(agent);
      if (parked === undefined) throw invalidOptions('agentId', agentId, 'an agent that is parked');
      return this.#change(agent, order, parked);
    });
  }

  /** A place has answered: from now on its successors have the new code, or the old. */
  answered({ ref, changed, error }: ChangedMessage): void {
    const pending = this.#pending.get(ref);
    if (pending === undefined) return;
    this.#pending.delete(ref);
    try {
      if (changed === undefined) throw errorFromData(error as ErrorData);
      pending.conclude(changed);
      pending.resolve();
    } catch (thrown) {
      pending.reject(thrown);
    }
  }

  /** The place's thread is gone: nothing more is heard of it. */
  cut(thread: ThreadHandle): void {
    for (const [ref, pending] of this.#pending) {
      if (pending.thread !== thread) continue;
      this.#pending.delete(ref);
      pending.reject(threadDied(pending.agentId, thread.id));
    }
  }

  async #alone(agentId: string, run: (agent: AgentEntry) => Promise<void>): Promise<void> {
    if (isSystemId(agentId)) throw invalidOptions('agentId', agentId, 'an agent');
    const agent = this.#deps.agents.get(agentId);
    if (this.#busy.has(agentId)) throw refused(`${agentId} is being upgraded already`, { agentId });
    this.#busy.add(agentId);
    try {
      await run(agent);
    } finally {
      this.#busy.delete(agentId);
    }
  }

  async #change(agent: AgentEntry, order: UpgradeOrder, parked: ParkedAgent | undefined): Promise<void> {
    const { enrolment, supervisor } = this.#deps;
    const { id } = agent;
    const { module = agent.module, isFresh, graceMs } = order;
    if (order.isLive && agent.place !== 'host')
      throw invalidOptions('module', 'a live definition', `a module: ${id} runs in another thread`);
    await this.#whenUp(agent);
    const loaded = await enrolment.load(agent.place, { module, process: agent.process?.options }, false);
    const before = agent.profile;
    requireRunnable(loaded, before.durable);
    supervisor.requireAlone(id, loaded.supervision);
    const profile = module === agent.module ? before : profileOf(loaded, before);
    // Nobody is sent any more for what the new code does not do; it is sent for what only that does when it is there.
    const common = withoutWithdrawn(before, profile);
    if (common !== before) this.#announce(agent, common);
    agent.offered = undefined;
    if (parked !== undefined) supervisor.resume(id);
    const resumed = parked && { snapshot: isFresh ? undefined : parked.snapshot };
    let isWritten = false;
    const conclude = (changed: ChangedAgent): void => {
      isWritten = true;
      this.#conclude(agent, changed, { module, loaded, profile });
    };
    try {
      await this.#tell(agent, { module, process: loaded.process, resumed, graceMs, isFresh }, conclude);
    } catch (error) {
      if (isWritten) throw error;
      if (parked !== undefined) supervisor.parked(id, parked.why.message);
      if (common !== before) this.#announce(agent, before);
      throw error;
    }
  }

  #conclude(agent: AgentEntry, changed: ChangedAgent, { module, loaded, profile }: NewCode): void {
    const { agents, supervisor, log } = this.#deps;
    const { id, place } = agent;
    if (!agents.has(id)) throw agentNotFound(id);
    const from = agent.profile.card.version;
    if (module !== agent.module) agent.offences = 0;
    agent.module = module;
    agent.process = loaded.process;
    agent.broken = undefined;
    agent.parked = changed.outcome === 'parked' ? changed : undefined;
    supervisor.change(id, loaded);
    this.#announce(agent, agent.offered === undefined ? profile : offeringProfile(profile, agent.offered));
    if (changed.outcome === 'parked') {
      supervisor.parked(id, changed.why.message);
      throw errorFromData(changed.why);
    }
    const how = changed.outcome === 'running' ? '' : ', from its next start on';
    const reason = `from version ${from} to ${profile.card.version}${how}`;
    log.note('agent-upgraded', { agentId: id, place, reason });
    if (changed.outcome === 'running') supervisor.started(id);
  }

  /** Resolves when the agent's place has a thread with the agent in it. */
  async #whenUp({ place: id }: AgentEntry): Promise<void> {
    const { threads } = this.#deps;
    await new Promise<void>((resolve) => threads.whenUp(threads.get(id), resolve));
  }

  async #tell(
    agent: AgentEntry,
    order: Omit<ChangeOrder, 't' | 'ref' | 'slot'>,
    conclude: Pending['conclude'],
  ): Promise<void> {
    const { threads } = this.#deps;
    await this.#whenUp(agent);
    const thread = threads.get(agent.place);
    const ref = this.#nextRef++;
    await new Promise<void>((resolve, reject) => {
      this.#pending.set(ref, { thread, agentId: agent.id, conclude, resolve, reject });
      threads.tell(thread, { t: 'change', ref, slot: agent.slot, ...order });
    });
  }

  #announce(agent: AgentEntry, profile: AgentProfile): void {
    const { agents, threads } = this.#deps;
    threads.tellAll({ t: 'table', delta: agents.replace(agent, profile) });
  }

  /** What waits for other code, if the agent is parked: one that was stopped since is not. */
  #parkedOf({ id, parked }: AgentEntry): ParkedAgent | undefined {
    return this.#deps.supervisor.status(id).status === 'parked' ? parked : undefined;
  }
}

/** Whether it is lazy and durable was decided when it was taken in. */
function profileOf(loaded: LoadedAgent, { lazy, durable }: AgentProfile): AgentProfile {
  const { card, delivery, mailboxCapacity } = loaded;
  const clearance = clearanceOf(loaded);
  return {
    card,
    capabilityIds: card.capabilities.map(({ id }) => id),
    delivery,
    mailboxCapacity,
    ...concurrencyOf(loaded),
    lazy,
    durable,
    ...(clearance === undefined ? {} : { clearance }),
  };
}

/** The former profile without what the next one does not offer; the same object if it offers all. */
function withoutWithdrawn(before: AgentProfile, next: AgentProfile): AgentProfile {
  const offered = new Set(next.capabilityIds);
  if (before.capabilityIds.every((id) => offered.has(id))) return before;
  const capabilities = before.card.capabilities.filter(({ id }) => offered.has(id));
  return {
    ...before,
    card: { ...before.card, capabilities },
    capabilityIds: capabilities.map(({ id }) => id),
  };
}
