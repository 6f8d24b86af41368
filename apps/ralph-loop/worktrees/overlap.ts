/** What a task is likely to change. - `files` tracked files that its patterns match. */
export interface Touching {
  readonly id: string;
  readonly touches: readonly string[];
  readonly files: readonly string[];
}

const WILDCARDS = /[*?[]/;

/**
 * Whether two tasks may change the same file, as far as they say: both match a file that there is, or a pattern of one may match
 * new files of a pattern of the other. A task that says nothing overlaps with none.
 */
export function mayOverlap(one: Touching, other: Touching): boolean {
  const files = new Set(one.files);
  if (other.files.some((file) => files.has(file))) return true;
  return one.touches.some((mine) => other.touches.some((theirs) => mayMatchTheSame(mine, theirs)));
}

/** Of several tasks, by id: those that may not be worked on at the same time. */
export function overlapping(tasks: readonly Touching[]): ReadonlyMap<string, readonly string[]> {
  const of = (task: Touching): string[] =>
    tasks.filter((other) => other !== task && mayOverlap(task, other)).map(({ id }) => id);
  return new Map(tasks.map((task) => [task.id, of(task)]));
}

/** Paths that several attempts have changed by now, each with their tasks, sorted. */
export function liveOverlaps(
  live: readonly { readonly id: string; readonly paths: readonly string[] }[],
): { path: string; ids: string[] }[] {
  const changers = new Map<string, string[]>();
  for (const { id, paths } of live)
    for (const path of new Set(paths)) changers.set(path, [...(changers.get(path) ?? []), id]);
  return [...changers]
    .filter(([, ids]) => ids.length > 1)
    .map(([path, ids]) => ({ path, ids: ids.sort() }))
    .sort((a, b) => (a.path < b.path ? -1 : 1));
}

/** A sentence that says who changes the same file; whoever is merged last may meet a conflict. */
export const overlapWarning = ({
  path,
  ids,
}: {
  readonly path: string;
  readonly ids: readonly string[];
}): string =>
  `${ids.slice(0, -1).join(', ')} and ${ids.at(-1)} are changing ${path} at the same time; whichever is merged later may conflict`;

/** Prefixes that are equal, or one within the other, and ends that one name can have. */
function mayMatchTheSame(mine: string, theirs: string): boolean {
  const [a, b] = [prefixOf(mine), prefixOf(theirs)];
  const isNested = a === '' || b === '' || a === b || a.startsWith(`${b}/`) || b.startsWith(`${a}/`);
  if (!isNested) return false;
  const [endA, endB] = [endOf(mine), endOf(theirs)];
  return endA.endsWith(endB) || endB.endsWith(endA);
}

/** The folders, or the file, that stand before the first wildcard. */
function prefixOf(pattern: string): string {
  const parts = pattern.split('/').filter((part) => part !== '' && part !== '.');
  const wild = parts.findIndex((part) => WILDCARDS.test(part));
  return (wild === -1 ? parts : parts.slice(0, wild)).join('/');
}

/** How all names end that it can match; nothing of what may be a folder. */
function endOf(pattern: string): string {
  const isWild = WILDCARDS.test(pattern);
  if (isWild) return /[^*?[\]]*$/.exec(pattern)?.[0].replace(/^.*\//, '') ?? '';
  return /[^/.][^/]*\.\w+$/.test(pattern) ? pattern.replace(/^.*\//, '') : '';
}
