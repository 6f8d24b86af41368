import { RE2JS, RE2JSException } from 're2js';
import { invalidOptions, reasonOf } from '../../../runtime/protocol/errors.ts';

/**
 * A pattern that somebody has written, in RE2's syntax: whatever it is, looking for it takes time in proportion to the text.
 *
 * - `find`         where in a text it is found first; undefined where it is not.
 * - `stepsPerChar` about how much is done for a character of a text, at most.
 */
export interface Pattern {
  readonly find: (text: string) => number | undefined;
  readonly stepsPerChar: number;
}

/**
 * Compiles a pattern. Throws INVALID_OPTIONS naming `field` and the pattern for one that RE2 does not know.
 *
 * - `isOfLines` has `^` and `$` stand for the ends of lines, in place of those of the text.
 */
export function compilePattern(field: string, source: string, { isOfLines = false } = {}): Pattern {
  const compiled = compile(field, source, isOfLines ? RE2JS.MULTILINE : 0);
  return {
    find(text) {
      const matcher = compiled.matcher(text);
      return matcher.find() ? matcher.start() : undefined;
    },
    stepsPerChar: compiled.programSize(),
  };
}

function compile(field: string, source: string, flags: number): RE2JS {
  try {
    return RE2JS.compile(source, flags);
  } catch (error) {
    if (!(error instanceof RE2JSException)) throw error;
    throw invalidOptions(field, source, `a pattern of RE2's syntax (${reasonOf(error)})`);
  }
}
