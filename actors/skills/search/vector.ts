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
 * - `short` the same in `SHORT_DIMENSIONS` signed bytes, all of one scale, to find what is near among many.
 */
export interface Vector {
  readonly whole: Int8Array;
  readonly scale: number;
  readonly short: Int8Array;
}

/** An embedding as it is compared. One that is zero is near nothing. */
export function vectorOf(embedding: Float32Array): Vector {
  const length = lengthOf(embedding);
  const unit = length === 0 ? embedding : embedding.map((value) => value / length);
  let largest = 0;
  for (const value of unit) largest = Math.max(largest, Math.abs(value));
  const whole = largest === 0 ? new Int8Array(unit.length) : asBytes(unit, largest);
  return { whole, scale: largest / MOST, short: asBytes(shortened(unit), LARGEST_SHORT) };
}

/** The cosine of the angle between two, -1 to 1. Both must be of one length. */
export function cosine(one: Pick<Vector, 'whole' | 'scale'>, other: Pick<Vector, 'whole' | 'scale'>): number {
  const { whole } = one;
  let sum = 0;
  for (let at = 0; at < whole.length; at++) sum += (whole[at] as number) * (other.whole[at] as number);
  return sum * one.scale * other.scale;
}

function asBytes(vector: Float32Array, largest: number): Int8Array {
  const factor = MOST / largest;
  return Int8Array.from(vector, (value) => Math.round(Math.max(-MOST, Math.min(MOST, value * factor))));
}

/**
 * The vector in `SHORT_DIMENSIONS` numbers, whose angles to others are about as before: a Walsh-Hadamard transform of the vector
 * with random signs, cut off (Ailon and Chazelle, 2009). The signs are the same in every process.
 */
function shortened(vector: Float32Array): Float32Array {
  const size = Math.max(SHORT_DIMENSIONS, 2 ** Math.ceil(Math.log2(vector.length)));
  const signs = signsOf(size);
  const spread = new Float32Array(size);
  for (let at = 0; at < vector.length; at++) spread[at] = (vector[at] as number) * (signs[at] as number);
  for (let half = 1; half < size; half *= 2)
    for (let from = 0; from < size; from += half * 2)
      for (let at = from; at < from + half; at++) {
        const one = spread[at] as number;
        const other = spread[at + half] as number;
        spread[at] = one + other;
        spread[at + half] = one - other;
      }
  const short = spread.subarray(0, SHORT_DIMENSIONS);
  const length = lengthOf(short);
  return length === 0 ? short : short.map((value) => value / length);
}

function lengthOf(vector: Float32Array): number {
  let sum = 0;
  for (const value of vector) sum += value * value;
  return Math.sqrt(sum);
}

const SIGNS = new Map<number, Int8Array>();

/** Signs that look random and are always the same (Marsaglia's xorshift). */
function signsOf(size: number): Int8Array {
  let signs = SIGNS.get(size);
  if (signs !== undefined) return signs;
  let state = SEED;
  signs = Int8Array.from({ length: size }, () => {
    state ^= state << 13;
    state ^= state >>> 17;
    state ^= state << 5;
    return (state & 1) === 1 ? 1 : -1;
  });
  SIGNS.set(size, signs);
  return signs;
}
