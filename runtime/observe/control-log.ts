import { DeadLetterBook } from './dead-letter-book.ts';
import type { Clock } from '../protocol/seams.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import { eventKind } from './event-kind.ts';
import type { EventLimits } from './event-limits.ts';
import { EventRing } from './event-ring.ts';
import type { SystemEvent } from '../protocol/system-event.ts';

export interface ControlLogDeps {
  readonly clock: Clock;
  readonly limits: EventLimits;
  /** Something happened in this thread. */
  readonly onEvent: (event: SystemEvent) => void;
  /** A security event, to be remembered beyond the process. */
  readonly remember?: ((event: SystemEvent) => void) | undefined;
  /** It goes to whoever wants to see. */
  readonly show: (event: SystemEvent) => void;
}

/** What the control thread keeps of what happened: its own events, and the dead letters of every thread. */
export class ControlLog {
  readonly #deps: ControlLogDeps;
  readonly #lives: EventRing<SystemEvent>;
  readonly #security: EventRing<SystemEvent>;
  readonly #letters = new DeadLetterBook();

  constructor(deps: ControlLogDeps) {
    this.#deps = deps;
    this.#lives = new EventRing(deps.limits.lives);
    this.#security = new EventRing(deps.limits.security);
  }

  note(type: SystemEvent['type'], facts: Partial<SystemEvent>): void {
    this.add({ type, timestamp: this.#deps.clock.now(), ...facts });
  }

  add(event: SystemEvent): void {
    const placed = { place: 'control', ...event };
    this.#deps.onEvent(placed);
    this.audit(placed);
  }

  /** Keeps what a thread tells of itself beyond its end. */
  audit(event: SystemEvent): void {
    const isSecurity = eventKind(event) === 'security';
    const ring = isSecurity ? this.#security : this.#lives;
    ring.push(event);
    if (isSecurity) this.#deps.remember?.(event);
    this.#deps.show(event);
  }

  addLetters(letters: readonly DeadLetter[]): void {
    for (const letter of letters) this.#letters.add(letter);
  }

  /** Oldest first. */
  recentEvents(): readonly SystemEvent[] {
    return [...this.#security.toArray(), ...this.#lives.toArray()];
  }

  /** Oldest first. */
  deadLetters(): readonly DeadLetter[] {
    return this.#letters.toArray();
  }
}
