import { stemmer } from 'stemmer';

const WORD = /\p{L}[\p{L}\p{M}]*|\p{N}+/gu;
/** Where one word of a name ends and the next begins: `parseJson`, `HTTPServer`. */
const HUMP = /(\p{Ll})(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})/gu;
const LATIN = /^[a-z]+$/;
const MOST_CHARS = 64;

/**
 * The words of a text as they are compared: in lower case, without accents, names of programs also taken apart, English ones
 * without their endings.
 */
export const wordsOf = (text: string): string[] => writtenWords(text).flatMap(comparedBy);

/** The words of a text as they are written, without accents. */
export const writtenWords = (text: string): readonly string[] =>
  text.normalize('NFKD').replace(/\p{M}/gu, '').match(WORD) ?? [];

/** What a written word is compared by: itself, and its parts if it has some. */
export function comparedBy(word: string): readonly string[] {
  return withParts(word).map((part) => {
    const short = part.length > MOST_CHARS ? part.slice(0, MOST_CHARS) : part;
    return LATIN.test(short) ? stemmer(short) : short;
  });
}

function withParts(word: string): readonly string[] {
  const small = word.toLowerCase();
  if (small === word) return [word];
  const parts = word.replace(HUMP, '$1$3 $2$4').toLowerCase().split(' ');
  return parts.length === 1 ? [small] : [small, ...parts];
}
