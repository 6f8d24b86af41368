/**
 * Numbers that all connections of a journal share: each is later than those taken before. They wrap; `inOrder` compares
 * those that are less than two thousand million apart.
 *
 * A thread takes the number of its unit before it posts it, and posts it before anybody hears of what is in it: so the
 * number of a cause is before the number of what came of it, whatever threads they are in.
 */
export interface UnitOrder {
  next(): number;
}

export const newOrderMemory = (): SharedArrayBuffer => new SharedArrayBuffer(Int32Array.BYTES_PER_ELEMENT);

/** The order that is counted in this memory, which every connection of the journal has. */
export function sharedOrder(memory: SharedArrayBuffer): UnitOrder {
  const words = new Int32Array(memory);
  return { next: () => Atomics.add(words, 0, 1) };
}

/** For sorting: negative when `one` was taken before `other`. */
export const inOrder = (one: number, other: number): number => (one - other) | 0;
