import type { JsonValue } from '../../runtime/protocol/json-value.ts';

/** Values under such names are not shown. */
const SECRET_NAME =
  /pass(word|phrase)?$|secret|token|api[-_]?key|authorization|cookie|credential|private[-_]?key|seed$|mnemonic/i;
/** Texts that are secrets whatever their name is. */
const SECRET_TEXT =
  /-----BEGIN [A-Z ]*PRIVATE KEY-----|\b(sk|pk|ghp|gho|xox[abps])[-_][A-Za-z0-9_-]{16,}|\beyJ[\w-]{10,}\.[\w-]{10,}\./;
const MAX_TEXT = 500;
const MAX_ITEMS = 50;
const MAX_DEPTH = 8;
const HIDDEN = '(hidden)';

/** What of a payload an operator is shown: secrets are hidden, and what is long or deep is cut, which is said in its place. */
export function redacted(value: unknown, depth = 0): JsonValue {
  if (typeof value === 'string') return textOf(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object') return value === undefined ? null : `(${typeof value})`;
  if (depth === MAX_DEPTH) return '(deeper)';
  if (Array.isArray(value)) {
    const items = value.slice(0, MAX_ITEMS).map((item) => redacted(item, depth + 1));
    return value.length > MAX_ITEMS ? [...items, `(${value.length - MAX_ITEMS} more)`] : items;
  }
  const entries = Object.entries(value);
  const shown = entries
    .slice(0, MAX_ITEMS)
    .map(([name, part]) => [
      name.slice(0, MAX_TEXT),
      SECRET_NAME.test(name) ? HIDDEN : redacted(part, depth + 1),
    ]);
  const more = entries.length > MAX_ITEMS ? [['(more)', entries.length - MAX_ITEMS]] : [];
  return Object.fromEntries([...shown, ...more]) as JsonValue;
}

function textOf(text: string): string {
  if (SECRET_TEXT.test(text.slice(0, 10_000))) return HIDDEN;
  return text.length > MAX_TEXT ? `${text.slice(0, MAX_TEXT)}… (${text.length} characters)` : text;
}
