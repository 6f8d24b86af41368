import type { CodingEvent } from './coding-event.ts';

/** How many events of each kind are reported of one attempt. What is beyond that is counted, and not told. */
const MOST: Readonly<Record<CodingEvent['type'], number>> = {
  'session.started': 20,
  said: 1_000,
  planned: 500,
  'tool.started': 5_000,
  'tool.ended': 5_000,
  'permission.answered': 1_000,
  usage: 2_000,
  'rate.limited': 100,
  ended: 100,
  unreadable: 100,
};

/** Says which events are reported, so that a flood of them stays bounded. The same usage is not told twice in a row. */
export class ReportLimit {
  readonly #counts = new Map<string, number>();
  #lastUsage = '';

  admits(event: CodingEvent): boolean {
    if (event.type === 'usage' && !this.#isNewUsage(event)) return false;
    const count = (this.#counts.get(event.type) ?? 0) + 1;
    this.#counts.set(event.type, count);
    return count <= MOST[event.type];
  }

  #isNewUsage({ usage }: Extract<CodingEvent, { type: 'usage' }>): boolean {
    const told = JSON.stringify(usage);
    if (told === this.#lastUsage) return false;
    this.#lastUsage = told;
    return true;
  }
}
