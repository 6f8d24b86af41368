/** What stands in place of a secret. */
export const HIDDEN = '[hidden]';

/**
 * What looks like a credential, each with what of it stays. Every pattern is bounded: texts come from agents and callers.
 *
 * Private keys in PEM; JSON Web Tokens; `Authorization` values; what is assigned to a name of a secret; user and password in a
 * URL; keys of the common services, and of `orrery key`.
 */
const CREDENTIALS: readonly (readonly [pattern: RegExp, replacement: string])[] = [
  [/-----BEGIN [A-Z ]{0,30}PRIVATE KEY-----[^-]{0,20000}(?:-----END [A-Z ]{0,30}PRIVATE KEY-----)?/g, HIDDEN],
  [/\beyJ[\w-]{5,}\.[\w-]{5,}(?:\.[\w-]*)?/g, HIDDEN],
  [/\b(Bearer|Basic|Token) [\w.~+/=-]{6,}/gi, `$1 ${HIDDEN}`],
  [
    /((?:password|passwd|secret|token|api[_-]?key|access[_-]?key|private[_-]?key)["']?\s{0,3}[:=]\s{0,3}["']?)[^\s"',;&)}\]]{4,}/gi,
    `$1${HIDDEN}`,
  ],
  [/(:\/\/)[^\s/:@]{1,200}:[^\s/@]{1,200}@/g, `$1${HIDDEN}@`],
  [/\b(?:sk|pk|rk|ghp|gho|ghs|github_pat|glpat|xox[abprs]|AKIA|ork)[_-]?[A-Za-z\d_-]{16,}/g, HIDDEN],
];

/** A text without what looks like a credential in it. */
export const hideSecrets = (text: string): string =>
  CREDENTIALS.reduce((left, [pattern, replacement]) => left.replace(pattern, replacement), text);

/** The fields of a line, their texts without credentials, however deep. */
export function hideSecretsIn(value: unknown): unknown {
  if (typeof value === 'string') return hideSecrets(value);
  if (Array.isArray(value)) return value.map(hideSecretsIn);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, field]) => [name, hideSecretsIn(field)]));
}
