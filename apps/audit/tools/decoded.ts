/** Decodes the escapes of a URL; returns the text unchanged if they are invalid. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
