import { NO_ASK } from './mail.ts';

/**
 * An ask is named by a number: its slot in the table of its thread, and a generation, so that a late answer to an older
 * ask of the same slot is known as such. Between threads the two travel apart, as small numbers.
 */
const SLOT_BITS = 20;
const SLOTS = 1 << SLOT_BITS;
/** Of a mail that nobody waits for. */
const NO_SLOT = -1;

export const LAST_GENERATION = 0x3fffffff;

export const askName = (slot: number, generation: number): number =>
  slot === NO_SLOT ? NO_ASK : generation * SLOTS + slot;

export const askGeneration = (ask: number): number => (ask === NO_ASK ? 0 : Math.floor(ask / SLOTS));

export const askSlot = (ask: number): number =>
  ask === NO_ASK ? NO_SLOT : ask - Math.floor(ask / SLOTS) * SLOTS;
