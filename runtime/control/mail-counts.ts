import { conservationOf, isAllSettled } from '../observe/conservation.ts';
import type { Conservation } from '../protocol/conservation.ts';
import type { Clock } from '../protocol/seams.ts';
import type { AgentTable } from './agent-table.ts';
import type { IncarnationRegistry } from './incarnation-registry.ts';
import type { Threads } from './threads.ts';

const IDLE_POLL_MS = 10;
/** How often the counts are taken again while envelopes move between two of them. */
const COUNTINGS = 10;

export interface MailCountsDeps {
  readonly clock: Clock;
  readonly agents: AgentTable;
  readonly threads: Threads;
  readonly incarnations: IncarnationRegistry;
}

/** The envelopes of the system, counted: whether none is lost, and whether any is under way. */
export class MailCounts {
  readonly #deps: MailCountsDeps;

  constructor(deps: MailCountsDeps) {
    this.#deps = deps;
  }

  /** Asked again while envelopes move between the counts of two threads. */
  async conservation(): Promise<Conservation> {
    const { threads, incarnations } = this.#deps;
    for (let attempt = 1; ; attempt++) {
      const before = incarnations.counts();
      const stats = await threads.askAll((api) => api.stats());
      const isComplete = stats.length >= [...threads].filter(({ isUp }) => isUp).length;
      // Nobody has in hand yet what waits for a thread that is not up.
      const homeless = incarnations.orphaned((slot) => this.#isHomeless(slot));
      const inFlight = stats.reduce((sum, one) => sum + one.inFlight, homeless);
      const left = stats.reduce((sum, one) => sum + one.left, 0);
      const { isExact, ...account } = conservationOf(before, incarnations.counts(), { inFlight, left });
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
    const { threads, incarnations } = this.#deps;
    if (!threads.areUp) return false;
    const before = incarnations.counts();
    const stats = await threads.askAll((api) => api.stats());
    if (stats.length < [...threads].length || !stats.every((one) => one.isIdle)) return false;
    return isAllSettled(before, incarnations.counts());
  }

  /** The agent in this slot has no thread at the moment. */
  #isHomeless(slot: number): boolean {
    const agent = this.#deps.agents.inSlot(slot);
    return agent !== undefined && !this.#deps.threads.get(agent.place).isUp;
  }

  #pause(): Promise<void> {
    return new Promise((resolve) => this.#deps.clock.setTimer(IDLE_POLL_MS, resolve));
  }
}
