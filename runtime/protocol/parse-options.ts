import type { z } from 'zod';
import { invalidOptions } from './errors.ts';

/** The options if they fit `schema`; else throws INVALID_OPTIONS naming the first field at fault and its value. */
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
  path.reduce<string>(
    (at, key) => (typeof key === 'number' ? `${at}[${key}]` : `${at}.${String(key)}`),
    root,
  );
