import type { AnyActorRef } from 'xstate';
import { refused } from '../protocol/errors.ts';
import type { Clock } from '../protocol/seams.ts';
import type { StateTimer } from '../upgrade/machine-state.ts';

/** The delayed events of an agent's logic: they count by the agent's clock, and can be handed on with its state. */
export class LogicTimers {
  readonly #clock: Clock;
  #root: AnyActorRef | undefined;
  /** When each scheduled event comes, by the monotonic clock. */
  readonly #dueMs = new WeakMap<object, number>();

  constructor(clock: Clock) {
    this.#clock = clock;
  }

  /** As XState wants it. */
  readonly xstateClock = {
    setTimeout: (run: () => void, ms: number): unknown => {
      const dueMs = this.#clock.monotonicMs() + ms;
      // XState has noted the event just before, and does not say which it was.
      for (const event of this.#scheduled()) if (!this.#dueMs.has(event)) this.#dueMs.set(event, dueMs);
      return this.#clock.setTimer(ms, run);
    },
    clearTimeout: (cancel: unknown): void => (cancel as () => void)(),
  };

  /** The actor whose events they are. */
  attach(root: AnyActorRef): void {
    this.#root = root;
  }

  /** Those that are still to come, with what is left of their delays. Throws REFUSED for one of another actor, or to one. */
  left(): readonly StateTimer[] {
    const root = this.#root;
    const nowMs = this.#clock.monotonicMs();
    return this.#scheduled().map((scheduled) => {
      const { id, event, source, target } = scheduled;
      if (source !== root || target !== root)
        throw refused(
          `the delayed event "${event.type}" from "${source.id}" to "${target.id}" cannot be handed on`,
        );
      return { id, event, delayMs: Math.max(0, (this.#dueMs.get(scheduled) ?? nowMs) - nowMs) };
    });
  }

  /** Goes on with what an actor before had left. */
  resume(timers: readonly StateTimer[]): void {
    const root = this.#root as AnyActorRef;
    for (const { id, event, delayMs } of timers)
      root.system.scheduler.schedule(root, root, event, delayMs, id);
  }

  #scheduled() {
    return Object.values(this.#root?.system.getSnapshot()._scheduledEvents ?? {});
  }
}
