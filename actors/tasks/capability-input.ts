import { z } from 'zod';
import type { CapabilityDescriptor } from '../../runtime/protocol/agent-card.ts';
import { invalidPayload } from '../../runtime/protocol/errors.ts';
import { jsonOf } from '../../runtime/protocol/json-text.ts';
import { isObject, type SaidWords } from './capability-meant.ts';
import type { Json } from './task-log.ts';
import { faultsOf } from '../../runtime/protocol/payload-faults.ts';

/** A field that a capability needs, and was not given. */
export interface LackingField {
  readonly name: string;
  readonly description?: string;
  readonly schema: Json;
}

/** What a capability is to be given, as far as it is known; nothing is `lacking` when that is all of it. */
export interface PlannedInput {
  readonly input: Json;
  readonly lacking: readonly LackingField[];
}

/** What of a JSON Schema matters for who says something in words. */
interface ObjectSchema {
  readonly properties: { readonly [name: string]: Json };
  readonly required: readonly string[];
}

/**
 * What a capability is given of a message: its arguments; or its text, where the capability takes text, or an object with
 * one required text, or what the text says as JSON. Throws INVALID_PAYLOAD when it takes nothing that was said.
 */
export function inputOf({ id, inputSchema }: CapabilityDescriptor, words: SaidWords): PlannedInput {
  const schema = inputSchema as Json;
  const object = objectSchemaOf(schema);
  const given = words.arguments ?? (words.tool === undefined ? words.data : {});
  if (object !== undefined && (isObject(given) || given === undefined)) {
    const text = words.tool === undefined ? words.text : undefined;
    return given === undefined ? ofText(id, schema, object, text) : withText(object, given, text);
  }
  if (given !== undefined && (words.tool === undefined || words.arguments !== undefined)) return whole(given);
  if (words.text !== undefined && takesText(schema)) return whole(words.text);
  const said = words.text === undefined ? undefined : jsonIn(words.text);
  if (said !== undefined && fits(schema, said)) return whole(said);
  throw invalidPayload(id, 'it is given nothing that it takes');
}

/** What was lacking, with what was said to that. */
export function completed(
  { inputSchema }: CapabilityDescriptor,
  former: Json,
  words: Omit<SaidWords, 'tool'>,
): PlannedInput {
  const object = objectSchemaOf(inputSchema as Json) ?? { properties: {}, required: [] };
  const known = isObject(former) ? former : {};
  const said = words.arguments ?? words.data ?? (words.text === undefined ? undefined : jsonIn(words.text));
  if (isObject(said)) return planned(object, { ...known, ...said });
  const [field, ...others] = planned(object, known).lacking;
  if (field === undefined || others.length > 0 || words.text === undefined) return planned(object, known);
  return planned(object, { ...known, [field.name]: readAs(words.text, field.schema) });
}

/** What a text says where a value of this schema is wanted. */
export function readAs(text: string, schema: Json): Json {
  if (takesText(schema)) return text;
  const said = jsonIn(text.trim());
  if (said !== undefined && fits(schema, said)) return said;
  const word = text.trim().toLowerCase();
  if (typeOf(schema) === 'boolean' && (word === 'yes' || word === 'no')) return word === 'yes';
  return text;
}

/** Says why a value is none of this schema; undefined when it is one, or nobody can tell. */
export function faultOf(schema: Json, value: Json): string | undefined {
  const parsed = parserOf(schema)?.safeParse(value);
  return parsed === undefined || parsed.success ? undefined : faultsOf(parsed.error, value);
}

function ofText(id: string, schema: Json, object: ObjectSchema, text: string | undefined): PlannedInput {
  const { properties, required } = object;
  if (text === undefined) return planned(object, {});
  const names = required.length > 0 ? required : Object.keys(properties);
  const [only, ...others] = names;
  if (only !== undefined && others.length === 0 && takesText(properties[only] ?? {}))
    return planned(object, { [only]: text });
  const said = jsonIn(text);
  if (isObject(said) && fits(schema, said)) return planned(object, said);
  // Without fields there is nothing that a text could be lost for.
  if (required.length > 0 || names.length === 0) return planned(object, {});
  throw invalidPayload(id, `it takes ${names.join(', ')}, and no text`);
}

/** Beside data a text is the one text that is lacking. */
function withText(
  object: ObjectSchema,
  given: { readonly [name: string]: Json },
  text: string | undefined,
): PlannedInput {
  const plan = planned(object, given);
  const [field, ...others] = plan.lacking;
  if (text === undefined || field === undefined || others.length > 0 || !takesText(field.schema)) return plan;
  return planned(object, { ...given, [field.name]: text });
}

function planned(
  { properties, required }: ObjectSchema,
  input: { readonly [name: string]: Json },
): PlannedInput {
  const lacking = required
    .filter((name) => !Object.hasOwn(input, name))
    .map((name): LackingField => {
      const schema = properties[name] ?? {};
      const description = isObject(schema) ? schema['description'] : undefined;
      return { name, schema, ...(typeof description === 'string' ? { description } : {}) };
    });
  return { input, lacking };
}

const whole = (input: Json): PlannedInput => ({ input, lacking: [] });

function objectSchemaOf(schema: Json): ObjectSchema | undefined {
  if (!isObject(schema) || schema['type'] !== 'object') return undefined;
  const { properties, required } = schema;
  return {
    properties: isObject(properties) ? properties : {},
    required: Array.isArray(required) ? required.filter((name) => typeof name === 'string') : [],
  };
}

const typeOf = (schema: Json): unknown => (isObject(schema) ? schema['type'] : undefined);

/** Text, one of several things, or anything. */
function takesText(schema: Json): boolean {
  if (!isObject(schema)) return schema === true;
  const { type, anyOf, enum: values } = schema;
  if (type === 'string') return values === undefined;
  if (Array.isArray(type)) return type.includes('string');
  if (Array.isArray(anyOf)) return anyOf.some(takesText);
  return (
    type === undefined &&
    !('const' in schema) &&
    !('$ref' in schema) &&
    !('allOf' in schema) &&
    !('enum' in schema)
  );
}

const fits = (schema: Json, value: Json): boolean => parserOf(schema)?.safeParse(value).success === true;

/** Undefined for a schema that says what this cannot check. */
function parserOf(schema: Json): z.ZodType | undefined {
  try {
    return z.fromJSONSchema(schema as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return undefined;
  }
}

const jsonIn = (text: string): Json | undefined => jsonOf(text) as Json | undefined;
