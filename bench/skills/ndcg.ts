/** Of what is found, only so much is looked at. */
export const DEPTH = 10;

/**
 * How well what was found is ranked, 0 to 1: 1 has the best first and misses nothing (Järvelin and Kekäläinen, 2002, with gains
 * of 2^grade - 1). `relevant` has the grade of each id that is wanted, from 1 on.
 */
export function ndcg(found: readonly string[], relevant: Readonly<Record<string, number>>): number {
  const grades = found.slice(0, DEPTH).map((id) => relevant[id] ?? 0);
  const best = Object.values(relevant)
    .toSorted((one, other) => other - one)
    .slice(0, DEPTH);
  return gainOf(grades) / gainOf(best);
}

const gainOf = (grades: readonly number[]): number =>
  grades.reduce((sum, grade, at) => sum + (2 ** grade - 1) / Math.log2(at + 2), 0);
