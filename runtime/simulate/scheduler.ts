import { simulationEscaped } from '../protocol/errors.ts';
import { Chance } from './chance.ts';
import { countTimer, endTimer, running } from './running.ts';
import { type ScheduledStep, StepHeap } from './step-heap.ts';
import { VirtualThread } from './virtual-thread.ts';

/** The time of a step, milliseconds. */
const STEP_MS = [0.001, 0.02] as const;

const MOST_NOTES = 100;

/** `epochMs`: Unix milliseconds at virtual time 0. */
export interface SchedulerOptions {
  readonly seed: number;
  readonly epochMs: number;
}

export interface SchedulerDeps {
  /** Called before each step; may end or delay the thread that would take it. */
  readonly beforeStep: (thread: VirtualThread) => void;
  /** Called after the code of each step, before other work of the process. */
  readonly afterCode: () => void;
  /** Called after each step, once all that it settled has run. */
  readonly afterStep: () => void;
  /** The agent in this thread whose handler may wait for something outside. */
  readonly suspect: (thread: VirtualThread) => string | undefined;
  /** Called when only timers are left. Virtual time goes on when the promise resolves. */
  readonly whenQuiet: () => Promise<void> | undefined;
}

/**
 * Runs the steps of all virtual threads, one at a time, in virtual time. The next step is the one that can run first; its
 * duration is random. Between two steps, everything that promises have settled has run.
 */
export class Scheduler {
  readonly epochMs: number;
  readonly threads: VirtualThread[] = [];
  readonly notes = new Set<string>();
  /** The thread that takes a step now. */
  current: VirtualThread | undefined;
  nowMs = 0;
  steps = 0;
  readonly #deps: SchedulerDeps;
  readonly #seed: number;
  readonly #chance: Chance;
  readonly #heap = new StepHeap();
  #serial = 0;
  /** Steps that are no timers. */
  #moving = 0;
  #failure: { readonly error: unknown } | undefined;
  #isStopped = false;
  /** Whether no step is taken, while the event loop of the process turns: the simulation's code must not run now. */
  #isBetween = true;
  #suspended = 0;
  #resume: (() => void) | undefined;

  constructor(deps: SchedulerDeps, { seed, epochMs }: SchedulerOptions) {
    this.#deps = deps;
    this.#seed = seed;
    this.epochMs = epochMs;
    this.#chance = new Chance(seed, 'schedule');
  }

  newThread(name: string): VirtualThread {
    const thread = new VirtualThread(this, this.threads.length, name, this.#seed);
    this.threads.push(thread);
    return thread;
  }

  /** Schedules a step of a thread at `atMs`, or as soon after as the thread is free. */
  schedule(thread: VirtualThread, atMs: number, run: () => void, isTimer = false): ScheduledStep {
    this.mustBeInside();
    const serial = this.#serial++;
    const isCancelled = thread.isOver;
    const step: ScheduledStep = {
      atMs,
      dueMs: atMs,
      serial,
      thread,
      isTimer,
      run,
      isCancelled,
      waits: undefined,
    };
    if (step.isCancelled) return step;
    if (isTimer) countTimer(step);
    else this.#moving += 1;
    this.#heap.push(step);
    return step;
  }

  /** Notes a reason why runs of this seed may differ. The first `MOST_NOTES` are kept. */
  note(text: string): void {
    if (this.notes.size < MOST_NOTES) this.notes.add(text);
  }

  /** Ends the simulation with this error. */
  fail(error: unknown): void {
    this.#failure ??= { error };
  }

  stop(): void {
    this.#isStopped = true;
  }

  /** Fails the simulation if its code runs outside a step. */
  mustBeInside(): void {
    if (!this.#isBetween) return;
    const store = running.getStore();
    if (store?.scheduler !== this) return;
    const agentId = store.agentId ?? this.#deps.suspect(store.thread) ?? store.thread.name;
    const deed = 'something outside woke it, as a thread or a socket that was there before';
    const where = new Error().stack;
    this.fail(simulationEscaped(agentId, deed, { resource: 'woken from outside', where }));
  }

  /** Ends a thread between two of its steps. */
  end(thread: VirtualThread): void {
    if (thread.isOver) return;
    thread.isOver = true;
    thread.deferred.length = 0;
    for (const step of thread.blocked.splice(0)) this.#drop(step);
    for (const run of thread.onOver.splice(0)) run();
  }

  /** Runs real work; virtual time stands still until it is done. */
  suspend<Value>(work: () => Promise<Value>): Promise<Value> {
    this.#suspended += 1;
    const done = (): void => {
      this.#suspended -= 1;
      if (this.#suspended > 0) return;
      const resume = this.#resume;
      this.#resume = undefined;
      if (resume !== undefined) setImmediate(resume);
    };
    return running.exit(() => work().finally(done));
  }

  /** Runs until `stop`, a failure, or no step is left. Rejects with the failure. */
  run(): Promise<void> {
    return new Promise((resolve, reject) => {
      const loop = (): void => {
        this.#isBetween = false;
        try {
          if (!this.#finishStep()) return resolve();
          if (this.#suspended > 0) {
            this.#resume = loop;
            return;
          }
          const quiet = this.#moving === 0 ? this.#deps.whenQuiet() : undefined;
          if (quiet !== undefined) {
            this.#isBetween = true;
            quiet.then(() => setImmediate(loop), reject);
            return;
          }
          if (this.#isStopped || !this.#step()) return resolve();
        } catch (error) {
          reject(error);
          return;
        }
        // After a microtask and a tick, everything that the step settled has run.
        queueMicrotask(() => process.nextTick(this.#turn, loop));
      };
      setImmediate(loop);
    });
  }

  readonly #turn = (loop: () => void): void => {
    this.#deps.afterCode();
    this.#isBetween = true;
    setImmediate(loop);
  };

  /** Ends the current step; false if the simulation has stopped. */
  #finishStep(): boolean {
    const thread = this.current;
    if (thread !== undefined) {
      thread.spend(this.#chance.between(...STEP_MS));
      thread.end();
      this.current = undefined;
      this.#follow(thread);
      this.#deps.afterStep();
    }
    if (this.#failure !== undefined) throw this.#failure.error;
    return !this.#isStopped;
  }

  /** Schedules the deferred code of a thread before its other steps. */
  #follow(thread: VirtualThread): void {
    thread.isFollowing = thread.deferred.length > 0;
    if (thread.isFollowing) this.schedule(thread, thread.freeAtMs, FOLLOW);
    else for (const step of thread.blocked.splice(0)) this.#heap.push(step);
  }

  /** Takes the next step; false if there is none. */
  #step(): boolean {
    for (;;) {
      const step = this.#heap.pop();
      if (step === undefined) return false;
      const { thread } = step;
      if (step.isCancelled || thread.isOver) {
        this.#drop(step);
        continue;
      }
      if (thread.isFollowing && step.run !== FOLLOW) {
        thread.blocked.push(step);
        continue;
      }
      const readyMs = Math.max(thread.freeAtMs, thread.frozenUntilMs);
      if (readyMs > step.atMs) {
        step.atMs = readyMs;
        this.#heap.push(step);
        continue;
      }
      this.nowMs = step.atMs;
      this.#deps.beforeStep(thread);
      if (thread.isOver || thread.frozenUntilMs > this.nowMs) {
        this.#heap.push(step);
        continue;
      }
      this.#drop(step);
      this.#perform(thread, step.run === FOLLOW ? (thread.deferred.shift() as () => void) : step.run);
      return true;
    }
  }

  #perform(thread: VirtualThread, run: () => void): void {
    this.steps += 1;
    this.current = thread;
    thread.begin(this.nowMs);
    try {
      running.run({ scheduler: this, thread }, run);
    } catch (error) {
      thread.onStray(error);
    }
  }

  #drop(step: ScheduledStep): void {
    if (!step.isTimer) this.#moving -= 1;
    else if (step.waits !== undefined) endTimer(step);
  }
}

/** Marks a step that runs the first deferred function of its thread. */
const FOLLOW = (): void => undefined;
