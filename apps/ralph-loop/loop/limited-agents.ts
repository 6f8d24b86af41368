import type { RosterRow } from 'orrery';
import { isAlive, offers } from './team.ts';

/** Agents that take no more work for now, because their provider limits them. */
export class LimitedAgents {
  readonly #untilMs = new Map<string, number>();

  /** Times are Unix milliseconds. */
  note(agent: string, untilMs: number): void {
    this.#untilMs.set(agent, untilMs);
  }

  isLimited(agent: string, nowMs: number): boolean {
    return (this.#untilMs.get(agent) ?? 0) > nowMs;
  }

  /** Of the agents that could work on a capability: those that are limited, as long as one is not. */
  toSkip(roster: readonly RosterRow[], capability: string, nowMs: number): string[] {
    const able = roster.filter((row) => isAlive(row) && offers(row, capability)).map(({ id }) => id);
    const limited = able.filter((id) => this.isLimited(id, nowMs));
    return limited.length === able.length ? [] : limited;
  }

  /** One that could work on a capability now. */
  free(roster: readonly RosterRow[], capability: string, nowMs: number): string | undefined {
    return roster.find((row) => isAlive(row) && offers(row, capability) && !this.isLimited(row.id, nowMs))
      ?.id;
  }
}
