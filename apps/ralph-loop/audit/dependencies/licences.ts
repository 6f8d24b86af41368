/** Licences that ask of whatever is published with the code that it be free as well. */
const COPYLEFT = /^(A?GPL-\d|SSPL-|OSL-\d|EUPL-|CECILL-2|QPL-)/i;

/** Longer than any licence; the parser recurses. */
const MAX_LENGTH = 1_000;

/**
 * Whether a licence in SPDX's words leaves no choice but copyleft: `(MIT OR GPL-3.0)` leaves one, an exception (`WITH`)
 * is made so that code may be linked. What is no such expression says nothing.
 */
export function isCopyleft(licence: string): boolean {
  if (licence.length > MAX_LENGTH) return false;
  const words = licence.match(/[()]|[^\s()]+/g) ?? [];
  const reader = { words, at: 0 };
  const answer = readAny(reader);
  return answer === true && reader.at === words.length;
}

interface Reader {
  readonly words: readonly string[];
  at: number;
}

/** `A OR B`: bound only if each of them binds. */
function readAny(reader: Reader): boolean | undefined {
  let answer = readAll(reader);
  while (isNext(reader, 'OR')) {
    const other = readAll(reader);
    answer = answer === undefined || other === undefined ? undefined : answer && other;
  }
  return answer;
}

/** `A AND B`: bound if one of them binds. */
function readAll(reader: Reader): boolean | undefined {
  let answer = readOne(reader);
  while (isNext(reader, 'AND')) {
    const other = readOne(reader);
    answer = answer === undefined || other === undefined ? undefined : answer || other;
  }
  return answer;
}

function readOne(reader: Reader): boolean | undefined {
  if (isNext(reader, '(')) {
    const answer = readAny(reader);
    return isNext(reader, ')') ? answer : undefined;
  }
  const word = reader.words[reader.at];
  if (word === undefined || word === ')') return undefined;
  reader.at += 1;
  if (!isNext(reader, 'WITH')) return COPYLEFT.test(word);
  reader.at += 1;
  return false;
}

function isNext(reader: Reader, word: string): boolean {
  if (reader.words[reader.at]?.toUpperCase() !== word) return false;
  reader.at += 1;
  return true;
}
