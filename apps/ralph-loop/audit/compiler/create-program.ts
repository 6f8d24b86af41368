import type { CreateProgramOptions, Program } from 'typescript';
import type { BoundedFiles } from './bounded-files.ts';
import { ts } from './typescript.ts';

/** What has been loaded so far, and whether to go on. */
export type ReachedFiles = Pick<BoundedFiles, 'reached' | 'mayComeFurther'>;

/**
 * Makes a program of files that may import each other in a chain of thousands.
 *
 * The compiler follows imports by recursion, and such a chain overflows its stack. What it has reached by then are roots of
 * the next attempt, the last first, which so finds the end of the chain already there.
 */
export function createProgram(files: ReachedFiles, options: CreateProgramOptions): Program {
  let { rootNames } = options;
  for (;;) {
    const before = files.reached().length;
    const attempt: CreateProgramOptions = { ...options, rootNames };
    try {
      return ts.createProgram(attempt);
    } catch (error) {
      if (!(error instanceof RangeError) || !files.mayComeFurther(before)) throw error;
      rootNames = [...new Set([...files.reached().reverse(), ...options.rootNames])];
    } finally {
      // A program keeps its options; with them it would keep its predecessor, and so all of them.
      delete attempt.oldProgram;
    }
  }
}
