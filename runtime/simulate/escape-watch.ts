import { createHook } from 'node:async_hooks';
import { simulationEscaped } from '../protocol/errors.ts';
import { actionOf, placeOf } from './escape-text.ts';
import { running, type Waits } from './running.ts';
import type { Scheduler } from './scheduler.ts';
import type { Handling } from '../cell/handling.ts';
import { systemClock } from '../protocol/system-seams.ts';

/** Resource types of code that waits for nothing outside. */
const HARMLESS: ReadonlySet<string> = new Set([
  'PROMISE',
  'Microtask',
  'TickObject',
  'SCRIPT',
  'RANDOMBYTESREQUEST',
  'SIGNREQUEST',
  'KEYPAIRGENREQUEST',
  'HASHREQUEST',
]);

/** Frames to capture: enough to reach the caller through Node's own code. */
const LOOKED_AT_FRAMES = 50;
/** Frames that the error shows. */
const SHOWN_FRAMES = 10;

/**
 * Fails a simulation as soon as its code uses the machine: a timer, a file, a socket, a process. Their results are outside
 * virtual time, and differ between runs.
 */
export class EscapeWatch {
  readonly #hook: ReturnType<typeof createHook>;
  readonly #scheduler: Scheduler;
  /** Timers set in this step. */
  #timers: { readonly timer: { readonly _destroyed?: boolean }; readonly error: Error }[] = [];

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    const init = (_id: number, type: string, _trigger: number, resource: object): void => {
      const store = running.getStore();
      if (store?.scheduler !== scheduler || HARMLESS.has(type)) return;
      const stack = stackHere();
      // Printing is not waited for.
      if (stack.includes('node:internal/console')) return;
      const where = codeOf(stack);
      const error = simulationEscaped(store.agentId ?? store.thread.name, actionOf(type), {
        resource: type,
        place: placeOf(where),
        where,
      });
      if (type === 'Timeout') this.#timers.push({ timer: resource, error });
      else scheduler.fail(error);
    };
    // A hook for every promise would cost more than the rest of a simulation.
    this.#hook = createHook({ init, trackPromises: false });
  }

  /** Called after the code of a step. Fails the simulation if a timer is still set. */
  readonly afterCode = (): void => {
    if (this.#timers.length === 0) return;
    for (const { timer, error } of this.#timers) if (timer._destroyed !== true) this.#scheduler.fail(error);
    this.#timers = [];
  };

  enable(): void {
    // Node makes these on first use, which must not be in a step.
    void process.stdout;
    void process.stderr;
    this.#hook.enable();
  }

  disable(): void {
    this.#hook.disable();
  }
}

function stackHere(): string {
  const { stackTraceLimit } = Error;
  Error.stackTraceLimit = LOOKED_AT_FRAMES;
  const { stack = '' } = new Error('left the simulation');
  Error.stackTraceLimit = stackTraceLimit;
  return stack;
}

/** Removes this hook's and Node's frames from the top of a stack. */
function codeOf(stack: string): string {
  const frames = stack.split('\n').slice(1);
  const ofNode = frames.slice(frames.findIndex((frame) => frame.includes('node:')));
  const first = ofNode.findIndex((frame) => !frame.includes('node:'));
  return ofNode.slice(Math.max(first, 0)).slice(0, SHOWN_FRAMES).join('\n');
}

/** How long to wait for handlers that may be woken from outside, real milliseconds. */
const PATIENCE_MS = 20;
/** After this many waits, one turn of the event loop is enough. */
const PATIENT_WITH = 8;

/** A handler that is not done. `waitedAt` is how many timers it had set when it was last waited for. */
interface Suspect {
  readonly handling: Handling;
  readonly waits: Waits;
  waitedAt: number | undefined;
}

/**
 * Handlers that wait neither for an answer nor for a timer. They may wait for code outside, such as a thread that was started
 * before. That code must get a chance to wake them; otherwise their deadlines would pass in virtual time.
 */
export class SuspectedEscapes {
  #suspects: Suspect[] = [];
  #waited = 0;

  /** Adds a handler that has returned a promise. */
  add(handling: Handling, waits: Waits): void {
    this.#suspects.push({ handling, waits, waitedAt: undefined });
  }

  /** Removes all handlers, because their process has ended. */
  clear(): void {
    this.#suspects = [];
  }

  /** The id of an agent in this place whose handler may wait for something outside. */
  at(placeId: string | undefined): string | undefined {
    const here = this.#suspects.filter(({ handling, waits }) => {
      return handling.cell.thread.id === placeId && !handling.isWaiting && waits.timers === 0;
    });
    return here.at(-1)?.handling.self;
  }

  /** Resolves when outside code has had time to wake them; undefined if there are none. */
  wait(): Promise<void> | undefined {
    if (this.#suspects.length === 0) return undefined;
    this.#suspects = this.#suspects.filter(({ handling }) => !handling.isOver);
    const suspects = this.#suspects.filter(
      ({ handling, waits, waitedAt }) =>
        !handling.isWaiting && waits.timers === 0 && waits.timersEver !== waitedAt,
    );
    if (suspects.length === 0) return undefined;
    for (const suspect of suspects) suspect.waitedAt = suspect.waits.timersEver;
    this.#waited += 1;
    return turns(this.#waited > PATIENT_WITH ? 0 : PATIENCE_MS);
  }
}

function turns(ms: number): Promise<void> {
  const untilMs = systemClock.monotonicMs() + ms;
  return new Promise((resolve) => {
    const turn = (): void => {
      if (systemClock.monotonicMs() >= untilMs) resolve();
      else setImmediate(turn);
    };
    setImmediate(turn);
  });
}
