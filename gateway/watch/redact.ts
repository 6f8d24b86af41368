import { HIDDEN, hideSecrets } from '../../runtime/protocol/hide-secrets.ts';
import type { JsonValue } from '../../runtime/protocol/json-value.ts';

/** Values under such names are not shown. */
const SECRET_NAME =
  /pass(word|phrase)?$|secret|token|api[-_]?key|authorization|cookie|credential|private[-_]?key|seed$|mnemonic/i;
/** So much of a text is looked at; a secret that reaches beyond what is shown is found too. */
const MAX_SEEN = 10_000;
const MAX_TEXT = 500;
const MAX_ITEMS = 50;
const MAX_DEPTH = 8;
const MAX_VALUES = 1_000;

/** What of a payload an operator is shown: secrets are hidden, and what is long, wide or deep is cut, which is said there. */
export const redacted = (value: unknown): JsonValue =>
  shown(value, { depth: 0, left: { values: MAX_VALUES } });

/** `left`: how many more values are shown of the whole. */
interface Place {
  readonly depth: number;
  readonly left: { values: number };
}

function shown(value: unknown, { depth, left }: Place): JsonValue {
  left.values -= 1;
  if (left.values < 0) return '(cut)';
  if (typeof value === 'string') return textOf(value);
  if (typeof value === 'number') return Number.isFinite(value) ? value : String(value);
  if (typeof value === 'boolean' || value === null) return value;
  if (typeof value !== 'object') return value === undefined ? null : `(${typeof value})`;
  if (depth === MAX_DEPTH) return '(deeper)';
  const inner = { depth: depth + 1, left };
  if (Array.isArray(value)) {
    const items: JsonValue[] = [];
    for (const item of value.slice(0, MAX_ITEMS)) if (left.values >= 0) items.push(shown(item, inner));
    return value.length > items.length ? [...items, `(${value.length - items.length} more)`] : items;
  }
  const fields: [string, JsonValue][] = [];
  const entries = Object.entries(value);
  for (const [name, part] of entries.slice(0, MAX_ITEMS))
    if (left.values >= 0)
      fields.push([name.slice(0, MAX_TEXT), SECRET_NAME.test(name) ? HIDDEN : shown(part, inner)]);
  if (entries.length > fields.length) fields.push(['(more)', entries.length - fields.length]);
  return Object.fromEntries(fields);
}

function textOf(text: string): string {
  const shown = hideSecrets(text.slice(0, MAX_SEEN));
  return text.length > MAX_TEXT ? `${shown.slice(0, MAX_TEXT)}… (${text.length} characters)` : shown;
}
