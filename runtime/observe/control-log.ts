import type { StepWatch, WatchedStep } from '../protocol/step-watch.ts';
import type { Clock } from '../protocol/seams.ts';
import type { DeadLetter } from '../protocol/dead-letter.ts';
import { eventKind } from './event-kind.ts';
import type { EventLimits } from './event-limits.ts';
import { EventRing } from './event-ring.ts';
import type { SystemEvent } from '../protocol/system-event.ts';
import type { ErrorCode } from '../protocol/error-codes.ts';
import { estimateSize } from './estimate-size.ts';

export interface ControlLogDeps {
  readonly clock: Clock;
  readonly limits: EventLimits;
  /** Hears of each event of the control thread itself. */
  readonly onEvent: (event: SystemEvent) => void;
  /** A security event, to be remembered beyond the process. */
  readonly remember?: ((event: SystemEvent) => void) | undefined;
  /** Gives the event to listeners (`inspect`). */
  readonly show: (event: SystemEvent) => void;
  /** Somebody wants to see every event. */
  readonly isTold: () => boolean;
}

/** What the control thread keeps of what happened: its own events, and the dead letters of every thread. */
export class ControlLog {
  /** Watches the lives of agents, by whose ids their machines go; nothing of them is kept. */
  readonly steps: StepWatch;
  readonly #deps: ControlLogDeps;
  readonly #lives: EventRing<SystemEvent>;
  readonly #security: EventRing<SystemEvent>;
  readonly #letters = new DeadLetters();
  readonly #letterCounts = new Map<ErrorCode, number>();

  constructor(deps: ControlLogDeps) {
    this.#deps = deps;
    this.#lives = new EventRing(deps.limits.lives);
    this.#security = new EventRing(deps.limits.security);
    this.steps = new ControlSteps(deps);
  }

  note(type: SystemEvent['type'], facts: Partial<SystemEvent>): void {
    this.add({ type, timestamp: this.#deps.clock.now(), ...facts });
  }

  add(event: SystemEvent): void {
    const placed = { place: 'control', ...event };
    this.#deps.onEvent(placed);
    this.audit(placed);
  }

  /** Keeps an event of a thread, so that it outlives the thread. */
  audit(event: SystemEvent): void {
    const isSecurity = eventKind(event) === 'security';
    const ring = isSecurity ? this.#security : this.#lives;
    ring.push(event);
    if (isSecurity) this.#deps.remember?.(event);
    this.#deps.show(event);
  }

  addLetters(letters: readonly DeadLetter[]): void {
    for (const letter of letters) {
      this.#letters.add(letter);
      this.#letterCounts.set(letter.code, (this.#letterCounts.get(letter.code) ?? 0) + 1);
    }
  }

  /** Takes the dead letters of former processes, which are not counted again. */
  restoreLetters(letters: readonly DeadLetter[]): void {
    for (const letter of letters) this.#letters.add(letter);
  }

  /** How many of this process came, by code. */
  get letterCounts(): ReadonlyMap<ErrorCode, number> {
    return this.#letterCounts;
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

/** The steps of agents' lives, as events. */
class ControlSteps implements StepWatch {
  readonly #deps: ControlLogDeps;

  constructor(deps: ControlLogDeps) {
    this.#deps = deps;
  }

  isOn(): boolean {
    return this.#deps.isTold();
  }

  tell(step: WatchedStep): void {
    const timestamp = this.#deps.clock.now();
    const event: SystemEvent = {
      type: 'machine-step',
      timestamp,
      place: 'control',
      agentId: step.actorId,
      ...step,
    };
    this.#deps.onEvent(event);
    this.#deps.show(event);
  }
}

const MAX_LETTERS = 16_384;
const ENVELOPES_KEPT = 1_024;
/** Bytes of payloads that are kept, about. */
const BUDGET = 16_000_000;

interface Kept {
  readonly kept: Pick<DeadLetter, 'envelope' | 'partial'>;
  readonly weight: number;
}

/** The last dead letters of a system: many by name and reason, the newest with their whole envelope. */
export class DeadLetters {
  readonly #letters = new EventRing<DeadLetter>(MAX_LETTERS);
  readonly #envelopes = new Map<DeadLetter, Kept>();
  #weight = 0;

  add({ envelope, partial, ...letter }: DeadLetter): void {
    this.#letters.push(letter);
    if (envelope === undefined && partial === undefined) return;
    const weight = estimateSize(envelope?.payload) + estimateSize(partial);
    const kept = {
      ...(envelope === undefined ? {} : { envelope }),
      ...(partial === undefined ? {} : { partial }),
    };
    this.#envelopes.set(letter, { kept, weight });
    this.#weight += weight;
    for (const [oldest, kept] of this.#envelopes) {
      if (this.#envelopes.size <= ENVELOPES_KEPT && this.#weight <= BUDGET) return;
      this.#envelopes.delete(oldest);
      this.#weight -= kept.weight;
    }
  }

  /** Oldest first. */
  toArray(): DeadLetter[] {
    return this.#letters.toArray().map((letter) => {
      const kept = this.#envelopes.get(letter);
      return kept === undefined ? letter : { ...letter, ...kept.kept };
    });
  }
}
