import { resourceLimits } from 'node:worker_threads';

/** What the CPU pool gives a thread by default, and what a large repository is checked in whatever it gives. */
const SMALL_HEAP_MB = 104;
const MEGABYTE = 1024 * 1024;
/** A parsed and bound text takes about this many times its size. */
const HEAP_A_BYTE = 22;
/** The declarations of the language: with those of the browser, and without. */
const LANGUAGE_BYTES = { withDom: 3 * MEGABYTE, withoutDom: 0.6 * MEGABYTE };

/**
 * How the compiler's heap is divided, in bytes.
 *
 * - `wholeText`    text of the repository's files, if all of them fit into one program.
 * - `rootText`     if not, text of those that one program is made to check.
 * - `importedText` text of what these import of the repository's other files.
 * - `packageText`  declarations of packages.
 * - `checker`      what the checker may add before it is replaced. The rest is for garbage and the hungriest single file.
 */
export interface MemoryBudget {
  readonly wholeText: number;
  readonly rootText: number;
  readonly importedText: number;
  readonly packageText: number;
  readonly checker: number;
}

export interface BudgetFor {
  readonly usesDom: boolean;
  /** Text of all the files to be checked. */
  readonly text: number;
  /** @default that of this thread */
  readonly heapMb?: number;
}

/** A pool with a larger heap checks larger projects in one piece; one that does not fit is checked in a small heap. */
export function memoryBudget({ usesDom, text, heapMb = heapOfThread() }: BudgetFor): MemoryBudget {
  const whole = divide(heapMb, { usesDom, ownShare: 1 / 3, checkerShare: 0.3 });
  if (text <= whole.wholeText) return whole;
  return divide(Math.min(heapMb, SMALL_HEAP_MB), { usesDom, ownShare: 1 / 5, checkerShare: 0.25 });
}

const heapOfThread = (): number => resourceLimits?.maxOldGenerationSizeMb ?? SMALL_HEAP_MB;

interface Division {
  readonly usesDom: boolean;
  /** Of all text, that of the repository's own files; packages have the rest. */
  readonly ownShare: number;
  readonly checkerShare: number;
}

function divide(heapMb: number, { usesDom, ownShare, checkerShare }: Division): MemoryBudget {
  const heap = heapMb * MEGABYTE;
  const text = heap / 2 / HEAP_A_BYTE;
  const ownText = text * ownShare;
  const language = usesDom ? LANGUAGE_BYTES.withDom : LANGUAGE_BYTES.withoutDom;
  return {
    wholeText: ownText,
    rootText: ownText / 4,
    importedText: ownText * 0.75,
    packageText: Math.max(text - ownText - language, text / 5),
    checker: heap * checkerShare,
  };
}
