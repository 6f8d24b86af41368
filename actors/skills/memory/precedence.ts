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
 * For each statement that does not hold, by its id, the one that holds in its place: about the same subject, saying something else,
 * and of a more specific layer; or later, in the same layer of the same scope. Whatever says what holds holds too.
 */
export function shadowsAmong<Said extends Statement>(all: readonly Said[]): ReadonlyMap<string, Said> {
  const shadows = new Map<string, Said>();
  for (const [subject, about] of Map.groupBy(all, (one) => one.subject)) {
    if (subject === null) continue;
    const holding = new Holding<Said>();
    for (const one of about.toSorted(moreSpecificFirst)) {
      const shadow = holding.insteadOf(one);
      if (shadow === undefined) holding.add(one);
      else shadows.set(one.id, shadow);
    }
  }
  return shadows;
}

/** What holds about a subject, as far as it says which of those that are less specific, or earlier, do not. */
class Holding<Said extends Statement> {
  /** The first two that say different things: one of them contradicts whatever is less specific than both, but for what one of them says. */
  readonly #different: Said[] = [];
  /** The latest of each scope of each layer. */
  readonly #latest = new Map<string, Said>();

  insteadOf(one: Statement): Said | undefined {
    const isOther = ({ hash }: Statement): boolean => hash !== one.hash;
    const above = this.#different.find((other) => other.rank < one.rank && isOther(other));
    if (above !== undefined) return above;
    const latest = this.#latest.get(placeOf(one));
    return latest !== undefined && isOther(latest) ? latest : undefined;
  }

  /** Takes the next that holds, in the order of `moreSpecificFirst`. */
  add(one: Said): void {
    const place = placeOf(one);
    if (!this.#latest.has(place)) this.#latest.set(place, one);
    if (this.#different.length < 2 && this.#different[0]?.hash !== one.hash) this.#different.push(one);
  }
}

const placeOf = ({ rank, scope }: Statement): string => `${rank} ${scope}`;

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
