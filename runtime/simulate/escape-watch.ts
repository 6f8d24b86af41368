import { createHook } from 'node:async_hooks';
import { simulationEscaped } from '../protocol/errors.ts';
import { deedOf, placeOf } from './escape-text.ts';
import { running, type Waits } from './running.ts';
import type { Scheduler } from './scheduler.ts';
import type { Handling } from '../cell/handling.ts';
import { systemClock } from '../protocol/system-seams.ts';

/** What Node makes for code that waits for nothing outside. */
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

/** Deep enough to get through what Node calls on the way to a socket. */
const LOOKED_AT_FRAMES = 50;
const KEPT_FRAMES = 10;

/**
 * Ends a simulation as soon as code in it asks the machine for something: a timer, a file, a socket, a process. What
 * would come of that is no matter of virtual time, and not the same another time.
 */
export class EscapeWatch {
  readonly #hook: ReturnType<typeof createHook>;
  readonly #scheduler: Scheduler;
  /** Timers that were set in this step. */
  #timers: { readonly timer: { readonly _destroyed?: boolean }; readonly error: Error }[] = [];

  constructor(scheduler: Scheduler) {
    this.#scheduler = scheduler;
    const init = (_id: number, type: string, _trigger: number, resource: object): void => {
      const store = running.getStore();
      if (store?.scheduler !== scheduler || HARMLESS.has(type)) return;
      const stack = stackHere();
      // Whoever prints is not waiting for it.
      if (stack.includes('node:internal/console')) return;
      const where = codeOf(stack);
      const error = simulationEscaped(store.agentId ?? store.thread.name, deedOf(type), {
        resource: type,
        place: placeOf(where),
        where,
      });
      if (type === 'Timeout') this.#timers.push({ timer: resource, error });
      else scheduler.fail(error);
    };
    // Promises are followed by other means: a hook of every one of them would cost more than all the rest.
    this.#hook = createHook({ init, trackPromises: false });
  }

  /** The code of a step has run: a timer that it has not cleared again will fire. */
  readonly afterCode = (): void => {
    if (this.#timers.length === 0) return;
    for (const { timer, error } of this.#timers) if (timer._destroyed !== true) this.#scheduler.fail(error);
    this.#timers = [];
  };

  enable(): void {
    // What is made when it is first looked at is not made in a step.
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

/** The stack from where it is no more Node's own; above that of Node is this hook's. */
function codeOf(stack: string): string {
  const frames = stack.split('\n').slice(1);
  const ofNode = frames.slice(frames.findIndex((frame) => frame.includes('node:')));
  const first = ofNode.findIndex((frame) => !frame.includes('node:'));
  return ofNode.slice(Math.max(first, 0)).slice(0, KEPT_FRAMES).join('\n');
}

/** How long a handler that waits for nothing in the simulation is waited for, real milliseconds. */
const PATIENCE_MS = 20;
/** After so many that waited in vain, it is enough to let the event loop turn. */
const PATIENT_WITH = 8;

/** A handler that is not done, and how many timers it had had when it was last waited for. */
interface Suspect {
  readonly handling: Handling;
  readonly waits: Waits;
  waitedAt: number | undefined;
}

/**
 * Handlers that are not done and wait neither for an answer nor for time. If code outside is what they wait for, as a
 * thread that was started before, it must be given a chance to wake them: a simulation that went on would let their
 * deadlines pass.
 */
export class SuspectedEscapes {
  #suspects: Suspect[] = [];
  #waited = 0;

  /** Its handler is not done when it returns. */
  add(handling: Handling, waits: Waits): void {
    this.#suspects.push({ handling, waits, waitedAt: undefined });
  }

  /** The process of all of them has ended. */
  clear(): void {
    this.#suspects = [];
  }

  /** The agent in this place whose handler may wait for something outside. */
  at(placeId: string | undefined): string | undefined {
    const here = this.#suspects.filter(({ handling, waits }) => {
      return handling.cell.thread.id === placeId && !handling.isWaiting && waits.timers === 0;
    });
    return here.at(-1)?.handling.self;
  }

  /** Resolves when whoever could wake them has had the time to; undefined when there are none. */
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
