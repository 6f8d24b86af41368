import { RE2JS } from 're2js';
import { compilePattern, type Pattern } from './pattern.ts';

/** What stands for something else in a glob, the longest first. */
const PARTS = /\*\*\/|\*\*|\*|\?|[^*?]+/g;
const MEANINGS: Readonly<Record<string, string>> = {
  '**/': '(?:.*/)?',
  '**': '.*',
  '*': '[^/]*',
  '?': '[^/]',
};

/**
 * A path or a name, in which `*` stands for anything within one part between slashes, `?` for one character of it, and `**` for
 * anything at all. What ends with a slash means all that is below it. Everything else is meant as it is.
 *
 * - `withBelow` means what is below it, too.
 */
export function compileGlob(field: string, glob: string, { withBelow = false } = {}): Pattern {
  const source = (glob.match(PARTS) ?? []).map((part) => MEANINGS[part] ?? RE2JS.quote(part)).join('');
  const below = glob.endsWith('/') ? '.*' : withBelow ? '(?:/.*)?' : '';
  if (source === RE2JS.quote(glob) && below === '') return exactly(glob);
  return compilePattern(field, `(?s)\\A(?:${source})${below}\\z`);
}

/** What it costs to compare a text with another. */
export const STEPS_OF_COMPARING = 0.1;

const exactly = (wanted: string): Pattern => ({
  find: (text) => (text === wanted ? 0 : undefined),
  stepsPerChar: STEPS_OF_COMPARING,
});
