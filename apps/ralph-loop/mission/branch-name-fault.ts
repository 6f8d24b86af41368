/** What git allows in no name of a branch: control characters, spaces and signs that it gives a meaning. */
// biome-ignore lint/suspicious/noControlCharactersInRegex: git refuses them
const FORBIDDEN = /[\u0000-\u0020\u007F~^:?*[\\]/u;

/** What is wrong with the name of a branch, by the rules of `git check-ref-format`; undefined if git takes it. */
export function branchNameFault(name: string): string | undefined {
  const sign = FORBIDDEN.exec(name)?.[0];
  if (sign !== undefined) return `expected none of the signs that git refuses, has ${JSON.stringify(sign)}`;
  for (const [part, expected] of NOT_WITHIN) if (name.includes(part)) return `${expected}, has "${part}"`;
  if (name === '' || name === '@' || name === 'HEAD') return 'expected another name: git keeps this one';
  if (name.startsWith('-')) return 'expected a name that does not begin with "-"';
  if (name.endsWith('.')) return 'expected a name that does not end with "."';
  const parts = name.split('/');
  if (parts.includes('')) return 'expected something before, between and after each "/"';
  if (parts.some((part) => part.startsWith('.'))) return 'expected no part that begins with "."';
  if (parts.some((part) => part.endsWith('.lock'))) return 'expected no part that ends with ".lock"';
  return undefined;
}

const NOT_WITHIN = [
  ['..', 'expected single dots'],
  ['@{', 'expected no "{" after "@"'],
] as const;
