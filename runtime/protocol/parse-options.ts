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
  const [first] = parsed.error.issues;
  const issue = first && withinUnion(first);
  if (issue === undefined) throw invalidOptions(root, options, 'valid options');
  if (issue.code === 'unrecognized_keys') {
    const key = issue.keys[0] ?? '';
    const holder = valueAt(options, issue.path) as Record<string, unknown> | undefined;
    throw invalidOptions(fieldOf(root, [...issue.path, key]), holder?.[key], 'no option of this name');
  }
  // A rule over several fields is given all of them, and names one: only that one's value is of use, and safe to show.
  // What a schema has made of the options before it looked may have other fields than they have.
  const holder = valueAt(options, issue.path.slice(0, -1));
  const isThere = typeof holder === 'object' && holder !== null && issue.code !== 'invalid_key';
  const value = isThere && issue.path.length > 0 ? valueAt(options, issue.path) : issue.input;
  throw invalidOptions(fieldOf(root, issue.path), value, expectation(issue.message));
}

/** Of "this or that", where the value is of one kind and wrong within: what is wrong there, so that no more than that is named. */
function withinUnion(issue: z.core.$ZodIssue): z.core.$ZodIssue {
  if (issue.code !== 'invalid_union') return issue;
  const within = issue.errors.flatMap(([one]) => (one !== undefined && isWithin(one) ? [one] : []));
  const [only] = within;
  if (only === undefined || within.length > 1) return issue;
  return withinUnion({ ...only, path: [...issue.path, ...only.path] });
}

const isWithin = ({ code, path }: z.core.$ZodIssue): boolean =>
  path.length > 0 || code === 'unrecognized_keys';

const valueAt = (options: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key], options);

/** What zod says was wrong, as what is wanted instead. */
const expectation = (message: string): string =>
  message
    .replace(/^[^:]+: expected /, '')
    .replace(/^Invalid (\w+): must /, '$1 to ')
    .replace(/^Invalid input$/, 'something else')
    .replace(/^Invalid /, 'a valid ');

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

/** Throws INVALID_OPTIONS naming `field` when the value has no method of this name. */
export function requireMethod(field: string, value: unknown, method: string, expected: string): void {
  if (!hasMethod(method)(value)) throw invalidOptions(field, value, expected);
}

/** Says of values whether they have a method of this name. */
export const hasMethod =
  (name: string) =>
  (value: unknown): boolean =>
    typeof (value as Record<string, unknown> | null | undefined)?.[name] === 'function';
