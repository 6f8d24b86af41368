import type { Clock, IdSource, NewSecret, Seams, EventLoop } from '../protocol/seams.ts';
import { idText } from '../protocol/system-seams.ts';
import { Chance } from './chance.ts';
import { endTimer } from './running.ts';
import type { Scheduler } from './scheduler.ts';
import type { ScheduledStep } from './step-heap.ts';

/** What one look at the clock costs, milliseconds: a thread that reads the time sees it pass. */
const LOOK_MS = 0.000_5;
/** What node makes of a shorter delay. */
const SHORTEST_TIMER_MS = 1;

/**
 * A thread that is none: its event loop, its clock, its ids and its chance are given out by the scheduler. What it does
 * takes virtual time, in which it does nothing else.
 */
export class VirtualThread {
  /** Counts all threads of a simulation. */
  readonly number: number;
  readonly name: string;
  readonly seams: Seams;
  readonly loop: EventLoop;
  /** The place that it is, once it is one. */
  placeId: string | undefined;
  /** Virtual milliseconds until which it is busy. */
  freeAtMs = 0;
  frozenUntilMs = 0;
  /** How many times as long as others it takes. */
  slowness = 1;
  /** Virtual processor time that it has used. */
  cpuMs = 0;
  isOver = false;
  /** What follows on the code that ran last, in order. */
  readonly deferred: (() => void)[] = [];
  /** Tasks that came due while it was in the middle of something. */
  readonly blocked: ScheduledStep[] = [];
  isFollowing = false;
  /** Takes what nobody caught. */
  onStray: (error: unknown) => void;
  /** Called when it is over. */
  readonly onOver: (() => void)[] = [];
  /** What its agents' code draws by Math.random and the like, beside what their context gives. */
  readonly chance: Chance;
  readonly #scheduler: Scheduler;
  #startMs = 0;
  #spentMs = 0;

  constructor(scheduler: Scheduler, number: number, name: string, seed: number) {
    this.#scheduler = scheduler;
    this.number = number;
    this.name = name;
    this.onStray = (error) => scheduler.fail(error);
    const chance = new Chance(seed, `thread ${number}`);
    this.chance = new Chance(seed, `global reads of thread ${number}`);
    const ids = idsOf(number);
    this.seams = {
      clock: this.#clock(),
      ids,
      newId: () => idText(ids.origin, ids.next()),
      newSecret: secretsOf(new Chance(seed, `secrets of thread ${number}`)),
      random: chance.next,
    };
    this.loop = {
      defer: (run) => this.#follow(run),
      soon: (run) => this.#follow(run),
      yieldTurn: (run) => {
        scheduler.schedule(this, this.localMs, run);
      },
      listens: 'never',
    };
  }

  /** The virtual time as this thread has it: while it works, later than when it began. */
  get localMs(): number {
    if (this.#scheduler.current === this) return this.#startMs + this.#spentMs;
    return Math.max(this.freeAtMs, this.#scheduler.nowMs);
  }

  /** What it does now takes this much longer. */
  spend(ms: number): void {
    this.#spentMs += ms * this.slowness;
  }

  begin(atMs: number): void {
    this.#startMs = atMs;
    this.#spentMs = 0;
  }

  end(): void {
    this.cpuMs += this.#spentMs;
    this.freeAtMs = this.#startMs + this.#spentMs;
  }

  #follow(run: () => void): void {
    this.#scheduler.mustBeInside();
    if (!this.isOver) this.deferred.push(run);
  }

  #clock(): Clock {
    const scheduler = this.#scheduler;
    return {
      now: () => Math.floor(scheduler.epochMs + this.#look()),
      monotonicMs: () => this.#look(),
      setTimer: (delayMs, fire) => {
        const atMs = this.localMs + Math.max(SHORTEST_TIMER_MS, delayMs);
        const step = scheduler.schedule(this, atMs, fire, true);
        return () => {
          step.isCancelled = true;
          endTimer(step);
        };
      },
    };
  }

  #look(): number {
    this.#spentMs += LOOK_MS;
    return this.localMs;
  }
}

function idsOf(number: number): IdSource {
  let count = 0;
  return { origin: `t${number}`, next: () => ++count };
}

/** As unlike as real ones, and the same for the same seed. */
function secretsOf(chance: Chance): NewSecret {
  const words = new Uint32Array(4);
  return () => {
    for (let at = 0; at < words.length; at++) words[at] = Math.floor(chance.next() * 2 ** 32);
    return Buffer.from(words.buffer).toString('base64url');
  };
}
