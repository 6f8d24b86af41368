import type { Snapshot } from '../protocol/snapshot.ts';
import type { VersionRange } from './version-range.ts';

/** Turns a state of version `from`, older or newer, into one of version `to`. */
export interface Migration {
  /** As it was given. */
  readonly from: string;
  readonly isFrom: VersionRange;
  readonly to: string;
  readonly run: (state: never, snapshot: Snapshot) => unknown;
}

/**
 * The migrations that lead from one version to another, in their order: as few as possible, those that were declared first
 * where there are several ways. At least one, also from a version to itself. Undefined when there is no way.
 */
export function migrationPath(
  migrations: readonly Migration[],
  from: string,
  to: string,
): readonly Migration[] | undefined {
  let ways: (readonly [version: string, path: readonly Migration[]])[] = [[from, []]];
  const tried = new Set<Migration>();
  while (ways.length > 0) {
    const longer: typeof ways = [];
    for (const [version, path] of ways) {
      for (const migration of migrations) {
        if (tried.has(migration) || !migration.isFrom(version)) continue;
        tried.add(migration);
        const way = [...path, migration];
        if (migration.to === to) return way;
        longer.push([migration.to, way]);
      }
    }
    ways = longer;
  }
  return undefined;
}
