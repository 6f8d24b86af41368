import { z } from 'zod';

/** The first async function in a schema's refinements and transforms, or undefined: one that only returns a promise hides. */
export function asyncPartOf(schema: z.ZodType): string | undefined {
  return inspect(schema, new Set());
}

function inspect(value: unknown, seen: Set<unknown>): string | undefined {
  if (typeof value === 'function') return value instanceof AsyncFunction ? nameOf(value) : undefined;
  if (typeof value !== 'object' || value === null || seen.has(value)) return undefined;
  seen.add(value);
  for (const part of partsOf(value)) {
    const found = inspect(part, seen);
    if (found !== undefined) return found;
  }
  return undefined;
}

/** What a schema, a check, or a list or record of them is made of; none where a lazy part cannot be made yet. */
function partsOf(value: object): readonly unknown[] {
  if (Array.isArray(value)) return value;
  try {
    if (value instanceof z.ZodLazy) return [value.unwrap()];
    const def = (value as { _zod?: { def?: object } })._zod?.def;
    if (def !== undefined) return READ.map((key) => (def as Record<string, unknown>)[key]);
    const prototype = Object.getPrototypeOf(value) as object | null;
    return prototype === null || prototype === Object.prototype ? Object.values(value) : [];
  } catch {
    return [];
  }
}

/** The fields of zod's definitions that hold schemas, checks or code; a default, for one, would be made by reading it. */
const READ = [
  'checks',
  'fn',
  'transform',
  'reverseTransform',
  'in',
  'out',
  'innerType',
  'shape',
  'catchall',
  'element',
  'items',
  'rest',
  'options',
  'left',
  'right',
  'keyType',
  'valueType',
];
const AsyncFunction = (async () => undefined).constructor as new () => object;
const nameOf = (found: object): string =>
  `an async function ${(found as { name?: string }).name ?? ''}`.trim();
