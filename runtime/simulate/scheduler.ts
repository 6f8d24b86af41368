import { simulationEscaped } from '../protocol/errors.ts';
import { Chance } from './chance.ts';
import { countTimer, endTimer, running } from './running.ts';
import { type ScheduledStep, StepHeap } from './step-heap.ts';
import { VirtualThread } from './virtual-thread.ts';

/** What one step takes, milliseconds. */
const STEP_MS = [0.001, 0.02] as const;

const MOST_NOTES = 100;

export interface SchedulerDeps {
  readonly seed: number;
  /** Unix milliseconds at virtual time 0. */
  readonly epochMs: number;
  /** Before each step: may end the thread that is about to take it, or have it take it later. */
  readonly beforeStep: (thread: VirtualThread) => void;
  /** After each step, before anything else in the process gets its turn. */
  readonly afterCode: () => void;
  /** After each step, when everything that it settled has run. */
  readonly afterStep: () => void;
  /** Whose handler in this thread may wait for something outside. */
  readonly suspect: (thread: VirtualThread) => string | undefined;
  /** Nothing moves: only time can. Resolves when it may. */
  readonly whenQuiet: () => Promise<void> | undefined;
}

/**
 * Runs the threads of a simulation, one step after the other, in virtual time: the next one is whichever can be done
 * first, and how long each takes is chance. Between two steps everything that promises have settled has run.
 */
export class Scheduler {
  readonly epochMs: number;
  readonly threads: VirtualThread[] = [];
  readonly notes = new Set<string>();
  /** The thread whose step it is. */
  current: VirtualThread | undefined;
  nowMs = 0;
  steps = 0;
  readonly #deps: SchedulerDeps;
  readonly #chance: Chance;
  readonly #heap = new StepHeap();
  #serial = 0;
  /** Tasks that do not wait for time. */
  #moving = 0;
  #failure: { readonly error: unknown } | undefined;
  #isStopped = false;
  /** The step is over, and the event loop of the process turns: nothing of ours has anything to do. */
  #isBetween = true;
  #suspended = 0;
  #resume: (() => void) | undefined;

  constructor(deps: SchedulerDeps) {
    this.#deps = deps;
    this.epochMs = deps.epochMs;
    this.#chance = new Chance(deps.seed, 'schedule');
  }

  newThread(name: string): VirtualThread {
    const thread = new VirtualThread(this, this.threads.length, name, this.#deps.seed);
    this.threads.push(thread);
    return thread;
  }

  /** Has `thread` run this at `atMs` or, if it is busy then, as soon as it is not. */
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

  /** Remembers what may make this run another one than the next under the same seed; of many the first. */
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

  /** Whatever happens in a simulation happens in a step of it. */
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

  /** Something real goes on, and nothing virtual does until it is done. */
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

  /** Runs until it is stopped, fails, or nothing is left to be done. Rejects with what it failed with. */
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
        // When what the step settled has run, and what that settled, the microtasks are empty: then it is over.
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

  /** False when it is to go no further. */
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

  /** What the code of a thread has put off comes before anything else does there. */
  #follow(thread: VirtualThread): void {
    thread.isFollowing = thread.deferred.length > 0;
    if (thread.isFollowing) this.schedule(thread, thread.freeAtMs, FOLLOW);
    else for (const step of thread.blocked.splice(0)) this.#heap.push(step);
  }

  /** Takes the next step. False when there is none. */
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

/** Stands for whatever a thread has put off first. */
const FOLLOW = (): void => undefined;
