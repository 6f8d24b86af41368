import { isObject } from '../../http/json-text.ts';

/** A result of MCP, as JSON. */
export type Result = Record<string, unknown>;

type Schema = Readonly<Record<string, unknown>>;

/** Whether a JSON Schema is of `type: "object"`. */
export const isObjectSchema = (schema: unknown): schema is Schema =>
  isObject(schema) && schema['type'] === 'object';

/** Whether a JSON Schema allows every value. */
export const isAnySchema = (schema: unknown): boolean =>
  schema === undefined ||
  schema === true ||
  (isObject(schema) && Object.keys(schema).every((key) => key === '$schema'));

const ROOT_REFERENCE = /"\$ref":"#"/;

/**
 * Wraps a schema in that of an object with one field. Definitions move to the root, where references look for them. Undefined
 * if the schema refers to its own root, which would be another one then.
 */
export function schemaOfField(field: string, schema: unknown): Schema | undefined {
  if (!isObject(schema)) return { type: 'object', properties: { [field]: {} }, required: [field] };
  if (ROOT_REFERENCE.test(JSON.stringify(schema))) return undefined;
  const { $schema, $defs, definitions, ...inner } = schema;
  return {
    ...($schema === undefined ? {} : { $schema }),
    type: 'object',
    properties: { [field]: inner },
    required: [field],
    ...($defs === undefined ? {} : { $defs }),
    ...(definitions === undefined ? {} : { definitions }),
  };
}
