import { stemmer } from 'stemmer';

const WORD = /\p{L}[\p{L}\p{M}]*|\p{N}+/gu;
/** Where one word of a name ends and the next begins: `parseJson`, `HTTPServer`. */
const HUMP = /(\p{Ll})(\p{Lu})|(\p{Lu})(\p{Lu}\p{Ll})/gu;
const LATIN = /^[a-z]+$/;
const MOST_CHARS = 64;

/**
 * The words of a text as they are compared: in lower case, without accents, names of programs taken apart, English ones
 * without their endings.
 */
export function wordsOf(text: string): string[] {
  const apart = text.replace(HUMP, '$1$3 $2$4').normalize('NFKD').replace(/\p{M}/gu, '').toLowerCase();
  const words = apart.match(WORD) ?? [];
  return words.map((word) => {
    const short = word.length > MOST_CHARS ? word.slice(0, MOST_CHARS) : word;
    return LATIN.test(short) ? stemmer(short) : short;
  });
}
