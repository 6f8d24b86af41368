import { z } from 'zod';

/** A value that JSON can carry. */
export type JsonValue = z.core.util.JSONType;

/** The most levels of nesting: more than any real JSON has, and fewer than the stack has room for. */
const MAX_DEPTH = 1_000;

/** Objects with so many fields or more are copied as a hash table. */
const MANY = 16;

/** Stands for something that is no JSON. */
const NONE = Symbol('no JSON');

/**
 * Any JSON value, as a copy. It does the same as `z.json()`, but in one step. There each list and object is a recursive schema of
 * its own, which costs a table in every parse.
 */
export const JsonValue = z.custom<JsonValue>().transform((value, context): JsonValue => {
  const copy = copied(value, 0);
  if (copy !== NONE) return copy;
  context.addIssue({ code: 'custom', message: 'what JSON can say', input: value });
  return z.NEVER;
});

/** As many of them as there are, by name. */
export const JsonFields = fieldsBy(JsonValue, (fields) => copied(fields, 0));

/**
 * As `JsonValue`, for a value that was just parsed from a text and that nobody else has. It is checked, and copied only where
 * something is left out: to copy a large one costs more than to read it.
 */
export const FreshJson = z.custom<JsonValue>().transform((value, context): JsonValue => {
  const own = fresh(value);
  if (own !== NONE) return own;
  context.addIssue({ code: 'custom', message: 'what JSON can say', input: value });
  return z.NEVER;
});

/** As many of them as there are, by name. */
export const FreshJsonFields = fieldsBy(FreshJson, fresh);

/** An object of such values, in one step. `schema` names the fault of a field under its name. */
function fieldsBy(schema: z.ZodType<JsonValue>, take: (fields: object) => JsonValue | typeof NONE) {
  const oneByOne = z.record(z.string(), schema);
  return z.custom<Record<string, JsonValue>>().transform((value, context): Record<string, JsonValue> => {
    const isNamed = typeof value === 'object' && value !== null && !Array.isArray(value) && isPlain(value);
    const taken = isNamed ? take(value) : NONE;
    if (taken !== NONE) return taken as Record<string, JsonValue>;
    const read = oneByOne.safeParse(value, { reportInput: true });
    if (read.success) return read.data;
    for (const issue of read.error.issues)
      context.addIssue({ ...issue } as Parameters<typeof context.addIssue>[0]);
    return z.NEVER;
  });
}

function fresh(value: unknown): JsonValue | typeof NONE {
  const seen = look(value, 0);
  return seen === 'none' ? NONE : seen === 'named' ? copied(value, 0) : (value as JsonValue);
}

/** Looks through a value. `named`: it has a field `__proto__`, which would become the prototype of a copy. */
function look(value: unknown, depth: number): 'none' | 'named' | 'json' {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return 'json';
    case 'number':
      return Number.isFinite(value) ? 'json' : 'none';
    case 'object':
      if (value === null) return 'json';
      if (depth === MAX_DEPTH) return 'none';
      return Array.isArray(value) ? lookAt(value, depth) : lookInto(value as Record<string, unknown>, depth);
    default:
      return 'none';
  }
}

function lookAt(items: readonly unknown[], depth: number): 'none' | 'named' | 'json' {
  let found: 'named' | 'json' = 'json';
  for (const item of items) {
    if (typeof item === 'string') continue;
    const seen = look(item, depth + 1);
    if (seen === 'none') return seen;
    if (seen === 'named') found = seen;
  }
  return found;
}

function lookInto(fields: Record<string, unknown>, depth: number): 'none' | 'named' | 'json' {
  if (!isPlain(fields)) return 'none';
  let found: 'named' | 'json' = 'json';
  for (const name of Object.keys(fields)) {
    if (name === '__proto__') found = 'named';
    const field = fields[name];
    if (typeof field === 'string') continue;
    const seen = look(field, depth + 1);
    if (seen === 'none') return seen;
    if (seen === 'named') found = seen;
  }
  return found;
}

function copied(value: unknown, depth: number): JsonValue | typeof NONE {
  switch (typeof value) {
    case 'string':
    case 'boolean':
      return value;
    case 'number':
      return Number.isFinite(value) ? value : NONE;
    case 'object':
      if (value === null) return null;
      if (depth === MAX_DEPTH) return NONE;
      return Array.isArray(value) ? copiedItems(value, depth) : copiedFields(value, depth);
    default:
      return NONE;
  }
}

function copiedItems(items: readonly unknown[], depth: number): JsonValue[] | typeof NONE {
  const copies: JsonValue[] = [];
  for (const item of items) {
    const copy = copied(item, depth + 1);
    if (copy === NONE) return NONE;
    copies.push(copy);
  }
  return copies;
}

function copiedFields(fields: object, depth: number): Record<string, JsonValue> | typeof NONE {
  if (!isPlain(fields)) return NONE;
  const names = Object.keys(fields);
  return names.length > MANY ? copiedMany(fields, names, depth) : copiedFew(fields, names, depth);
}

function copiedFew(
  fields: object,
  names: readonly string[],
  depth: number,
): Record<string, JsonValue> | typeof NONE {
  const copies: Record<string, JsonValue> = {};
  for (const name of names) {
    // The field would become the prototype of the copy.
    if (name === '__proto__') continue;
    const copy = copied((fields as Record<string, unknown>)[name], depth + 1);
    if (copy === NONE) return NONE;
    copies[name] = copy;
  }
  return copies;
}

/** Copies an object with many fields. A hash table that grows name by name takes several times as long. */
function copiedMany(
  fields: object,
  names: readonly string[],
  depth: number,
): Record<string, JsonValue> | typeof NONE {
  // These two are left out; the copied table has them.
  if (Object.hasOwn(fields, '__proto__') || Object.getOwnPropertySymbols(fields).length > 0)
    return copiedFew(fields, names, depth);
  const copies = { ...fields } as Record<string, JsonValue>;
  for (const name of names) {
    const field: unknown = copies[name];
    const copy = copied(field, depth + 1);
    if (copy === NONE) return NONE;
    if (copy !== field) copies[name] = copy;
  }
  return copies;
}

/** Whether it is no instance of a class; objects of another realm count as plain, too. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
