import type { z } from 'zod';
import { invalidOptions } from './errors.ts';
import { fieldOf, foundBy, valueAt, withinUnion } from './payload-faults.ts';
import { wantedBy } from './wanted.ts';

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
  const [first] = parsed.error.issues;
  const issue = first && withinUnion(first);
  if (issue === undefined) throw invalidOptions(root, options, 'valid options');
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const holder = valueAt(options, issue.path) as Record<string, unknown> | undefined;
    throw invalidOptions(fieldOf(root, [...issue.path, key]), holder?.[key], 'no option of this name');
  }
  const field = fieldOf(root, issue.path) || 'options';
  throw invalidOptions(field, foundBy(issue, options), wantedBy(issue));
}

/** Throws INVALID_OPTIONS naming `field` when the value cannot be called. */
export function requireFunction(field: string, value: unknown): void {
  if (typeof value !== 'function') throw invalidOptions(field, value, 'a function');
}

/** Throws INVALID_OPTIONS naming `field` when the value is no text, or an empty one. */
export function requireText(field: string, value: unknown): void {
  if (typeof value !== 'string' || value === '')
    throw invalidOptions(field, value, 'a text that is not empty');
}

/** Throws INVALID_OPTIONS naming `field` when the value has no method of this name. */
export function requireMethod(field: string, value: unknown, method: string, expected: string): void {
  if (!hasMethod(method)(value)) throw invalidOptions(field, value, expected);
}

/** Says of values whether they have a method of this name. */
export const hasMethod =
  (name: string) =>
  (value: unknown): boolean =>
    typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function';
