import { DeadLetterBook } from '../mailbox/dead-letter-book.ts';
import type { Clock } from '../protocol/seams.ts';
import type { DeadLetter } from '../system/system.ts';
import { EventRing } from './event-ring.ts';
import type { SystemEvent } from './system-event.ts';

const EVENTS_KEPT = 1_024;
const AUDITED_KEPT = 1_024;

export interface ControlLogDeps {
  readonly clock: Clock;
  readonly onEvent: (event: SystemEvent) => void;
}

/** What the control thread keeps of what happened: its own events, and the dead letters of every thread. */
export class ControlLog {
  readonly #deps: ControlLogDeps;
  readonly #events = new EventRing<SystemEvent>(EVENTS_KEPT);
  /** What others do often must not drive these out. */
  readonly #audited = new EventRing<SystemEvent>(AUDITED_KEPT);
  readonly #letters = new DeadLetterBook();

  constructor(deps: ControlLogDeps) {
    this.#deps = deps;
  }

  note(type: SystemEvent['type'], facts: Partial<SystemEvent>): void {
    this.add({ type, timestamp: this.#deps.clock.now(), ...facts });
  }

  add(event: SystemEvent): void {
    const placed = { place: 'control', ...event };
    this.#events.push(placed);
    this.#deps.onEvent(placed);
  }

  /** Keeps what a thread tells of itself beyond its end. */
  audit(event: SystemEvent): void {
    this.#audited.push(event);
    this.#deps.onEvent(event);
  }

  addLetters(letters: readonly DeadLetter[]): void {
    for (const letter of letters) this.#letters.add(letter);
  }

  /** Oldest first. */
  recentEvents(): readonly SystemEvent[] {
    return [...this.#audited.toArray(), ...this.#events.toArray()];
  }

  /** Oldest first. */
  deadLetters(): readonly DeadLetter[] {
    return this.#letters.toArray();
  }
}
