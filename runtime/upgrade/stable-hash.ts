import { createHash } from 'node:crypto';

/** The SHA-256 of a JSON value in hexadecimal digits; the order of an object's fields makes no difference. */
export const stableHash = (value: unknown): string =>
  createHash('sha256').update(stableText(value)).digest('hex');

function stableText(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(stableText).join()}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value) ?? 'null';
  const fields = Object.entries(value)
    .filter(([, field]) => field !== undefined)
    .sort(([one], [other]) => (one < other ? -1 : 1));
  return `{${fields.map(([name, field]) => `${JSON.stringify(name)}:${stableText(field)}`).join()}}`;
}
