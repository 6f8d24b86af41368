import { isObject } from '../../http/json-text.ts';

/** A result as it goes over the wire. */
export type Result = Record<string, unknown>;

type Schema = Readonly<Record<string, unknown>>;

/** Whether JSON Schema says that it describes objects. */
export const isObjectSchema = (schema: unknown): schema is Schema =>
  isObject(schema) && schema['type'] === 'object';

/** Whether JSON Schema says nothing at all. */
export const isAnySchema = (schema: unknown): boolean =>
  schema === undefined ||
  schema === true ||
  (isObject(schema) && Object.keys(schema).every((key) => key === '$schema'));

const ROOT_REFERENCE = /"\$ref":"#"/;

/**
 * The schema of an object with one field of this schema; undefined where that would change what it means. Definitions move to
 * the root, where references look for them.
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
