import type { InFlow } from './in-flow.ts';

/**
 * What a thread tells of itself in shared memory, readable while it spins and after it is gone: a beat that grows while
 * its event loop turns, and what it has in hand right now.
 */
export const STATUS = {
  beat: 0,
  /** Slot of the agent whose code runs, plus one; 0 when none does. */
  current: 1,
  /** The envelope in hand: incarnation and number of its flow, and its sequence. The incarnation is -1 without one. */
  incarnation: 2,
  flow: 3,
  sequence: 4,
  /** How many reports it has posted to the control thread. */
  reported: 5,
} as const;

const STATUS_WORDS = 8;

export const newStatusMemory = (): SharedArrayBuffer => new SharedArrayBuffer(STATUS_WORDS * 4);

/** Which agent's code runs in a thread, and on what envelope: in shared memory, for whoever asks after the thread's death. */
export class RunningCode {
  readonly #words: Int32Array;
  readonly #incarnation: number;

  /** `words`: those of the thread's status. */
  constructor(words: Int32Array, incarnation: number) {
    this.#words = words;
    this.#incarnation = incarnation;
  }

  /** The slot of the agent; -1 when no agent's code runs. */
  get slot(): number {
    return (this.#words[STATUS.current] as number) - 1;
  }

  /** Code of an agent begins to run that handles no envelope. */
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
