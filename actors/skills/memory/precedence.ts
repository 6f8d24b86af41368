/**
 * What is known of an entry that says something about a subject.
 *
 * - `rank`        that of its layer, 1 the most specific.
 * - `scope`       whose of this layer it is.
 * - `hash`        of what it says.
 * - `updatedAtMs` when it was last said.
 */
export interface Statement {
  readonly id: string;
  readonly subject: string | null;
  readonly rank: number;
  readonly scope: string;
  readonly hash: string;
  readonly updatedAtMs: number;
}

/**
 * The statement that holds where this one does not: about the same subject, saying something else, and of a more specific layer; or
 * later, in the same layer of the same scope. Undefined for one that holds.
 */
export function shadowOf<Said extends Statement>(
  statement: Statement,
  all: readonly Said[],
): Said | undefined {
  const { subject } = statement;
  if (subject === null) return undefined;
  return all
    .filter((other) => other.subject === subject && overrides(other, statement))
    .toSorted(moreSpecificFirst)[0];
}

function overrides(one: Statement, other: Statement): boolean {
  if (one.hash === other.hash) return false;
  if (one.rank !== other.rank) return one.rank < other.rank;
  return one.scope === other.scope && isLater(one, other);
}

/** Sorts by which holds: the more specific first, and of one layer the later. */
export const moreSpecificFirst = (one: Statement, other: Statement): number =>
  one.rank - other.rank || (isLater(one, other) ? -1 : 1);

/** Of two that were said at the same moment the one with the greater id is the later. */
const isLater = (one: Statement, other: Statement): boolean =>
  one.updatedAtMs === other.updatedAtMs ? one.id > other.id : one.updatedAtMs > other.updatedAtMs;

/** Sorts what was found: by its score, and where that is equal the more specific first. */
export const byRelevance = (
  one: { readonly score: number; readonly rank: number; readonly id: string },
  other: { readonly score: number; readonly rank: number; readonly id: string },
): number => other.score - one.score || one.rank - other.rank || (one.id < other.id ? -1 : 1);
