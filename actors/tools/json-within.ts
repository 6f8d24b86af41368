/** The value as JSON text if that is within the bound, else how large it is: `{ omitted, bytes }`. Never throws. */
export function jsonWithin(value: unknown, maxBytes: number): string {
  try {
    if (isClearlyLarger(value, maxBytes)) return omitted('it is too large', undefined);
    const text = JSON.stringify(value);
    if (text === undefined) return omitted('JSON cannot say it', undefined);
    // A character takes three bytes at most.
    if (text.length * 3 <= maxBytes) return text;
    const bytes = Buffer.byteLength(text);
    return bytes <= maxBytes ? text : omitted('it is too large', bytes);
  } catch {
    return omitted('JSON cannot say it', undefined);
  }
}

const omitted = (why: string, bytes: number | undefined): string =>
  JSON.stringify(bytes === undefined ? { omitted: why } : { omitted: why, bytes });

/** Says so without writing what nobody keeps: it stops counting at the bound. */
function isClearlyLarger(value: unknown, maxBytes: number): boolean {
  let left = maxBytes;
  const count = (item: unknown): boolean => {
    left -= 1;
    if (typeof item === 'string') left -= item.length;
    else if (Array.isArray(item)) return left < 0 || item.some(count);
    else if (typeof item === 'object' && item !== null) {
      if (left < 0) return true;
      return Object.entries(item).some(([key, field]) => {
        left -= key.length;
        return count(field);
      });
    }
    return left < 0;
  };
  return count(value);
}
