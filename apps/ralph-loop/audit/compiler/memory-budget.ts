import { resourceLimits } from 'node:worker_threads';

/** What the CPU pool gives a thread by default, and what is asked for where nobody says. */
const DEFAULT_HEAP_MB = 256;
const MEGABYTE = 1024 * 1024;
/** A parsed and bound text takes about this many times its size. */
const HEAP_A_BYTE = 22;
/** The declarations of the language: with those of the browser, and without. */
const LANGUAGE_BYTES = { withDom: 3 * MEGABYTE, withoutDom: 0.6 * MEGABYTE };

/**
 * How the compiler's heap is divided, in bytes.
 *
 * - `rootText`    text of the files that one program is made to check.
 * - `ownText`     these and what they import of the repository.
 * - `packageText` declarations of packages.
 * - `checker`     what the checker may add before it is replaced. The rest is for the hungriest single file.
 * - `garbage`     what may pile up before it is worth a collection, a fifth of a second, to know what is in use.
 */
export interface MemoryBudget {
  readonly rootText: number;
  readonly ownText: number;
  readonly packageText: number;
  readonly checker: number;
  readonly garbage: number;
}

/** The budget of this thread. A pool with a larger heap checks larger projects in one piece. */
export function memoryBudget(usesDom: boolean, heapMb = resourceLimits?.maxOldGenerationSizeMb ?? DEFAULT_HEAP_MB): MemoryBudget {
  const heap = heapMb * MEGABYTE;
  const text = (0.6 * heap) / HEAP_A_BYTE;
  const ownText = text * 0.2;
  const language = usesDom ? LANGUAGE_BYTES.withDom : LANGUAGE_BYTES.withoutDom;
  return {
    rootText: ownText / 4,
    ownText,
    packageText: Math.max(text - ownText - language, text * 0.2),
    checker: 0.18 * heap,
    garbage: 0.09 * heap,
  };
}
