import type { AgentTier } from '../protocol/agent-card.ts';
import type { AgentProfile } from '../protocol/agent-row.ts';

/** What a group needs of its rows: `order` is the position in the order of registration. */
interface Member<Row extends Member<Row>> {
  readonly order: number;
  readonly group: ProfileGroup<Row>;
}

/** The rows that share one profile, with the tier and sandbox by which all of them are judged. */
export class ProfileGroup<Row extends Member<Row>> {
  readonly profile: AgentProfile;
  readonly tier: AgentTier;
  readonly sandboxId: string | undefined;
  readonly isSystem: boolean;
  #rows: Row[] = [];
  #removed: Set<Row> | undefined;
  #isSorted = true;
  #size = 0;

  constructor(profile: AgentProfile, isSystem: boolean) {
    const { tier, sandboxId } = profile.clearance ?? profile.card;
    this.profile = profile;
    this.tier = tier;
    this.sandboxId = sandboxId;
    this.isSystem = isSystem;
  }

  get size(): number {
    return this.#size;
  }

  add(row: Row): void {
    this.#size += 1;
    if (this.#removed?.delete(row) === true) return;
    const last = this.#rows.at(-1);
    if (last !== undefined && last.order > row.order) this.#isSorted = false;
    this.#rows.push(row);
  }

  remove(row: Row): void {
    this.#size -= 1;
    this.#removed ??= new Set();
    this.#removed.add(row);
  }

  /** Notes that a row's position in the order has changed. */
  reorder(): void {
    this.#isSorted = false;
  }

  /** The rows in registration order. Removed rows are dropped only here, so that removing many costs one pass. */
  inOrder(): readonly Row[] {
    const removed = this.#removed;
    if (removed !== undefined) this.#rows = this.#rows.filter((row) => !removed.has(row));
    this.#removed = undefined;
    if (!this.#isSorted) this.#rows.sort((one, other) => one.order - other.order);
    this.#isSorted = true;
    return this.#rows;
  }
}
