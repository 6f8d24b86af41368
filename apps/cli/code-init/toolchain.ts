import type { MissionGate } from '@orrery/ralph-loop';

/**
 * The files of the last commit, at which attempts begin. What is not committed is not there for them.
 *
 * - `paths` of all files, with `/`.
 * - `text`  of a file; empty if it is not there or is none of those that are read.
 */
export interface CommittedFiles {
  readonly paths: ReadonlySet<string>;
  text(path: string): string;
}

/**
 * How a repository is built and tested.
 *
 * - `id`      a word for it, which tells its gates from those of another.
 * - `found`   what shows it, for a reader.
 * - `setup`   command that makes a new worktree ready.
 * - `makes`   folders that appear then, which git has to ignore.
 * - `gates`   in the order in which they are run. That of the tests is named `test`.
 * - `protect` files that decide what the gates do.
 * - `lacks`   what could not be found out, in sentences.
 */
export interface Toolchain {
  readonly id: string;
  readonly found: readonly string[];
  readonly setup?: string;
  readonly makes: readonly string[];
  readonly gates: readonly MissionGate[];
  readonly protect: readonly string[];
  readonly lacks: readonly string[];
}

/** Those of the paths that are there. */
export const present = ({ paths }: CommittedFiles, ...names: readonly string[]): string[] =>
  names.filter((name) => paths.has(name));
