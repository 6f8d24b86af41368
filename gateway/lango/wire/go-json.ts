import type { JsonValue } from '../../../runtime/protocol/json-value.ts';

/* JSON as Go's encoding/json writes it (`Encoder`, with its default of escaping HTML). */

/** What Go escapes in a text beyond what JSON demands. */
const ESCAPED = /[<>&\u2028\u2029]/g;

const goText = (text: string): string =>
  JSON.stringify(text.toWellFormed()).replace(
    ESCAPED,
    (character) => `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`,
  );

/** By the bytes of UTF-8, as Go sorts the keys of a map. */
const byBytes = (one: string, other: string): number => Buffer.compare(Buffer.from(one), Buffer.from(other));

/** A value as Go writes `any`: maps have their keys sorted. */
export function goJson(value: JsonValue): string {
  if (typeof value === 'string') return goText(value);
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : JSON.stringify(value);
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(goJson).join(',')}]`;
  const fields = Object.keys(value).sort(byBytes);
  return `{${fields.map((name) => `${goText(name)}:${goJson(value[name] as JsonValue)}`).join(',')}}`;
}

/** A struct as Go writes it: fields in their order, without those that are undefined. */
export const goStruct = (fields: Readonly<Record<string, JsonValue | undefined>>): string =>
  `{${Object.entries(fields)
    .flatMap(([name, value]) => (value === undefined ? [] : [`${goText(name)}:${goJson(value)}`]))
    .join(',')}}`;

/** Unix milliseconds as Go's `time.Time` in UTC: RFC 3339, without zeros at the end of the fraction. */
export const goTime = (atMs: number): string => new Date(atMs).toISOString().replace(/\.?0*Z$/, 'Z');

const RFC_3339 = /^(\d{4}-\d\d-\d\d)[Tt](\d\d:\d\d:\d\d)(?:\.(\d{1,9}))?([Zz]|[+-]\d\d:\d\d)$/;

/** Unix milliseconds of a time in RFC 3339, up to nanoseconds, which are cut off; undefined for what is none. */
export function timeOfGo(text: string): number | undefined {
  const [, day, time, fraction = '', zone] = RFC_3339.exec(text) ?? [];
  if (day === undefined) return undefined;
  const atMs = Date.parse(`${day}T${time}.${fraction.slice(0, 3).padEnd(3, '0')}${zone?.toUpperCase()}`);
  return Number.isNaN(atMs) ? undefined : atMs;
}
