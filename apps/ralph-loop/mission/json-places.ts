import type { JsonFault } from './json-fault.ts';

/** A value in a text of JSON, from `start` up to `end`. Keys that come twice are in `repeated`, by where they stand. */
export interface JsonPlace {
  readonly start: number;
  readonly end: number;
  readonly fields?: ReadonlyMap<string, JsonPlace>;
  readonly items?: readonly JsonPlace[];
  readonly repeated?: readonly (readonly [key: string, offset: number])[];
}

const MAX_DEPTH = 512;
const STRING = /"[^"\\]*(?:\\.[^"\\]*)*"/suy;
const SCALAR = /[^\s,\]}]+/uy;
const SPACE = /\s*/uy;

/** Where each value stands in a text that is known to be JSON; undefined if it is nested more than 512 deep. */
export function jsonPlaces(text: string): JsonPlace | undefined {
  let at = 0;
  const skip = (pattern: RegExp): string => {
    pattern.lastIndex = at;
    const found = pattern.exec(text)?.[0] ?? '';
    at += found.length;
    return found;
  };
  /** Goes past signs, and the spaces on both sides. */
  const pass = (sign: string): boolean => {
    skip(SPACE);
    if (text[at] !== sign) return false;
    at += 1;
    skip(SPACE);
    return true;
  };
  const valueAt = (depth: number): JsonPlace => {
    if (depth > MAX_DEPTH) throw new TooDeep();
    skip(SPACE);
    const start = at;
    if (pass('{')) return { start, ...fieldsAt(depth), end: at };
    if (pass('[')) return { start, items: itemsAt(depth), end: at };
    skip(text[at] === '"' ? STRING : SCALAR);
    return { start, end: at };
  };
  const fieldsAt = (depth: number): Pick<JsonPlace, 'fields' | 'repeated'> => {
    const fields = new Map<string, JsonPlace>();
    const repeated: [string, number][] = [];
    while (text[at] === '"') {
      const offset = at;
      const key = JSON.parse(skip(STRING)) as string;
      if (fields.has(key)) repeated.push([key, offset]);
      pass(':');
      fields.set(key, valueAt(depth + 1));
      pass(',');
    }
    at += 1;
    return { fields, ...(repeated.length === 0 ? {} : { repeated }) };
  };
  const itemsAt = (depth: number): readonly JsonPlace[] => {
    const items: JsonPlace[] = [];
    while (text[at] !== ']') {
      items.push(valueAt(depth + 1));
      pass(',');
    }
    at += 1;
    return items;
  };
  try {
    return valueAt(0);
  } catch (error) {
    if (error instanceof TooDeep) return undefined;
    throw error;
  }
}

class TooDeep extends Error {}

/** The first key that an object in a text of JSON has twice: of two values the second would count, unseen. */
export function repeatedKey(text: string): JsonFault | undefined {
  const root = jsonPlaces(text);
  if (root === undefined) return { line: 1, column: 1, reason: `nested more than ${MAX_DEPTH} deep` };
  const [first] = repeatedIn(root).toSorted(([, a], [, b]) => a - b);
  if (first === undefined) return undefined;
  const [key, offset] = first;
  const before = text.slice(0, offset);
  return {
    line: before.split('\n').length,
    column: before.length - before.lastIndexOf('\n'),
    reason: `the field "${key}" is there twice`,
  };
}

const repeatedIn = ({ fields, items = [], repeated = [] }: JsonPlace): (readonly [string, number])[] => [
  ...repeated,
  ...[...(fields?.values() ?? []), ...items].flatMap(repeatedIn),
];
