/** What came from outside, as an object whose fields nobody has looked at. */
export type Untrusted = { readonly [field: string]: unknown };

export const isRecord = (value: unknown): value is Untrusted =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

/** The text, cut so that it has at most `max` characters; what is cut ends with an ellipsis. */
export const capped = (text: string, max: number): string =>
  text.length <= max ? text : `${text.slice(0, max - 1)}…`;

export function textIn(value: Untrusted, field: string, max = 256): string | undefined {
  const text = value[field];
  return typeof text === 'string' ? capped(text, max) : undefined;
}

export function numberIn(value: Untrusted, field: string): number | undefined {
  const number = value[field];
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}

/** The last moment that a `Date` can name. */
const LAST_MS = 8.64e15;

/** A moment in Unix milliseconds. */
export function momentIn(value: Untrusted, field: string): number | undefined {
  const moment = numberIn(value, field);
  return moment === undefined || moment < 0 || moment > LAST_MS ? undefined : moment;
}

export function flagIn(value: Untrusted, field: string): boolean | undefined {
  const flag = value[field];
  return typeof flag === 'boolean' ? flag : undefined;
}

/** The list in a field with what `read` makes of each entry, without those that it makes nothing of. */
export function listIn<T>(
  value: Untrusted,
  field: string,
  read: (entry: unknown) => T | undefined,
  max = 10_000,
): readonly T[] {
  const list = value[field];
  if (!Array.isArray(list)) return [];
  return list
    .slice(0, max)
    .map(read)
    .filter((one): one is T & {} => one !== undefined);
}

/** `read`'s answer as a field, or no field at all. */
export const field = <K extends string, T>(name: K, value: T | undefined): { readonly [key in K]?: T } =>
  value === undefined ? {} : ({ [name]: value } as { readonly [key in K]?: T });
