/** What an address says without its escapes; as it stands where a % begins none. */
export function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
