import type { z } from 'zod';
import { invalidOptions } from './errors.ts';

/**
 * The options if they fit `schema`; else throws INVALID_OPTIONS naming the first field at fault and its value. `root` is
 * what the options are called; with '' their fields are named alone.
 */
export function parseOptions<Schema extends z.ZodType>(
  schema: Schema,
  options: unknown,
  root: string,
): z.output<Schema> {
  const parsed = schema.safeParse(options, { reportInput: true });
  if (parsed.success) return parsed.data;
  const [issue] = parsed.error.issues;
  if (issue === undefined) throw invalidOptions(root, options, 'valid options');
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const holder = issue.input as Record<string, unknown> | undefined;
    throw invalidOptions(fieldOf(root, [...issue.path, key]), holder?.[key], 'no option of this name');
  }
  throw invalidOptions(
    fieldOf(root, issue.path),
    issue.input,
    issue.message.replace(/^[^:]+: expected /, ''),
  );
}

const fieldOf = (root: string, path: readonly PropertyKey[]): string =>
  path.reduce<string>((at, key) => {
    if (typeof key === 'number') return `${at}[${key}]`;
    return at === '' ? String(key) : `${at}.${String(key)}`;
  }, root);

/** Throws INVALID_OPTIONS naming `field` when the value cannot be called. */
export function requireFunction(field: string, value: unknown): void {
  if (typeof value !== 'function') throw invalidOptions(field, value, 'a function');
}

/** Throws INVALID_OPTIONS naming `field` when the value is no text, or an empty one. */
export function requireText(field: string, value: unknown): void {
  if (typeof value !== 'string' || value === '')
    throw invalidOptions(field, value, 'a text that is not empty');
}
