import { AjvJsonSchemaValidator } from '@modelcontextprotocol/client/validators/ajv';

/** Schemas that are larger are not looked at: whatever they allow is allowed. */
const MAX_SCHEMA = 65_536;

/** Says what is wrong with a value; undefined when nothing is. */
export type Judge = (value: unknown) => string | undefined;

/** Judges by a JSON Schema of somebody else. One that cannot be understood allows everything. */
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

/** A regular expression of somebody else may take for ever on a text of theirs. */
function withoutPatterns(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(withoutPatterns);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([name, value]) => !(name === 'patternProperties' || (name === 'pattern' && typeof value === 'string')),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, withoutPatterns(value)]));
}
