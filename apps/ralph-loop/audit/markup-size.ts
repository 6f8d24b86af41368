/** A page of a megabyte has some 20,000 tags; the tree of ten times as many takes more memory than a job has. */
const MAX_TAGS = 60_000;

/** Whether a text has so many tags that its tree should not be built. */
export function isTooMuchMarkup(text: string): boolean {
  let tags = 0;
  for (let at = text.indexOf('<'); at !== -1; at = text.indexOf('<', at + 1))
    if (++tags > MAX_TAGS) return true;
  return false;
}
