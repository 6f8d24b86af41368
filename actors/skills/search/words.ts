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
export function wordsOf(text: string): string[] {
  const plain = text.normalize('NFKD').replace(/\p{M}/gu, '');
  const words = plain.match(WORD) ?? [];
  return words.flatMap(withParts).map((word) => {
    const short = word.length > MOST_CHARS ? word.slice(0, MOST_CHARS) : word;
    return LATIN.test(short) ? stemmer(short) : short;
  });
}

function withParts(word: string): string | string[] {
  const small = word.toLowerCase();
  if (small === word) return word;
  const parts = word.replace(HUMP, '$1$3 $2$4').toLowerCase().split(' ');
  return parts.length === 1 ? small : [small, ...parts];
}
