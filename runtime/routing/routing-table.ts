import type { AgentTier } from '../protocol/agent-card.ts';
import type { AgentProfile, AgentRow } from '../protocol/agent-row.ts';
import { invalidOptions } from '../protocol/errors.ts';
import { isSystemId, type Party } from '../protocol/policy.ts';
import { ProfileGroup } from './profile-group.ts';

/** A row as plain data; `profile` is an index into the delta's profiles. */
export interface RowData {
  readonly id: string;
  readonly slot: number;
  readonly place: string;
  readonly profile: number;
  readonly revision: number;
}

/** A change of the table as plain data: first `remove`, then `upsert`, in their order. */
export interface TableChange {
  readonly profiles: readonly AgentProfile[];
  readonly upsert: readonly RowData[];
  readonly remove: readonly string[];
}

export const NO_CHANGE: TableChange = { profiles: [], upsert: [], remove: [] };

/** A change in the order of its authority, whose versions are dense. */
export interface TableDelta extends TableChange {
  readonly version: number;
}

/** A row with six fields and no objects of its own. It is its own party; what rows share is in the group. */
class TableRow implements AgentRow, Party {
  readonly id: string;
  slot = -1;
  place = '';
  revision = 0;
  order: number;
  group: ProfileGroup<TableRow>;

  constructor(id: string, order: number, group: ProfileGroup<TableRow>) {
    this.id = id;
    this.order = order;
    this.group = group;
  }

  get profile(): AgentProfile {
    return this.group.profile;
  }

  get party(): Party {
    return this;
  }

  get tier(): AgentTier {
    return this.group.tier;
  }

  get sandboxId(): string | undefined {
    return this.group.sandboxId;
  }

  get isSystem(): boolean {
    return this.group.isSystem;
  }
}

/** The groups that offer one capability. `rows` is a cache over them. */
interface Offer {
  readonly groups: Set<ProfileGroup<TableRow>>;
  rows: readonly TableRow[] | undefined;
}

const NOBODY: readonly AgentRow[] = [];

/**
 * All agents, and where each is hosted: the table that every thread routes by. Deltas keep it up to date.
 *
 * System actors can be looked up by id. `rows`, `size` and `withCapability` leave them out.
 */
export class RoutingTable {
  readonly #agents = new Map<string, TableRow>();
  readonly #system = new Map<string, TableRow>();
  readonly #agentGroups = new Map<AgentProfile, ProfileGroup<TableRow>>();
  readonly #systemGroups = new Map<AgentProfile, ProfileGroup<TableRow>>();
  readonly #offers = new Map<string, Offer>();
  readonly #watchers = new Set<() => void>();
  #version = 0;
  #edition = 0;
  #nextOrder = 0;

  /** The version of the last delta. */
  get version(): number {
    return this.#version;
  }

  /** A number that differs after every change, also after one that the authority has not ordered yet. */
  get edition(): number {
    return this.#edition;
  }

  /** Calls `watcher` after every change, until the returned function is called. */
  watch(watcher: () => void): () => void {
    this.#watchers.add(watcher);
    return () => void this.#watchers.delete(watcher);
  }

  /** Makes `edition` another one and tells the watchers: readers may see something else, though no row has changed. */
  touch(): void {
    this.#edition += 1;
    for (const watcher of this.#watchers) watcher();
  }

  get size(): number {
    return this.#agents.size;
  }

  get(id: string): AgentRow | undefined {
    return this.#agents.get(id) ?? this.#system.get(id);
  }

  /** Every agent that offers the capability, in registration order. The list is valid until the next change. */
  withCapability(id: string): readonly AgentRow[] {
    const offer = this.#offers.get(id);
    if (offer === undefined) return NOBODY;
    offer.rows ??= merge(offer.groups);
    return offer.rows;
  }

  /** Every agent in registration order. */
  rows(): Iterable<AgentRow> {
    return this.#agents.values();
  }

  /** Applies a change. Deltas of one authority are applied in the order of their versions. */
  apply({ version, profiles, upsert, remove }: TableDelta): void {
    for (const id of remove) this.#remove(id);
    for (const data of upsert) {
      const profile = profiles[data.profile];
      if (profile === undefined)
        throw invalidOptions(`delta.upsert["${data.id}"].profile`, data.profile, 'an index');
      this.#upsert(data, profile);
    }
    this.#version = version;
    this.touch();
  }

  /** Applies a change that has not been ordered yet: the version stays. */
  enter(change: TableChange): void {
    this.apply({ ...change, version: this.#version });
  }

  /** Becomes the table of a snapshot, in its order. An agent that is in both keeps its row object. */
  replace(snapshot: TableDelta): void {
    const ids = new Set(snapshot.upsert.map(({ id }) => id));
    const remove = [...this.#agents.keys(), ...this.#system.keys()].filter((id) => !ids.has(id));
    this.apply({ ...snapshot, remove });
    for (const { id } of snapshot.upsert) this.#moveToEnd(id);
  }

  /** The whole table as one delta. */
  snapshot(): TableDelta {
    return deltaOf(this.#version, [...this.#agents.values(), ...this.#system.values()]);
  }

  #upsert(data: RowData, profile: AgentProfile): void {
    const isSystem = isSystemId(data.id);
    const rows = isSystem ? this.#system : this.#agents;
    const known = rows.get(data.id);
    const group = this.#group(profile, isSystem);
    const row = known ?? new TableRow(data.id, this.#nextOrder++, group);
    if (known === undefined) rows.set(data.id, row);
    row.slot = data.slot;
    row.place = data.place;
    row.revision = data.revision;
    if (known !== undefined && known.group === group) return;
    if (known !== undefined) this.#leave(known);
    row.group = group;
    group.add(row);
    this.#touch(group);
  }

  #remove(id: string): void {
    const rows = isSystemId(id) ? this.#system : this.#agents;
    const row = rows.get(id);
    if (row === undefined) return;
    rows.delete(id);
    this.#leave(row);
  }

  #moveToEnd(id: string): void {
    const rows = isSystemId(id) ? this.#system : this.#agents;
    const row = rows.get(id) as TableRow;
    rows.delete(id);
    rows.set(id, row);
    row.order = this.#nextOrder++;
    row.group.reorder();
    this.#touch(row.group);
  }

  #group(profile: AgentProfile, isSystem: boolean): ProfileGroup<TableRow> {
    const groups = isSystem ? this.#systemGroups : this.#agentGroups;
    const known = groups.get(profile);
    if (known !== undefined) return known;
    const group = new ProfileGroup<TableRow>(profile, isSystem);
    groups.set(profile, group);
    if (!isSystem) for (const id of profile.capabilityIds) this.#offer(id).groups.add(group);
    return group;
  }

  #leave(row: TableRow): void {
    const { group } = row;
    group.remove(row);
    this.#touch(group);
    if (group.size > 0) return;
    (group.isSystem ? this.#systemGroups : this.#agentGroups).delete(group.profile);
    for (const id of group.profile.capabilityIds) {
      const offer = this.#offers.get(id);
      offer?.groups.delete(group);
      if (offer?.groups.size === 0) this.#offers.delete(id);
    }
  }

  #touch(group: ProfileGroup<TableRow>): void {
    for (const id of group.profile.capabilityIds) {
      const offer = this.#offers.get(id);
      if (offer !== undefined) offer.rows = undefined;
    }
  }

  #offer(capabilityId: string): Offer {
    const known = this.#offers.get(capabilityId);
    if (known !== undefined) return known;
    const offer: Offer = { groups: new Set(), rows: undefined };
    this.#offers.set(capabilityId, offer);
    return offer;
  }
}

/** The rows as a delta. A profile that several rows share is in it once. */
export function deltaOf(
  version: number,
  rows: Iterable<Omit<AgentRow, 'party'>>,
  remove: readonly string[] = [],
): TableDelta {
  const indexes = new Map<AgentProfile, number>();
  const upsert: RowData[] = [];
  for (const { id, slot, place, profile, revision } of rows) {
    const index = indexes.get(profile) ?? indexes.size;
    indexes.set(profile, index);
    upsert.push({ id, slot, place, profile: index, revision });
  }
  return { version, profiles: [...indexes.keys()], upsert, remove };
}

function merge(groups: ReadonlySet<ProfileGroup<TableRow>>): readonly TableRow[] {
  if (groups.size === 1) for (const group of groups) return group.inOrder();
  return [...groups].flatMap((group) => group.inOrder()).sort((one, other) => one.order - other.order);
}
