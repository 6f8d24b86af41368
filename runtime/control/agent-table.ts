import type { ProcessAgent } from '../agent/agent-description.ts';
import { agentNotFound, type ErrorData, type LastError } from '../protocol/errors.ts';
import type { Snapshot } from '../protocol/snapshot.ts';
import type { Taint } from '../protocol/taint.ts';
import type { AgentStatusMemory } from '../routing/agent-status-memory.ts';
import type { AgentOffer } from '../routing/offered-profile.ts';
import {
  deltaOf,
  RoutingTable,
  type RowData,
  type TableChange,
  type TableDelta,
} from '../routing/routing-table.ts';
import type { AgentProfile, Clearance } from '../protocol/agent-row.ts';
import type { DiedOver } from '../supervision/supervisor.ts';

/** The state of an agent that waits for code that can go on with it: SNAPSHOT_UNKNOWN. */
export interface ParkedAgent {
  readonly snapshot: Snapshot;
  readonly why: ErrorData;
}

/** An agent as the control thread knows it. */
export interface AgentEntry {
  readonly id: string;
  readonly slot: number;
  module: string;
  /** If its code runs in a process of its own. */
  process: ProcessAgent | undefined;
  /** The process of its present life. */
  pid: number | undefined;
  profile: AgentProfile;
  /** What it has said itself that it offers, since it last was given other code. */
  offered?: AgentOffer | undefined;
  place: string;
  /** Deaths of its thread that were charged to it. */
  offences: number;
  /** A death that its supervisor has not been told of, because its new thread is not up yet. */
  untold:
    | {
        readonly reason: string;
        readonly taint?: Taint;
        readonly charged: boolean;
        readonly over: DiedOver | undefined;
      }
    | undefined;
  /** Why its module is not loaded again: a thread died over it. */
  broken: string | undefined;
  /** Why it has failed. */
  gaveUp: LastError | undefined;
  /** What it last was parked with; it may have been stopped since. */
  parked: ParkedAgent | undefined;
}

/** Who is hosted where, and the table that says so to all: the authority that orders every change of it. */
export class AgentTable {
  readonly #agentStatus: Pick<AgentStatusMemory, 'reach' | 'hostDied'>;
  readonly #table = new RoutingTable();
  readonly #agents = new Map<string, AgentEntry>();
  readonly #bySlot: AgentEntry[] = [];

  constructor(agentStatus: Pick<AgentStatusMemory, 'reach' | 'hostDied'>) {
    this.#agentStatus = agentStatus;
  }

  [Symbol.iterator](): Iterator<AgentEntry> {
    return this.#agents.values();
  }

  /** The first slot that nobody has had. */
  get nextSlot(): number {
    return this.#bySlot.length;
  }

  has(id: string): boolean {
    return this.#agents.has(id);
  }

  /** Fails with AGENT_NOT_FOUND. */
  get(id: string): AgentEntry {
    const agent = this.#agents.get(id);
    if (agent === undefined) throw agentNotFound(id);
    return agent;
  }

  find(id: string): AgentEntry | undefined {
    return this.#agents.get(id);
  }

  /** Whoever has or had the slot. */
  inSlot(slot: number): AgentEntry | undefined {
    return this.#bySlot[slot];
  }

  at(place: string): AgentEntry[] {
    return [...this.#agents.values()].filter((agent) => agent.place === place);
  }

  /** The thread of a place is gone: whoever reads the status of its agents knows. */
  threadDied(place: string): void {
    for (const { slot } of this.at(place)) this.#agentStatus.hostDied(slot);
  }

  /** Of `places`, the one with the fewest agents; those that are about to come are `taken`. */
  leastLoaded(places: readonly string[], taken: readonly string[]): string | undefined {
    const load = new Map(places.map((place) => [place, 0]));
    const add = (place: string): void => {
      const count = load.get(place);
      if (count !== undefined) load.set(place, count + 1);
    };
    for (const { place } of this) add(place);
    for (const place of taken) add(place);
    const [first] = [...load].sort(([, one], [, other]) => one - other);
    return first?.[0];
  }

  /** How an agent of another node is judged, if this is one. */
  clearanceOf(id: string): Clearance | undefined {
    return this.#table.get(id)?.profile.clearance;
  }

  snapshot(): TableDelta {
    return this.#table.snapshot();
  }

  /**
   * Takes agents in. Returns what their places are told first; who else must know is told when they are hosted, by what
   * `write` makes of it: versions count in the order in which everybody is told.
   */
  add(entries: readonly AgentEntry[]): TableChange {
    for (const entry of entries) {
      this.#agents.set(entry.id, entry);
      this.#bySlot[entry.slot] = entry;
    }
    this.#agentStatus.reach(this.nextSlot);
    const profiles = [...new Set(entries.map((entry) => entry.profile))];
    const indexes = new Map(profiles.map((profile, index) => [profile, index]));
    const upsert: RowData[] = entries.map(({ id, slot, place, profile }) => ({
      id,
      slot,
      place,
      profile: indexes.get(profile) as number,
      revision: 0,
    }));
    const change = { profiles, upsert, remove: [] };
    this.#table.enter(change);
    return change;
  }

  /** Writes to the table what was decided elsewhere; returns what all are to be told at once. */
  write(change: TableChange): TableDelta {
    const delta = { version: this.#table.version + 1, ...change };
    this.#table.apply(delta);
    return delta;
  }

  /** Gives an agent another profile; returns what all are to be told at once. */
  replace(agent: AgentEntry, profile: AgentProfile): TableDelta {
    agent.profile = profile;
    const { id, slot, place } = agent;
    const revision = (this.#table.get(id)?.revision ?? 0) + 1;
    return this.write({
      profiles: [profile],
      upsert: [{ id, slot, place, profile: 0, revision }],
      remove: [],
    });
  }

  /** Moves agents, each to the place that `placeOf` names; returns what all are to be told at once. */
  move(agents: readonly AgentEntry[], placeOf: (agent: AgentEntry) => string): TableDelta {
    const rows = agents.map((agent) => {
      agent.place = placeOf(agent);
      const { id, slot, place } = agent;
      const { profile, revision } = this.#table.get(id) ?? { profile: agent.profile, revision: 0 };
      return { id, slot, place, profile, revision };
    });
    const { profiles, upsert, remove } = deltaOf(0, rows);
    return this.write({ profiles, upsert, remove });
  }

  /** Forgets an agent; its row stays until it is removed. */
  forget(id: string): boolean {
    return this.#agents.delete(id);
  }
}
