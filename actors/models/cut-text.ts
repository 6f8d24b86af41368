/** A text with at most `maxChars` of its characters, and a note if that is not all of it. */
export function cutText(text: string, maxChars: number): string {
  if (text.length <= maxChars) return text;
  // Half of a pair of surrogates is no character.
  const end = isHighSurrogate(text.charCodeAt(maxChars - 1)) ? maxChars - 1 : maxChars;
  return `${text.slice(0, end)}\n[cut: these are the first ${end} of ${text.length} characters]`;
}

const isHighSurrogate = (code: number): boolean => code >= 0xd800 && code <= 0xdbff;
