/** Lists and objects begin and end with bytes that differ in one bit, and in no other byte that JSON has there. */
const CASE_BIT = 0x20;
const [QUOTE, BACKSLASH, OPEN, CLOSE] = [0x22, 0x5c, 0x5b, 0x5d];

/** How many levels of JSON are taken: those that take no time to be read and written. */
export const MAX_DEPTH = 1_000;

/**
 * Says whether JSON text nests deeper than that.
 *
 * Reading a megabyte of nothing but brackets takes as long as reading a hundred of anything else: whoever sends it would
 * have the other side stand still.
 */
export function isTooDeep(text: Uint8Array): boolean {
  // Each level takes two bytes.
  if (text.length <= 2 * MAX_DEPTH) return false;
  let depth = 0;
  let isInString = false;
  for (let at = 0; at < text.length; at++) {
    const byte = text[at] as number;
    if (isInString) {
      if (byte === BACKSLASH) at += 1;
      else if (byte === QUOTE) isInString = false;
    } else if (byte === QUOTE) isInString = true;
    else if ((byte & ~CASE_BIT) === OPEN) {
      depth += 1;
      if (depth > MAX_DEPTH) return true;
    } else if ((byte & ~CASE_BIT) === CLOSE) depth -= 1;
  }
  return false;
}
