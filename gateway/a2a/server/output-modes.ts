/**
 * Whether some media type of `offered` is among those that are `accepted`. Either may have stars (`text/*`); parameters do not
 * count. No accepted type, or nothing known of what is offered, means anything.
 */
export function fitsAccepted(offered: readonly string[], accepted: readonly string[]): boolean {
  if (accepted.length === 0 || offered.length === 0) return true;
  return accepted.some((pattern) => offered.some((type) => matches(type, pattern)));
}

function matches(type: string, pattern: string): boolean {
  const [major, minor] = partsOf(type);
  const [wantedMajor, wantedMinor] = partsOf(pattern);
  const isSame = (one: string, other: string): boolean => one === '*' || other === '*' || one === other;
  return isSame(major, wantedMajor) && isSame(minor, wantedMinor);
}

function partsOf(type: string): readonly [string, string] {
  const [essence = ''] = type.split(';');
  const [major = '', minor = '*'] = essence.trim().toLowerCase().split('/');
  return [major, minor];
}
