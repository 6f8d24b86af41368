import { familyUsage, type FamilyUsage, usedBetween } from '../../runtime/os/family-usage.ts';
import type { GuardedProcess } from '../../runtime/os/guarded-process.ts';
import type { Clock } from '../../runtime/protocol/seams.ts';

/** The longest time from one look at a family to the next, milliseconds, and how many there are at least in the time it has. */
const LONGEST_LOOK_MS = 10_000;
const LOOKS = 4;
/** The part of the time that a family which works uses of one processor: one that only waits wakes up now and then. */
const WORKING = 0.02;

export interface InactivityDeps {
  readonly clock: Pick<Clock, 'setTimer' | 'monotonicMs'>;
  readonly inactivityMs: number;
  readonly process: Pick<GuardedProcess, 'pid' | 'mark'>;
  readonly onInactive: () => void;
}

/** Calls `onInactive` once a program has printed nothing, and its family has used no processor, for `inactivityMs`. */
export class Inactivity {
  readonly #deps: InactivityDeps;
  #activeAtMs: number;
  #lookedAtMs: number;
  #usage: FamilyUsage;
  #cancel: () => void = () => undefined;

  constructor(deps: InactivityDeps) {
    this.#deps = deps;
    this.#activeAtMs = this.#lookedAtMs = deps.clock.monotonicMs();
    this.#usage = familyUsage(deps.process.pid, deps.process.mark);
    this.#wait();
  }

  /** Says that it has printed something. */
  heard(): void {
    this.#activeAtMs = this.#deps.clock.monotonicMs();
  }

  stop(): void {
    this.#cancel();
  }

  #wait(): void {
    const lookMs = Math.min(LONGEST_LOOK_MS, this.#deps.inactivityMs / LOOKS);
    this.#cancel = this.#deps.clock.setTimer(lookMs, () => this.#look());
  }

  #look(): void {
    const { clock, inactivityMs, process, onInactive } = this.#deps;
    const nowMs = clock.monotonicMs();
    const usage = familyUsage(process.pid, process.mark);
    if (usedBetween(this.#usage, usage) > (nowMs - this.#lookedAtMs) * WORKING) this.#activeAtMs = nowMs;
    this.#usage = usage;
    this.#lookedAtMs = nowMs;
    if (nowMs - this.#activeAtMs >= inactivityMs) onInactive();
    else this.#wait();
  }
}
