import { conservationOf, isAllSettled } from '../observe/conservation.ts';
import type { ControlLog } from '../observe/control-log.ts';
import { inOrderOfTalk } from '../observe/order-of-talk.ts';
import type { SystemEvent } from '../observe/system-event.ts';
import { sumOfCounts, type ToolCount } from '../observe/tool-counts.ts';
import type { A2AEnvelope } from '../protocol/envelope.ts';
import { isSystemId } from '../protocol/policy.ts';
import type { Clock } from '../protocol/seams.ts';
import type { Supervisor } from '../supervision/supervisor.ts';
import type { Conservation, RosterRow } from '../system/system.ts';
import type { AgentBook, ParkedAgent } from './agent-book.ts';
import { processName } from './agent-processes.ts';
import type { Places } from './places.ts';
import type { SeatBook } from './seat-book.ts';

const IDLE_POLL_MS = 10;
/** How often the counts are taken again while envelopes move between two of them. */
const COUNTINGS = 10;

export interface OverviewDeps {
  readonly clock: Clock;
  readonly agents: AgentBook;
  readonly places: Places;
  readonly seats: SeatBook;
  readonly supervisor: Supervisor;
  readonly log: ControlLog;
}

/** What is seen of the system as a whole: every thread is asked, and what the control thread knows is added. */
export class Overview {
  readonly #deps: OverviewDeps;

  constructor(deps: OverviewDeps) {
    this.#deps = deps;
  }

  roster(): RosterRow[] {
    const { agents, places, seats, supervisor } = this.#deps;
    places.readArrived();
    const waiting = seats.waiting();
    // The embedder's mailbox is no agent.
    const rows = [...agents].filter(({ id }) => !isSystemId(id));
    return rows.map((agent) => {
      const { status, restarts, lastError, retryAtMs } = supervisor.status(agent.id);
      const { card } = agent.profile;
      const { pid } = agent;
      const threadId = pid === undefined ? places.threadIdOf(agent.place) : undefined;
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
        restarts,
        ...(lastError === undefined ? {} : { lastError }),
        ...(retryAtMs === undefined ? {} : { retryAtMs }),
        ...(status === 'parked' && agent.parked !== undefined ? { parked: parkedFacts(agent.parked) } : {}),
      };
    });
  }

  /** Oldest first. */
  async recentEvents(): Promise<readonly SystemEvent[]> {
    const { places, log } = this.#deps;
    const lists = await places.askAll((api) => api.recentEvents());
    return [...log.recentEvents(), ...lists.flat()].sort((one, other) => one.timestamp - other.timestamp);
  }

  /** The calls of tools, by tool, as far as the threads remember that run now. */
  async toolCounts(): Promise<readonly ToolCount[]> {
    return sumOfCounts(await this.#deps.places.askAll((api) => api.toolCounts()));
  }

  async thread(correlationId: string): Promise<readonly A2AEnvelope[]> {
    const envelopes = (await this.#deps.places.askAll((api) => api.thread(correlationId))).flat();
    const known = new Map(envelopes.map((envelope) => [envelope.id, envelope]));
    return inOrderOfTalk([...known.values()]);
  }

  /** Asked again while envelopes move between the counts of two threads. */
  async conservation(): Promise<Conservation> {
    const { places, seats } = this.#deps;
    for (let attempt = 1; ; attempt++) {
      const before = seats.counts();
      const stats = await places.askAll((api) => api.stats());
      const isComplete = stats.length >= [...places].filter(({ isUp }) => isUp).length;
      // Nobody has in hand yet what waits for a thread that is not up.
      const homeless = seats.orphaned((slot) => this.#isHomeless(slot));
      const inFlight = stats.reduce((sum, one) => sum + one.inFlight, homeless);
      const left = stats.reduce((sum, one) => sum + one.left, 0);
      const { isExact, ...account } = conservationOf(before, seats.counts(), { inFlight, left });
      if (isExact && isComplete) return account;
      if (attempt >= COUNTINGS) return { ...account, holds: account.holds && isComplete };
      await this.#pause();
    }
  }

  /** Resolves when nothing is in hand or waits, or after `timeoutMs`. */
  async untilIdle(timeoutMs: number): Promise<void> {
    const { clock } = this.#deps;
    const untilMs = clock.now() + timeoutMs;
    while (clock.now() < untilMs && !(await this.#isIdle())) await this.#pause();
  }

  async #isIdle(): Promise<boolean> {
    const { places, seats } = this.#deps;
    if (!places.areUp) return false;
    const before = seats.counts();
    const stats = await places.askAll((api) => api.stats());
    if (stats.length < [...places].length || !stats.every((one) => one.isIdle)) return false;
    return isAllSettled(before, seats.counts());
  }

  /** The agent in this slot has no thread at the moment. */
  #isHomeless(slot: number): boolean {
    const agent = this.#deps.agents.inSlot(slot);
    return agent !== undefined && !this.#deps.places.get(agent.place).isUp;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.setTimer(IDLE_POLL_MS, resolve));
  }
}

/** What the error says with which it was parked. */
const parkedFacts = ({ why }: ParkedAgent) => {
  const { reason, from, to } = why.details as unknown as NonNullable<RosterRow['parked']>;
  return { reason, from, ...(to === undefined ? {} : { to }) };
};
