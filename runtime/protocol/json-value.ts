import { z } from 'zod';

/** What JSON can say. */
export type JsonValue = z.core.util.JSONType;

/** More levels than JSON of anybody's has, and fewer than whoever reads them has stack for. */
const MAX_DEPTH = 1_000;

/** Says that something is no JSON. */
const NONE = Symbol('no JSON');

/**
 * Anything that JSON can say, as a copy. As `z.json()`, but in one step: to that, each list and object is a schema of its own
 * that may hold itself, which costs a table for each of them in every parse, also of whatever they stand in.
 */
export const JsonValue = z.custom<JsonValue>().transform((value, context): JsonValue => {
  const copy = copied(value, 0);
  if (copy !== NONE) return copy;
  context.addIssue({ code: 'custom', message: 'what JSON can say', input: value });
  return z.NEVER;
});

/** As many of them as there are, by name. */
export const JsonFields = z.record(z.string(), JsonValue);

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
  const copies: Record<string, JsonValue> = {};
  for (const [name, field] of Object.entries(fields)) {
    // It would be what the copy is made after.
    if (name === '__proto__') continue;
    const copy = copied(field, depth + 1);
    if (copy === NONE) return NONE;
    copies[name] = copy;
  }
  return copies;
}

/** Made by nobody's class; from another realm as well. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || Object.getPrototypeOf(prototype) === null;
}
