/** The field that holds the input of a tool that takes no object, where a protocol wants one. */
export const INPUT_FIELD = 'input';

/** The field that holds the output of a tool that gives no object. */
export const RESULT_FIELD = 'result';

const isObject = (value: unknown): value is Schema =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

type Schema = Readonly<Record<string, unknown>>;

/** Whether a JSON Schema is of `type: "object"`. */
export const isObjectSchema = (schema: unknown): schema is Schema =>
  isObject(schema) && schema['type'] === 'object';

/** Whether a JSON Schema allows every value. */
const isAnySchema = (schema: unknown): boolean =>
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

/** Whether a tool with this input schema takes an object as it is, without `INPUT_FIELD`. */
export const takesObject = (inputSchema: unknown): boolean =>
  isObjectSchema(inputSchema) || isAnySchema(inputSchema);

/** The input schema of a tool, as that of an object. */
export function inputSchemaOf(inputSchema: unknown): Schema {
  if (isObjectSchema(inputSchema)) return inputSchema;
  if (isAnySchema(inputSchema)) return { type: 'object' };
  return schemaOfField(INPUT_FIELD, inputSchema) ?? { type: 'object', required: [INPUT_FIELD] };
}
