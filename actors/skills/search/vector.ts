import { SHORT_DIMENSIONS } from './dot-products.ts';

/** The largest of a signed byte. */
const MOST = 127;
/** Numbers of a short vector, whose mean square is 1/256, that are larger than this are cut to it: one in 16,000 is. */
const LARGEST_SHORT = 4 / Math.sqrt(SHORT_DIMENSIONS);
const SEED = 0x9e3779b9;

/**
 * A vector as it is compared.
 *
 * - `whole` all its numbers, as signed bytes: times `scale` they are those of the vector, whose length is one.
 * - `scale` a number that four bytes hold.
 * - `short` the same in `SHORT_DIMENSIONS` signed bytes, all of one scale, to find what is near among many.
 */
export interface Vector {
  readonly whole: Int8Array;
  readonly scale: number;
  readonly short: Int8Array;
}

/** An embedding as it is compared. One that is zero is near nothing. */
export function vectorOf(embedding: Float32Array): Vector {
  const room = roomFor(embedding.length);
  const unit = room.unit.subarray(0, embedding.length);
  unit.set(embedding);
  toUnit(unit);
  const largest = largestOf(unit);
  if (largest === 0)
    return { whole: new Int8Array(unit.length), scale: 0, short: new Int8Array(SHORT_DIMENSIONS) };
  const whole = asBytes(unit, largest);
  // By the bytes, not by `largest`: so a vector is as near to itself as can be, although its numbers are rounded.
  const scale = Math.fround(1 / lengthOf(whole));
  return { whole, scale, short: asBytes(shortened(unit, room), LARGEST_SHORT) };
}

/** The cosine of the angle between two, -1 to 1. Both must be of one length. */
export function cosine(one: Pick<Vector, 'whole' | 'scale'>, other: Pick<Vector, 'whole' | 'scale'>): number {
  const { whole } = one;
  const its = other.whole;
  let sum = 0;
  for (let at = 0; at < whole.length; at++) sum += (whole[at] as number) * (its[at] as number);
  return Math.max(-1, Math.min(1, sum * one.scale * other.scale));
}

// Loops, here and below: the methods of typed arrays call a function for each number, which takes four times as long. So does
// `Math.round`, and new room for the numbers in between.

function asBytes(vector: Float32Array, largest: number): Int8Array {
  const factor = MOST / largest;
  const bytes = new Int8Array(vector.length);
  for (let at = 0; at < vector.length; at++) {
    const value = (vector[at] as number) * factor;
    bytes[at] = Math.floor(Math.max(-MOST, Math.min(MOST, value)) + 0.5);
  }
  return bytes;
}

/**
 * The vector in `SHORT_DIMENSIONS` numbers, whose angles to others are about as before: a Walsh-Hadamard transform of the vector
 * with random signs, cut off (Ailon and Chazelle, 2009). The signs are the same in every process.
 */
function shortened(vector: Float32Array, { signs, spread }: Room): Float32Array {
  const size = spread.length;
  spread.fill(0, vector.length);
  for (let at = 0; at < vector.length; at++) spread[at] = (vector[at] as number) * (signs[at] as number);
  for (let half = 1; half < size; half *= 2)
    for (let from = 0; from < size; from += half * 2)
      for (let at = from; at < from + half; at++) {
        const one = spread[at] as number;
        const other = spread[at + half] as number;
        spread[at] = one + other;
        spread[at + half] = one - other;
      }
  return toUnit(spread.subarray(0, SHORT_DIMENSIONS));
}

function lengthOf(vector: Float32Array | Int8Array): number {
  let sum = 0;
  for (let at = 0; at < vector.length; at++) sum += (vector[at] as number) ** 2;
  return Math.sqrt(sum);
}

/** Brings the vector to length one, unless it is zero. */
function toUnit(vector: Float32Array): Float32Array {
  const length = lengthOf(vector);
  if (length === 0) return vector;
  for (let at = 0; at < vector.length; at++) vector[at] = (vector[at] as number) / length;
  return vector;
}

function largestOf(vector: Float32Array): number {
  let largest = 0;
  for (let at = 0; at < vector.length; at++) largest = Math.max(largest, Math.abs(vector[at] as number));
  return largest;
}

/** What vectors of about one length are made with, one after the other. All but `signs` is overwritten by the next. */
interface Room {
  readonly signs: Int8Array;
  readonly unit: Float32Array;
  readonly spread: Float32Array;
}

const ROOMS = new Map<number, Room>();

function roomFor(dimensions: number): Room {
  const size = Math.max(SHORT_DIMENSIONS, 2 ** Math.ceil(Math.log2(dimensions)));
  let room = ROOMS.get(size);
  if (room === undefined) {
    room = { signs: signsOf(size), unit: new Float32Array(size), spread: new Float32Array(size) };
    ROOMS.set(size, room);
  }
  return room;
}

/** Signs that look random and are always the same (Marsaglia's xorshift). */
function signsOf(size: number): Int8Array {
  let state = SEED;
  return Int8Array.from({ length: size }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state & 1) === 1 ? 1 : -1;
  });
}
