import type { z } from 'zod';
import { describeValue } from './describe-value.ts';
import { ownMessage, wantedBy } from './wanted.ts';

type Issue = z.core.$ZodIssue;

const MAX_VALUE = 60;
const MAX_TOLD = 6;

/**
 * What a schema finds wrong with `value`, as text: `n is "two", expected a number; text is missing, expected a text`. It names
 * only the first of many faults. `root` is the name of the value itself.
 */
export function faultsOf(error: z.ZodError, value: unknown, root = ''): string {
  const faults = error.issues.flatMap((issue) => sentencesOf(withinUnion(issue), value, root));
  const more = faults.length - MAX_TOLD;
  return more > 0 ? `${faults.slice(0, MAX_TOLD).join('; ')}; and ${more} more` : faults.join('; ');
}

function sentencesOf(issue: Issue, value: unknown, root: string): string[] {
  if (issue.code === 'unrecognized_keys') {
    const holder = valueAt(value, issue.path) as Record<string, unknown> | undefined;
    return issue.keys.map((key) =>
      sentence(fieldOf(root, [...issue.path, key]), holder?.[key], 'expected no field of this name'),
    );
  }
  const own = ownMessage(issue);
  const isSentence = own !== undefined && /^[^a-z]/.test(own);
  const said = isSentence ? own : `expected ${wantedBy(issue)}`;
  return [sentence(fieldOf(root, issue.path), foundBy(issue, value), said)];
}

function sentence(field: string, value: unknown, said: string): string {
  const what = field === '' ? 'it' : field;
  const is = value === undefined ? 'missing' : describeValue(value, field, MAX_VALUE);
  return /^expected /.test(said) ? `${what} is ${is}, ${said}` : `${what} is ${is}: ${said}`;
}

/**
 * The value at fault. A rule over several fields gets all of them and names one: only the value of that is useful, and safe to
 * show. The schema may have changed the value's fields before it looked.
 */
export function foundBy({ code, path, input }: Issue, value: unknown): unknown {
  const holder = valueAt(value, path.slice(0, -1));
  const isThere = typeof holder === 'object' && holder !== null && code !== 'invalid_key';
  if (isThere && path.length > 0) return valueAt(value, path);
  return input === undefined && path.length === 0 ? value : input;
}

/** The fault within a union, if the value is of one of its kinds: then only that fault is named. */
export function withinUnion(issue: Issue): Issue {
  if (issue.code !== 'invalid_union') return issue;
  const within = issue.errors.flatMap(([one]) => (one !== undefined && isWithin(one) ? [one] : []));
  const [only] = within;
  if (only === undefined || within.length > 1) return issue;
  return withinUnion({ ...only, path: [...issue.path, ...only.path] });
}

const isWithin = ({ code, path }: Issue): boolean => path.length > 0 || code === 'unrecognized_keys';

export const valueAt = (value: unknown, path: readonly PropertyKey[]): unknown =>
  path.reduce<unknown>((at, key) => (at as Record<PropertyKey, unknown> | null | undefined)?.[key], value);

/** The name of a field, as code would have it: `rows[0].id`. */
export const fieldOf = (root: string, path: readonly PropertyKey[]): string =>
  path.reduce<string>((at, key) => {
    if (typeof key === 'number') return `${at}[${key}]`;
    return at === '' ? String(key) : `${at}.${String(key)}`;
  }, root);
