import { isAside } from '../aside.ts';
import { isScript } from '../syntax/parse-script.ts';
import type { Change } from './read-history.ts';

/** With fewer changes nothing is a habit. */
export const MIN_CHANGES = 20;

const HOT = { changes: 10, share: 0.15 };
/** Two files whose changes are nearly the same; commits of many files say little about two of them. */
const COUPLED = { together: 6, share: 0.75, maxFiles: 30 };
const MENDED = { fixes: 4, share: 0.4 };
/** Of each kind as many as somebody reads. */
export const MAX_LISTED = 10;

/** How often a file was changed, and how often to mend something. */
export interface Habit {
  readonly file: string;
  readonly changes: number;
  readonly fixes: number;
}

/** What is written by hand and does something: no documentation, lists of versions or locks. */
const NOT_CODE =
  /\.(?:md|mdx|txt|rst|adoc|lock|snap|svg|csv)$|(^|\/)(?:package\.json|package-lock\.json|npm-shrinkwrap\.json|pnpm-lock\.yaml|go\.sum|changelog[^/]*|\.[^/]+)$/i;

const isCode = (file: string): boolean => !NOT_CODE.test(file) && !isAside(file);

const FIX =
  /^(?:fix|bug-?fix|hot-?fix|revert)\b|^\w+\((?:fix|bug)\w*\)|\bfix(?:es|ed)?\s+(?:a\s+)?(?:bug|regression|crash|#\d+)/i;

/** How often each file that still is there was changed, the most changed first. */
export function habitsOf(changes: readonly Change[], isThere: (file: string) => boolean): Habit[] {
  const counts = new Map<string, { changes: number; fixes: number }>();
  for (const { subject, files } of changes) {
    const isFix = FIX.test(subject);
    for (const file of files) {
      const count = counts.get(file) ?? { changes: 0, fixes: 0 };
      count.changes += 1;
      if (isFix) count.fixes += 1;
      counts.set(file, count);
    }
  }
  return [...counts]
    .filter(([file]) => isCode(file) && isThere(file))
    .map(([file, count]) => ({ file, ...count }))
    .sort((a, b) => b.changes - a.changes || (a.file < b.file ? -1 : 1));
}

/** The files that every so many commits come back to. */
export const hotSpots = (habits: readonly Habit[], total: number): Habit[] =>
  habits.filter(({ changes }) => changes >= HOT.changes && changes / total >= HOT.share).slice(0, MAX_LISTED);

/** The files that are mended again and again. */
export const mendedAgain = (habits: readonly Habit[]): Habit[] =>
  habits
    .filter(({ changes, fixes }) => fixes >= MENDED.fixes && fixes / changes >= MENDED.share)
    .sort((a, b) => b.fixes - a.fixes)
    .slice(0, MAX_LISTED);

/** Two files that change together; `a` comes before `b`. */
export interface Couple {
  readonly a: string;
  readonly b: string;
  readonly together: number;
}

/** The pairs of scripts that nearly always change together, the most frequent first. */
export function couplesIn(changes: readonly Change[], habits: readonly Habit[]): Couple[] {
  const often = new Map(
    habits
      .filter(({ file, changes: count }) => count >= COUPLED.together && isScript(file))
      .map((habit) => [habit.file, habit.changes]),
  );
  const counts = new Map<string, Couple & { together: number }>();
  for (const { files } of changes) {
    if (files.length > COUPLED.maxFiles) continue;
    const own = files.filter((file) => often.has(file)).sort();
    for (const [index, a] of own.entries()) {
      for (const b of own.slice(index + 1)) {
        const couple = counts.get(`${a}\0${b}`) ?? { a, b, together: 0 };
        couple.together += 1;
        counts.set(`${a}\0${b}`, couple);
      }
    }
  }
  return [...counts.values()]
    .filter(({ a, b, together }) => {
      const either = (often.get(a) ?? 0) + (often.get(b) ?? 0) - together;
      return together >= COUPLED.together && together / either >= COUPLED.share;
    })
    .sort((x, y) => y.together - x.together || (x.a < y.a ? -1 : 1));
}
