import type { ControlLog } from '../observe/control-log.ts';
import { sortConversation } from '../observe/sort-conversation.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import { type AgentMeasures, mostOf, type PlaceMeasures, type SystemMeasures } from '../observe/measures.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { isSystemId } from '../protocol/policy.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import type { RosterRow, SupervisionRow } from '../protocol/roster.ts';
import type { MachineDrawing } from '../protocol/machine-drawing.ts';
import type { AgentTable, ParkedAgent } from './agent-table.ts';
import type { ControlHistory } from './control-history.ts';
import { processName } from './agent-processes.ts';
import type { Threads } from './threads.ts';
import type { IncarnationRegistry } from './incarnation-registry.ts';

export interface OverviewDeps {
  readonly agents: AgentTable;
  readonly threads: Threads;
  readonly incarnations: IncarnationRegistry;
  readonly supervisor: Supervisor;
  readonly log: ControlLog;
  /** What is remembered beyond what the threads remember, also of former processes; undefined when nothing is. */
  readonly history: ControlHistory | undefined;
}

/** What is seen of the system as a whole: every thread is asked, and what the control thread knows is added. */
export class Overview {
  readonly #deps: OverviewDeps;

  constructor(deps: OverviewDeps) {
    this.#deps = deps;
  }

  async roster(): Promise<RosterRow[]> {
    const { agents, threads, incarnations, supervisor } = this.#deps;
    await threads.caughtUp();
    const waiting = incarnations.waiting();
    // The embedder's mailbox is no agent.
    const rows = [...agents].filter(({ id }) => !isSystemId(id));
    return rows.map((agent) => {
      const { status, restarts, lastError, retryAtMs } = supervisor.status(agent.id);
      const { card } = agent.profile;
      const { pid } = agent;
      const threadId = pid === undefined ? threads.threadIdOf(agent.place) : undefined;
      return {
        id: agent.id,
        name: card.name,
        version: card.version,
        tier: card.tier,
        capabilities: agent.profile.capabilityIds,
        place: pid === undefined ? agent.place : processName(pid),
        ...(pid === undefined ? {} : { pid }),
        ...(threadId === undefined ? {} : { threadId }),
        status,
        waiting: waiting.get(agent.slot) ?? 0,
        capacity: agent.profile.mailboxCapacity,
        restarts,
        supervision: supervisor.supervisionOf(agent.id),
        ...(lastError === undefined ? {} : { lastError }),
        ...(retryAtMs === undefined ? {} : { retryAtMs }),
        ...(status === 'parked' && agent.parked !== undefined ? { parked: parkedFacts(agent.parked) } : {}),
      };
    });
  }

  /** The roster with the actors of each agent. A thread that does not answer says of none. */
  async rosterWithActors(): Promise<RosterRow[]> {
    const lists = await this.#deps.threads.askAll((api) => api.actors());
    const actors = new Map(lists.flat().map((one) => [one.id, one.actors]));
    const rows = await this.roster();
    return rows.map((row) => {
      const own = actors.get(row.id);
      return own === undefined ? row : { ...row, actors: own };
    });
  }

  /** The machines of all agents. A thread that does not answer says of none. */
  async machines(): Promise<readonly MachineDrawing[]> {
    return (await this.#deps.threads.askAll((api) => api.machines())).flat();
  }

  /** Oldest first; of what the history remembers about `limit`. */
  async recentEvents(limit: number): Promise<readonly SystemEvent[]> {
    const { threads, log, history } = this.#deps;
    const lists = await threads.askAll((api) => api.recentEvents());
    const live = [...log.recentEvents(), ...lists.flat()];
    const kept = (await history?.events(limit)) ?? [];
    return [...unlessAmong(live, kept), ...live].sort((one, other) => one.timestamp - other.timestamp);
  }

  /** A place that does not answer is there without what it would say. */
  async measures(): Promise<Pick<SystemMeasures, 'agents' | 'counts' | 'deadLetters' | 'places'>> {
    const { threads, incarnations, log } = this.#deps;
    const answered = new Map(
      await threads.askAll(async (api, { id }) => [id, await api.measures()] as const),
    );
    const places: PlaceMeasures[] = [...threads].map(({ id, isUp, incarnation }) => {
      const measures = answered.get(id);
      return { place: id, isUp, beats: incarnation.beat, ...(measures && { measures }) };
    });
    await threads.caughtUp();
    return { counts: incarnations.counts(), agents: this.#agents(), places, deadLetters: log.letterCounts };
  }

  #agents(): AgentMeasures {
    const { agents, incarnations, supervisor } = this.#deps;
    const byStatus = { starting: 0, running: 0, restarting: 0, parked: 0, stopped: 0, failed: 0 };
    const waitingIn = incarnations.waiting();
    let waitingInAll = 0;
    let processes = 0;
    const rows = [...agents]
      .filter(({ id }) => !isSystemId(id))
      .map(({ id, slot, pid }) => {
        const { status, restarts } = supervisor.status(id);
        const waiting = waitingIn.get(slot) ?? 0;
        byStatus[status] += 1;
        waitingInAll += waiting;
        if (pid !== undefined) processes += 1;
        return { agentId: id, waiting, restarts };
      });
    const restarted = mostOf(rows, ({ restarts }) => restarts).map(({ agentId, restarts }) => ({
      agentId,
      restarts,
      restartsLeft: restartsLeftOf(supervisor.supervisionOf(agentId)),
    }));
    const waiting = mostOf(rows, (row) => row.waiting);
    return { total: rows.length, processes, byStatus, waitingInAll, waiting, restarted };
  }

  async thread(correlationId: string): Promise<readonly A2AEnvelope[]> {
    const envelopes = (await this.#deps.threads.askAll((api) => api.thread(correlationId))).flat();
    const kept = (await this.#deps.history?.envelopes(correlationId)) ?? [];
    const known = new Map(kept.map((envelope) => [envelope.id, envelope]));
    // Of old ones a thread may have let go of the payload.
    for (const envelope of envelopes)
      if (envelope.payload !== undefined || !known.has(envelope.id)) known.set(envelope.id, envelope);
    return sortConversation([...known.values()]);
  }
}

/** Those that are not among the ones that are remembered here too: the history has them word for word. */
function unlessAmong(live: readonly SystemEvent[], kept: readonly SystemEvent[]): readonly SystemEvent[] {
  if (kept.length === 0) return kept;
  const texts = new Set(
    live.filter(({ security }) => security === true).map((event) => JSON.stringify(event)),
  );
  return kept.filter((event) => !texts.has(JSON.stringify(event)));
}

/** What the error says with which it was parked. */
const parkedFacts = ({ why }: ParkedAgent) => {
  const { reason, from, to } = why.details as unknown as NonNullable<RosterRow['parked']>;
  return { reason, from, ...(to === undefined ? {} : { to }) };
};

const restartsLeftOf = ({ restarts, maxRestarts }: SupervisionRow): number =>
  Math.max(0, maxRestarts - restarts);
