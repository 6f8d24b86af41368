import type { JsonValue } from '../../../runtime/protocol/json-value.ts';

/** Names that are sensitive as a whole, and parts of names that always are; without case and separators. */
const WHOLE = new Set(['dbpath', 'filepath', 'internalid', 'internal']);
const PART = /passw(?:or)?d|passphrase|privatekey|apikey|secret(?!ar)/;
const TOKEN = /token(?!i[sz])/;

/**
 * Whether a field must not go out, by its name, and by its value where that tells a token from a number of tokens: `token`,
 * `access_token`, `sessionTokens: ["..."]` and `token_type: "x"` must not; `tokenCount: 3`, `maxTokens: 10` and
 * `tokens: {"used": 3}` may.
 *
 * What ends in `token` is one whatever its value. In other names that hold `token`, numbers count something.
 */
export function isSensitive(name: string, value: JsonValue): boolean {
  const plain = name.normalize('NFKC').toLowerCase();
  const letters = plain.replace(/[^\p{L}\p{N}]/gu, '');
  if (letters === 'internal') return plain.startsWith('_');
  if (WHOLE.has(letters) || PART.test(letters) || letters.endsWith('token')) return true;
  return TOKEN.test(letters) && !isCount(value);
}

/** Whether it holds numbers, and nothing else. */
function isCount(value: JsonValue): boolean {
  if (typeof value === 'number' || typeof value === 'boolean' || value === null) return true;
  return typeof value === 'object' && Object.values(value).every(isCount);
}
