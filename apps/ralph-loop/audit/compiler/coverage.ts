import { join } from 'node:path';
import type { NoteTaker } from './find-projects.ts';

const NAMED_FILES = 3;

/** Which TypeScript files of a repository belong to a project, because it lists them or because something there imports them. */
export class Coverage {
  readonly #root: string;
  readonly #scripts: ReadonlySet<string>;
  readonly #covered = new Set<string>();

  /** `scripts` are relative to `root`; all other paths here are absolute. */
  constructor(root: string, scripts: readonly string[]) {
    this.#root = root;
    this.#scripts = new Set(scripts.map((path) => join(root, path)));
  }

  has(path: string): boolean {
    return this.#covered.has(path);
  }

  cover(paths: readonly string[]): void {
    for (const path of paths) this.#covered.add(path);
  }

  /** Covers a file of the repository that is only imported, and says whether it was not covered yet. */
  take(path: string): boolean {
    if (!this.#scripts.has(path) || this.#covered.has(path)) return false;
    this.#covered.add(path);
    return true;
  }

  /** Notes the files that belong to no project. */
  noteRest(note: NoteTaker): void {
    const rest = [...this.#scripts].filter((path) => !this.#covered.has(path));
    const [first] = rest;
    if (first === undefined) return;
    const relative = (path: string): string => path.slice(this.#root.length + 1);
    if (rest.length === 1) return note('no-project', 'is in no project that was checked', relative(first));
    const others = rest.slice(1, NAMED_FILES).map(relative).join(', ');
    const more = rest.length - NAMED_FILES;
    note(
      'no-project',
      `is the first of ${rest.length} TypeScript files in no project that was checked; then ${others}${more > 0 ? ` and ${more} more` : ''}`,
      relative(first),
    );
  }
}
