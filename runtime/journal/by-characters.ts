/** The order of keys, as SQLite has them: by code point; behind these those that UTF-8 cannot say. */
export function byCharacters(one: string, other: string): number {
  const [isWhole, isOtherWhole] = [one.isWellFormed(), other.isWellFormed()];
  if (isWhole !== isOtherWhole) return isWhole ? -1 : 1;
  const encoding = isWhole ? 'utf8' : 'utf16le';
  return Buffer.compare(Buffer.from(one, encoding), Buffer.from(other, encoding));
}
