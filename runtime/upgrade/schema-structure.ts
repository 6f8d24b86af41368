import { isDeepStrictEqual } from 'node:util';
import { z } from 'zod';

const NOT_STRUCTURE: ReadonlySet<string> = new Set(['$schema', 'title', 'description', 'examples']);
/** Under these stand schemas by names, which may be any words. */
const NAMED: ReadonlySet<string> = new Set(['properties', 'patternProperties', '$defs']);
/** Under these stand values. */
const VALUES: ReadonlySet<string> = new Set(['const', 'enum', 'default']);

/** What values a schema takes, as JSON: neither what it says of them nor the order of fields makes a difference. */
export const schemaStructure = (schema: z.ZodType): unknown =>
  structure(z.toJSONSchema(schema, { unrepresentable: 'any', io: 'output' }), false);

/** Says whether the schema surely takes the values that it gives: none of it makes something else of what it is given. */
export function takesWhatItGives(schema: z.ZodType): boolean {
  const written = (io: 'input' | 'output'): unknown => {
    const whole = structure(z.toJSONSchema(schema, { unrepresentable: 'throw', io }), false);
    // A field with a default may be missing before and not after, and a field too many is dropped.
    return JSON.parse(JSON.stringify(whole), (key, value: unknown) =>
      key === 'required' || (key === 'additionalProperties' && value === false) ? undefined : value,
    ) as unknown;
  };
  try {
    return isDeepStrictEqual(written('input'), written('output'));
  } catch {
    return false;
  }
}

function structure(schema: unknown, isNamed: boolean): unknown {
  if (Array.isArray(schema)) return schema.map((one) => structure(one, false));
  if (typeof schema !== 'object' || schema === null) return schema;
  const fields = Object.entries(schema).filter(([key]) => isNamed || !NOT_STRUCTURE.has(key));
  return Object.fromEntries(
    fields.map(([key, value]) => [key, isNamed ? structure(value, false) : keyword(key, value)]),
  );
}

function keyword(key: string, value: unknown): unknown {
  if (key === 'required' && Array.isArray(value)) return [...value].sort();
  return VALUES.has(key) ? value : structure(value, NAMED.has(key));
}
