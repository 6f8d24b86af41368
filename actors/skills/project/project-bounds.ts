/** How many files a check is given at most. */
export const MOST_PROJECT_FILES = 10_000;
/** How much text they have together at most: bytes that are read, and so at most as many UTF-16 code units. */
export const MOST_PROJECT_BYTES = 16 * 1024 * 1024;
/** How many names a check is given at most of each kind: dependencies, imports. */
export const MOST_NAMES = 5_000;
