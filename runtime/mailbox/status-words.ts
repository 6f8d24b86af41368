/**
 * What a thread tells of itself in shared memory, readable while it spins and after it is gone: a beat that grows while
 * its event loop turns, and what it has in hand right now.
 */
export const STATUS = {
  beat: 0,
  /** Slot of the agent whose code runs, plus one; 0 when none does. */
  current: 1,
  /** The envelope in its hands: incarnation and number of its flow, and its sequence. The incarnation is -1 without one. */
  incarnation: 2,
  flow: 3,
  sequence: 4,
  /** How many reports it has posted to the control thread. */
  reported: 5,
} as const;

const STATUS_WORDS = 8;

export const newStatusMemory = (): SharedArrayBuffer => new SharedArrayBuffer(STATUS_WORDS * 4);
