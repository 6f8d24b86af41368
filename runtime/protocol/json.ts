/** A value that JSON cannot carry: its path, such as `payload.items[3].at`, and its kind. */
export interface Unserialisable {
  readonly path: string;
  readonly kind: string;
}

const MAX_DEPTH = 1_000;

/**
 * The first value that JSON would drop, change or refuse, or undefined when there is none.
 *
 * Such are functions, symbols, bigint, NaN and the infinities, undefined and holes in arrays, instances of classes (Date,
 * Map, Set, bytes, ...) and circles. An object's undefined field is absent in JSON and counts as absent here.
 */
export function findUnserialisable(value: unknown, root = 'value'): Unserialisable | undefined {
  try {
    return isCarried(value, MAX_DEPTH) ? undefined : inspect(value, root, []);
  } catch {
    return { path: root, kind: 'a value that throws when it is read' };
  }
}

/** Whether JSON can carry it: `inspect`, which takes several times as long, would find nothing. */
function isCarried(value: unknown, depth: number): boolean {
  if (typeof value !== 'object' || value === null)
    return typeof value === 'number' ? Number.isFinite(value) : kindOf(value) === undefined;
  if (depth === 0 || !isPlain(value)) return false;
  if (Array.isArray(value)) {
    for (const item of value) if (item === undefined || !isCarried(item, depth - 1)) return false;
    return true;
  }
  if (Object.getOwnPropertySymbols(value).length > 0) return false;
  // To list the names would cost more than to look at the values, and most values are texts.
  for (const key in value) {
    const item: unknown = (value as Record<string, unknown>)[key];
    if (typeof item !== 'string' && !isCarried(item, depth - 1)) return false;
  }
  return true;
}

function inspect(value: unknown, path: string, above: object[]): Unserialisable | undefined {
  const kind = kindOf(value);
  if (kind !== undefined) return { path, kind };
  if (typeof value !== 'object' || value === null) return undefined;
  if (above.includes(value)) return { path, kind: 'a circular reference' };
  if (above.length === MAX_DEPTH) return { path, kind: `nesting deeper than ${MAX_DEPTH} levels` };
  above.push(value);
  const found = Array.isArray(value) ? inspectItems(value, path, above) : inspectFields(value, path, above);
  above.pop();
  return found;
}

function inspectItems(items: readonly unknown[], path: string, above: object[]): Unserialisable | undefined {
  for (let index = 0; index < items.length; index++) {
    const item = items[index];
    if (item === undefined) return { path: `${path}[${index}]`, kind: 'undefined' };
    if (isPlainScalar(item)) continue;
    const found = inspect(item, `${path}[${index}]`, above);
    if (found !== undefined) return found;
  }
  return undefined;
}

function inspectFields(fields: object, path: string, above: object[]): Unserialisable | undefined {
  if (Object.getOwnPropertySymbols(fields).length > 0) return { path, kind: 'a field named by a symbol' };
  for (const [key, item] of Object.entries(fields)) {
    if (item === undefined || isPlainScalar(item)) continue;
    const found = inspect(item, `${path}.${key}`, above);
    if (found !== undefined) return found;
  }
  return undefined;
}

const isPlainScalar = (value: unknown): boolean =>
  typeof value === 'string' || typeof value === 'boolean' || value === null || Number.isFinite(value);

function kindOf(value: unknown): string | undefined {
  switch (typeof value) {
    case 'bigint':
      return 'a bigint';
    case 'function':
      return 'a function';
    case 'symbol':
      return 'a symbol';
    case 'number':
      return Number.isFinite(value) ? undefined : String(value);
    case 'object':
      return value === null || isPlain(value) ? undefined : `an instance of ${nameOf(value)}`;
    default:
      return undefined;
  }
}

/** Whether it is an array, or an object whose prototype is a root one. Those of another realm count, too. */
function isPlain(value: object): boolean {
  if (Array.isArray(value)) return true;
  const prototype = Object.getPrototypeOf(value) as object | null;
  return prototype === Object.prototype || prototype === null || Object.getPrototypeOf(prototype) === null;
}

const nameOf = (value: object): string =>
  (Object.getPrototypeOf(value) as { constructor?: { name?: string } }).constructor?.name || 'a class';

/** The most levels of nesting: more than anybody means. A reader of many more would run out of stack. */
export const MAX_JSON_DEPTH = 100;

/** Whether lists and objects are nested deeper than `maxDepth` levels. It looks no deeper than that. */
export function isDeeperThan(value: unknown, maxDepth = MAX_JSON_DEPTH): boolean {
  if (!isNest(value)) return false;
  if (maxDepth === 0) return true;
  if (Array.isArray(value)) {
    for (const item of value) if (isNest(item) && isDeeperThan(item, maxDepth - 1)) return true;
    return false;
  }
  // To list the values would cost more than to look at them.
  for (const name of Object.keys(value)) {
    const item: unknown = (value as Record<string, unknown>)[name];
    if (isNest(item) && isDeeperThan(item, maxDepth - 1)) return true;
  }
  return false;
}

/** Whether a number in it reads as infinity, such as 1e999. The value must not be nested too deeply. */
export function holdsInfinity(value: unknown): boolean {
  if (typeof value === 'number') return !Number.isFinite(value);
  if (!isNest(value)) return false;
  if (Array.isArray(value)) return value.some(holdsInfinity);
  return Object.keys(value).some((name) => holdsInfinity((value as Record<string, unknown>)[name]));
}

/** Parses a text. Throws SyntaxError if it is no JSON, or nested deeper than `MAX_JSON_DEPTH`. */
export function parseShallowJson(text: string): unknown {
  const value: unknown = JSON.parse(text);
  if (isDeeperThan(value)) throw new SyntaxError(`It is nested deeper than ${MAX_JSON_DEPTH} levels`);
  return value;
}

const isNest = (value: unknown): value is object => typeof value === 'object' && value !== null;

/**
 * A copy of a value that JSON can carry (see `findUnserialisable`). For small values `structuredClone` takes several times as
 * long.
 */
export function copyJson(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  if (Array.isArray(value)) return value.map(copyJson);
  const copy: Record<string, unknown> = {};
  for (const [name, item] of Object.entries(value)) {
    const copied = copyJson(item);
    // To assign this field would set the copy's prototype.
    if (name === '__proto__')
      Object.defineProperty(copy, name, {
        value: copied,
        enumerable: true,
        configurable: true,
        writable: true,
      });
    else copy[name] = copied;
  }
  return copy;
}

/** Parses a text; undefined if it is no JSON. */
export function jsonOf(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}
