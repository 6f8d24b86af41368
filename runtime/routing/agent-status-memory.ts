/** Whether an agent can take mail: `live` now, `awaited` again soon, `ended` not until somebody restarts it. */
export const READINESS = { ended: 0, awaited: 1, live: 2 } as const;

export type Readiness = (typeof READINESS)[keyof typeof READINESS];

const READINESS_BITS = 2;
const READINESS_MASK = (1 << READINESS_BITS) - 1;
const MAX_LOAD = 2 ** (31 - READINESS_BITS) - 1;

/** Slots by which the memory grows at a time. */
const STEP = 1_024;
/** The most slots. Address space is reserved for all of them, memory is not. */
const CAPACITY = 2 ** 20;

export const newAgentStatusMemory = (capacity: number = CAPACITY): SharedArrayBuffer =>
  new SharedArrayBuffer(0, { maxByteLength: capacity * Int32Array.BYTES_PER_ELEMENT });

/**
 * One word for each agent, by its slot, in memory that all threads share. It says whether the agent can take mail, and its load:
 * how many envelopes it has in hand or in its mailbox.
 *
 * The thread that hosts the agent writes the word when the agent begins and ends a turn. When that thread has died, the control
 * thread does. A reader gets both values of the same moment.
 */
export class AgentStatusMemory {
  readonly #memory: SharedArrayBuffer;
  /** A view of fixed length: it is faster than one that grows with the memory. */
  #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = memory;
    this.#words = viewOf(memory);
  }

  /** Says whether the slot has a word; looks again, because the control thread may have made room meanwhile. */
  #has(slot: number): boolean {
    if (slot < this.#words.length) return slot >= 0;
    if (this.#memory.byteLength > this.#words.byteLength) this.#words = viewOf(this.#memory);
    return slot < this.#words.length;
  }

  /** Makes room for slots below `count`; only the control thread calls it. Slots beyond the maximum have no word. */
  reach(count: number): void {
    if (count <= 0 || this.#has(count - 1)) return;
    const wanted = Math.ceil(count / STEP) * STEP * Int32Array.BYTES_PER_ELEMENT;
    this.#memory.grow(Math.min(wanted, this.#memory.maxByteLength));
  }

  write(slot: number, readiness: Readiness, load: number): void {
    if (this.#has(slot)) this.#words[slot] = (Math.min(load, MAX_LOAD) << READINESS_BITS) | readiness;
  }

  /** Resets the load: the agent's thread is gone, and the next one gets what waited. */
  hostDied(slot: number): void {
    const ended = this.readinessOf(slot) === READINESS.ended;
    this.write(slot, ended ? READINESS.ended : READINESS.awaited, 0);
  }

  /** Whether the agent can take mail. An agent without a word counts as one that can. */
  readinessOf(slot: number): Readiness {
    if (!this.#has(slot)) return READINESS.live;
    return ((this.#words[slot] as number) & READINESS_MASK) as Readiness;
  }

  /** The load of the agent; 0 without a word. */
  loadOf(slot: number): number {
    return this.#has(slot) ? (this.#words[slot] as number) >> READINESS_BITS : 0;
  }
}

const viewOf = (memory: SharedArrayBuffer): Int32Array =>
  new Int32Array(memory, 0, memory.byteLength / Int32Array.BYTES_PER_ELEMENT);
