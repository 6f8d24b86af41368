/** Names of fields that hold secrets, or may, in lower case, without dashes and underscores. */
const SECRETS = new Set([
  'accesstoken',
  'apikey',
  'auth',
  'authorization',
  'bearer',
  'cookie',
  'credentials',
  'env',
  'headers',
  'password',
  'privatekey',
  'secret',
  'signingkey',
  'statekey',
  'xapikey',
]);

const MAX_DESCRIBED = 120;

/**
 * Describes a value for an error: as JSON, cut if it is long. Errors are logged, so secrets are left out. If a name in the path
 * `field` is that of a secret, only the kind of the value is told. Within an object a secret is `…`.
 */
export function describeValue(value: unknown, field = '', maxLength = MAX_DESCRIBED): string {
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`;
  if (value !== undefined && value !== null && field.split(/[.[\]]+/).some(isSecret))
    return `${kindOf(value)} that is not shown`;
  const kind = instanceOf(value);
  if (kind !== undefined) return kind;
  try {
    const isText = typeof value === 'string' || (typeof value === 'object' && value !== null);
    const text = (isText ? JSON.stringify(value, withoutSecrets) : String(value)) ?? 'an object';
    if (text.length <= maxLength) return text;
    return `${text.slice(0, maxLength)}…${typeof value === 'string' ? '"' : ''}`;
  } catch {
    return Array.isArray(value) ? 'a list' : 'an object'; // Circles and bigints have no text.
  }
}

/** The kind of a value that is more than its fields; a date is told as such. */
function instanceOf(value: unknown): string | undefined {
  if (typeof value !== 'object' || value === null || Array.isArray(value)) return undefined;
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? 'an invalid Date' : `the Date ${value.toISOString()}`;
  try {
    const prototype = Object.getPrototypeOf(value) as object | null;
    if (prototype === null || Object.getPrototypeOf(prototype) === null || 'toJSON' in value)
      return undefined;
    const { name } = (value as { constructor?: { name?: string } }).constructor ?? {};
    return `an instance of ${name || 'a class'}`;
  } catch {
    return 'an object';
  }
}

const isSecret = (name: string): boolean => SECRETS.has(name.replace(/[-_]/g, '').toLowerCase());

const withoutSecrets = (name: string, value: unknown): unknown =>
  isSecret(name) && (typeof value === 'string' || (typeof value === 'object' && value !== null))
    ? '…'
    : value;

function kindOf(value: unknown): string {
  if (typeof value === 'string') return 'a text';
  if (Array.isArray(value)) return 'a list';
  return typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
