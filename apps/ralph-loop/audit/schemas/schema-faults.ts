/** What is wrong in a JSON Schema, at which keys. */
export interface SchemaFault {
  readonly rule: string;
  readonly message: string;
  readonly path: readonly (string | number)[];
}

type JsonObject = Readonly<Record<string, unknown>>;

/** Below these stands data. */
const DATA = new Set(['enum', 'const', 'default', 'examples', 'example']);
/** Their keys are names, not keywords. */
const MAPS = new Set([
  'properties',
  'patternProperties',
  'definitions',
  '$defs',
  'dependentSchemas',
  'dependencies',
  'dependentRequired',
]);

const isObject = (value: unknown): value is JsonObject =>
  typeof value === 'object' && value !== null && !Array.isArray(value);

interface PlacedSchema {
  readonly schema: JsonObject;
  readonly path: readonly (string | number)[];
  /** A schema around it has an address of its own, which references start from. */
  readonly isRebased: boolean;
}

function* schemasIn({ schema, path, isRebased }: PlacedSchema): Generator<PlacedSchema> {
  yield { schema, path, isRebased };
  for (const [key, value] of Object.entries(schema)) {
    if (DATA.has(key) || key.startsWith('x-')) continue;
    for (const [further, inner] of schemasUnder(key, value)) {
      const isOwn = isRebased || typeof inner['$id'] === 'string' || typeof inner['id'] === 'string';
      yield* schemasIn({ schema: inner, path: [...path, ...further], isRebased: isOwn });
    }
  }
}

function* schemasUnder(key: string, value: unknown): Generator<[path: (string | number)[], JsonObject]> {
  if (Array.isArray(value)) {
    for (const [index, one] of value.entries()) if (isObject(one)) yield [[key, index], one];
  } else if (isObject(value)) {
    if (!MAPS.has(key)) yield [[key], value];
    else for (const [name, one] of Object.entries(value)) if (isObject(one)) yield [[key, name], one];
  }
}

const everySchema = (root: JsonObject): Generator<PlacedSchema> =>
  schemasIn({ schema: root, path: [], isRebased: false });

/** References into the same document that lead nowhere. */
export function danglingRefs(root: JsonObject): SchemaFault[] {
  return [...everySchema(root)].flatMap(({ schema, path, isRebased }) => {
    const ref = schema['$ref'];
    if (typeof ref !== 'string' || isRebased || !ref.startsWith('#/') || leads(ref, root)) return [];
    return [
      { rule: 'schema.dangling-ref', message: `There is no ${ref} in the schema`, path: [...path, '$ref'] },
    ];
  });
}

function leads(ref: string, root: JsonObject): boolean {
  let at: unknown = root;
  for (const part of ref.slice(2).split('/')) {
    const key = decoded(part).replaceAll('~1', '/').replaceAll('~0', '~');
    if (typeof at !== 'object' || at === null || !Object.hasOwn(at, key)) return false;
    at = (at as JsonObject)[key];
  }
  return true;
}

function decoded(part: string): string {
  try {
    return decodeURIComponent(part);
  } catch {
    // A lone percent sign stands for itself.
    return part;
  }
}

/** Required properties that the same schema does not allow. */
export function impossibleRequired(root: JsonObject): SchemaFault[] {
  return [...everySchema(root)].flatMap(({ schema, path }) => {
    const { required, properties = {}, additionalProperties, patternProperties, $ref } = schema;
    if (additionalProperties !== false || patternProperties !== undefined || $ref !== undefined) return [];
    if (!Array.isArray(required) || !isObject(properties)) return [];
    return required.flatMap((name: unknown, index): SchemaFault[] => {
      if (typeof name !== 'string' || Object.hasOwn(properties, name)) return [];
      const message = `${name} is required, and additionalProperties: false does not allow it`;
      return [{ rule: 'schema.impossible-required', message, path: [...path, 'required', index] }];
    });
  });
}

/** Patterns that are no regular expressions. */
export function wrongPatterns(root: JsonObject): SchemaFault[] {
  return [...everySchema(root)].flatMap(({ schema: { pattern, patternProperties }, path }) => {
    const named = isObject(patternProperties) ? Object.keys(patternProperties) : [];
    const patterns: [string, (string | number)[]][] = named.map((one) => [one, ['patternProperties', one]]);
    if (typeof pattern === 'string') patterns.push([pattern, ['pattern']]);
    return patterns.flatMap(([text, keys]): SchemaFault[] => {
      if (isPattern(text)) return [];
      const message = `${text} is no regular expression`;
      return [{ rule: 'schema.not-a-schema', message, path: [...path, ...keys] }];
    });
  });
}

/** With or without the flag for Unicode: people write for either. */
function isPattern(text: string): boolean {
  return ['u', ''].some((flags) => {
    try {
      return new RegExp(text, flags) instanceof RegExp;
    } catch {
      // A syntax error is the answer.
      return false;
    }
  });
}
