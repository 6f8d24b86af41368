import type { Pattern } from './pattern.ts';

const OF_WORD = /[\p{L}\p{N}\p{M}\p{Pc}$]/u;
const ONLY_WORD = /^[\p{L}\p{N}\p{M}\p{Pc}$]+$/u;

/** Finds a word as such: `eval` is in `eval(x)`, and is not in `evaluate`. What is no letter or digit itself has no such end. */
export function wordInText(word: string): Pattern {
  const bordersBefore = isOfWord(word, 0);
  const bordersAfter = isOfWord(word, word.length - 1);
  const isOneWord = ONLY_WORD.test(word);
  return {
    find(text) {
      for (let at = text.indexOf(word); at >= 0; ) {
        const end = at + word.length;
        const isWhole = !(bordersBefore && isOfWord(text, at - 1)) && !(bordersAfter && isOfWord(text, end));
        if (isWhole) return at;
        // Within the longer word it may be found over and over.
        const next = isOneWord ? endOfWord(text, end) : at + 1;
        at = text.indexOf(word, next);
      }
      return undefined;
    },
    stepsPerChar: isOneWord ? 2 : word.length,
  };
}

/** Finds a text as it is. */
export const verbatim = (wanted: string): Pattern => ({
  find(text) {
    const at = text.indexOf(wanted);
    return at < 0 ? undefined : at;
  },
  stepsPerChar: 2,
});

function isOfWord(text: string, at: number): boolean {
  const char = text[at];
  // Half of a character beyond the first 65,536: those that occur in names are letters.
  return char !== undefined && (OF_WORD.test(char) || (char >= '\ud800' && char <= '\udfff'));
}

function endOfWord(text: string, from: number): number {
  let at = from;
  while (isOfWord(text, at)) at++;
  return at;
}
