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
 * A value as an error names it: as JSON, cut when it is long. Of what `field` says is a secret only the kind is told, wherever
 * it stands in the field's path, and within an object a secret is `…`: errors are logged.
 */
export function describeValue(value: unknown, field = ''): string {
  if (typeof value === 'function') return value.name === '' ? 'a function' : `the function ${value.name}`;
  if (value !== undefined && value !== null && field.split(/[.[\]]+/).some(isSecret))
    return `${kindOf(value)} that is not shown`;
  try {
    const isText = typeof value === 'string' || (typeof value === 'object' && value !== null);
    const text = (isText ? JSON.stringify(value, withoutSecrets) : String(value)) ?? 'an object';
    return text.length > MAX_DESCRIBED ? `${text.slice(0, MAX_DESCRIBED)}…` : text;
  } catch {
    return Array.isArray(value) ? 'a list' : 'an object'; // Circles and bigints have no text.
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
