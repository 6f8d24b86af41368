/** The most characters of a text that is told. */
const MAX_TEXT = 2_000;
/** The most paths that are told of one tool, and characters of each. */
const MAX_PATHS = 50;
const MAX_PATH = 1_000;

/** A text of a program, cut to what is told of it. */
export const told = (text: string): string => text.slice(0, MAX_TEXT);

/** The same in one line. */
export const toldInLine = (text: string): string => told(text.replaceAll(/\s+/g, ' ').trim());

/** Paths that a program has named. */
export const toldPaths = (paths: readonly string[]): string[] =>
  paths.slice(0, MAX_PATHS).map((path) => path.slice(0, MAX_PATH));
