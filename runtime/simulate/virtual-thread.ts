import type { Clock, IdSource, NewSecret, Seams, EventLoop } from '../protocol/seams.ts';
import { idText } from '../protocol/system-seams.ts';
import { Chance } from './chance.ts';
import { endTimer } from './running.ts';
import type { Scheduler } from './scheduler.ts';
import type { ScheduledStep } from './step-heap.ts';

/** The time that reading the clock takes, milliseconds. So a thread that polls the clock sees time pass. */
const LOOK_MS = 0.000_5;
/** Node's shortest delay of a timer, milliseconds. */
const SHORTEST_TIMER_MS = 1;

/** The node that a thread belongs to. */
export interface ThreadHome {
  /** Called before each step of the thread; may end or delay it. */
  beforeStep(thread: VirtualThread): void;
  /** The agent in this thread whose handler may wait for something outside. */
  suspect(thread: VirtualThread): string | undefined;
}

/**
 * A virtual thread. Its event loop, clock, ids and randomness come from the scheduler. Its steps take virtual time, in which
 * it does nothing else.
 */
export class VirtualThread {
  /** Its number among all threads of the simulation. */
  readonly number: number;
  readonly name: string;
  readonly seams: Seams;
  readonly loop: EventLoop;
  /** The node that it belongs to; undefined for the simulation's own thread. */
  home: ThreadHome | undefined;
  /** The place that it hosts, once it does. */
  placeId: string | undefined;
  /** When it is free again, virtual milliseconds. */
  freeAtMs = 0;
  frozenUntilMs = 0;
  /** The factor that its times are multiplied by. */
  slowness = 1;
  /** Processor time that it has used, virtual milliseconds. */
  cpuMs = 0;
  isOver = false;
  /** Functions deferred by its code, in order. */
  readonly deferred: (() => void)[] = [];
  /** Steps that came due while deferred functions were left. */
  readonly blocked: ScheduledStep[] = [];
  isFollowing = false;
  /** Called with uncaught errors. */
  onStray: (error: unknown) => void;
  /** Called when the thread ends. */
  readonly onOver: (() => void)[] = [];
  /** The generator for its agents' global reads, such as `Math.random`. */
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

  /** The virtual time of this thread, which advances within a step. */
  get localMs(): number {
    if (this.#scheduler.current === this) return this.#startMs + this.#spentMs;
    return Math.max(this.freeAtMs, this.#scheduler.nowMs);
  }

  /** Adds `ms` to the time of the current step. */
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

/** Makes secrets of 128 bits by the seed. */
function secretsOf(chance: Chance): NewSecret {
  const words = new Uint32Array(4);
  return () => {
    for (let at = 0; at < words.length; at++) words[at] = Math.floor(chance.next() * 2 ** 32);
    return Buffer.from(words.buffer).toString('base64url');
  };
}
