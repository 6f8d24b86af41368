import type { InFlow } from './in-flow.ts';

/**
 * The words of a thread's status in shared memory: a beat that grows while its event loop turns, and what it has in hand. They
 * can be read while the thread spins and after it is gone.
 */
export const STATUS = {
  beat: 0,
  /** Slot of the agent whose code runs, plus one; 0 when none does. */
  current: 1,
  /** Incarnation of the flow of the envelope in hand; -1 without one. */
  incarnation: 2,
  /** Number of that flow. */
  flow: 3,
  /** Sequence of that envelope. */
  sequence: 4,
  /** How many reports it has posted to the control thread. */
  reported: 5,
} as const;

const STATUS_WORDS = 8;

export const newStatusMemory = (): SharedArrayBuffer => new SharedArrayBuffer(STATUS_WORDS * 4);

/** Notes in shared memory which agent's code runs in a thread, and on which envelope. It can be read after the thread's death. */
export class RunningCode {
  readonly #words: Int32Array;
  readonly #incarnation: number;

  /** `words` are those of the thread's status. */
  constructor(words: Int32Array, incarnation: number) {
    this.#words = words;
    this.#incarnation = incarnation;
  }

  /** The slot of the agent; -1 when no agent's code runs. */
  get slot(): number {
    return (this.#words[STATUS.current] as number) - 1;
  }

  /** Notes that code of an agent begins to run that handles no envelope. */
  enter(slot: number): void {
    this.#words[STATUS.incarnation] = -1;
    this.#words[STATUS.current] = slot + 1;
  }

  enterHandling(slot: number, flow: InFlow, sequence: number): void {
    const words = this.#words;
    words[STATUS.incarnation] = flow.incarnation < 0 ? this.#incarnation : flow.incarnation;
    words[STATUS.flow] = flow.flow;
    words[STATUS.sequence] = sequence;
    words[STATUS.current] = slot + 1;
  }

  leave(): void {
    this.#words[STATUS.current] = 0;
  }
}
