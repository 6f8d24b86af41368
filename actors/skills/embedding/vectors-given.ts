/**
 * The numbers of each vector that a model has given, once they are what they should be. Throws what `wrong` makes of a sentence
 * that says what is not.
 *
 * - `texts`       how many vectors there have to be.
 * - `dimensions`  how many numbers each has to have. @default as many as the first
 */
export function vectorsGiven(
  given: unknown,
  { texts, dimensions }: { readonly texts: number; readonly dimensions: number | undefined },
  wrong: (reason: string) => Error,
): readonly Float32Array[] {
  if (!Array.isArray(given)) throw wrong('it gave no list of vectors');
  if (given.length !== texts) throw wrong(`it gave ${given.length} vectors for ${texts} texts`);
  let expected = dimensions;
  return given.map((one: unknown, at) => {
    const vector = numbersIn(one);
    if (vector === undefined) throw wrong(`its vector ${at} is no list of numbers`);
    if (vector.length === 0) throw wrong(`its vector ${at} is empty`);
    expected ??= vector.length;
    if (vector.length !== expected)
      throw wrong(`its vector ${at} has ${vector.length} dimensions, those before ${expected}`);
    if (!vector.every(Number.isFinite)) throw wrong(`its vector ${at} has a number that is not finite`);
    return vector;
  });
}

function numbersIn(one: unknown): Float32Array | undefined {
  if (one instanceof Float32Array) return one;
  return Array.isArray(one) && one.every((value) => typeof value === 'number')
    ? Float32Array.from(one as number[])
    : undefined;
}
