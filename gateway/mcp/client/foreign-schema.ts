import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

/** The largest schema that is compiled, characters. A larger one allows everything. */
const MAX_SCHEMA = 65_536;

/** Says what is wrong with a value; undefined if it is valid. */
export type Judge = (value: unknown) => string | undefined;

/** Makes a validator of a server's JSON Schema. A schema that cannot be compiled allows everything. */
export function judgeBy(schema: unknown): Judge {
  if (typeof schema !== 'object' || schema === null) return () => undefined;
  try {
    if (JSON.stringify(schema).length > MAX_SCHEMA) return () => undefined;
    const validate = new AjvJsonSchemaValidator().getValidator(withoutPatterns(schema) as never);
    return (value) => {
      const judged = validate(value);
      return judged.valid ? undefined : (judged.errorMessage ?? 'it does not fit the schema');
    };
  } catch {
    return () => undefined;
  }
}

/** Removes regular expressions: a server could choose one that takes for ever on its own text. */
function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== 'object' || schema === null) return schema;
  const allowed = Object.entries(schema).filter(
    ([name, value]) => !(name === 'patternProperties' || (name === 'pattern' && typeof value === 'string')),
  );
  return Object.fromEntries(allowed.map(([name, value]) => [name, withoutPatterns(value)]));
}
