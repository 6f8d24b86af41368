/** Whether an agent can take mail: now; not now, but it is expected to again; or not until somebody sees to it. */
export const READINESS = { ended: 0, awaited: 1, live: 2 } as const;

export type Readiness = (typeof READINESS)[keyof typeof READINESS];

const READINESS_BITS = 2;
const READINESS_MASK = (1 << READINESS_BITS) - 1;
const MAX_LOAD = 2 ** (31 - READINESS_BITS) - 1;

/** Slots that there is room for at once, and at most: address space is set aside for the latter, memory is not. */
const STEP = 1_024;
const CAPACITY = 2 ** 20;

export const newAgentStatusMemory = (capacity: number = CAPACITY): SharedArrayBuffer =>
  new SharedArrayBuffer(0, { maxByteLength: capacity * Int32Array.BYTES_PER_ELEMENT });

/**
 * One word for each agent, by its slot, in memory that all threads share: whether it can take mail, and its load, the
 * envelopes that it has in hand and that wait in its mailbox, whoever sent them.
 *
 * The thread that hosts the agent writes it, when the agent begins and ends a turn; when that thread has died, the control
 * thread does. Who reads it has both of the same moment.
 */
export class AgentStatusMemory {
  readonly #memory: SharedArrayBuffer;
  /** A view of fixed length is read and written faster than one that follows the memory. */
  #words: Int32Array;

  constructor(memory: SharedArrayBuffer) {
    this.#memory = memory;
    this.#words = viewOf(memory);
  }

  /** Says whether there is a word for the slot: the control thread may have made room for it meanwhile. */
  #has(slot: number): boolean {
    if (slot < this.#words.length) return slot >= 0;
    if (this.#memory.byteLength > this.#words.byteLength) this.#words = viewOf(this.#memory);
    return slot < this.#words.length;
  }

  /** Makes room for slots below `count`; only the control thread gives slots. Those beyond all room have no word. */
  reach(count: number): void {
    if (count <= 0 || this.#has(count - 1)) return;
    const wanted = Math.ceil(count / STEP) * STEP * Int32Array.BYTES_PER_ELEMENT;
    this.#memory.grow(Math.min(wanted, this.#memory.maxByteLength));
  }

  write(slot: number, readiness: Readiness, load: number): void {
    if (this.#has(slot)) this.#words[slot] = (Math.min(load, MAX_LOAD) << READINESS_BITS) | readiness;
  }

  /** The thread that hosted the agent is gone, and its mailbox with it; what waited is given to the next one. */
  hostDied(slot: number): void {
    const ended = this.readinessOf(slot) === READINESS.ended;
    this.write(slot, ended ? READINESS.ended : READINESS.awaited, 0);
  }

  /** An agent without a word counts as one that can take mail. */
  readinessOf(slot: number): Readiness {
    if (!this.#has(slot)) return READINESS.live;
    return ((this.#words[slot] as number) & READINESS_MASK) as Readiness;
  }

  /** 0 for an agent without a word. */
  loadOf(slot: number): number {
    return this.#has(slot) ? (this.#words[slot] as number) >> READINESS_BITS : 0;
  }
}

const viewOf = (memory: SharedArrayBuffer): Int32Array =>
  new Int32Array(memory, 0, memory.byteLength / Int32Array.BYTES_PER_ELEMENT);
