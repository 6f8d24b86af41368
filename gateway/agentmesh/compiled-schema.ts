import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { invalidOptions, reasonOf } from '../../runtime/protocol/errors.ts';
import { runWithin } from './run-within.ts';
import type { JsonSchema } from './standard-schemas.ts';
import { tooLarge } from './value-limits.ts';

/**
 * What is wrong with one value.
 *
 * - `path`       where it is, as a JSON pointer (RFC 6901).
 * - `schemaId`   the schema that it breaks, and in `schemaPath` the rule of it.
 */
export interface SchemaFault {
  readonly path: string;
  readonly message: string;
  readonly schemaId: string;
  readonly schemaPath: string;
}

/** What a schema finds wrong with a value: at most `MAX_FAULTS`. Throws if that takes too long, or cannot be found out. */
export type CheckBySchema = (value: unknown) => readonly SchemaFault[];

export const SCHEMA_LIMITS = { depth: 32, characters: 65_536 };
const MAX_FAULTS = 20;
const MAX_TEXT = 300;

const COMPILE_MS = 2_000;
const CHECK_MS = 250;

/** What a new schema is tried on, so that one that only refers to itself is found before it is used. */
const TRIALS: readonly unknown[] = [{}, [], '', 0, true, null];

/** Compiles a schema of ours. */
export function compileStandard(id: string, schema: JsonSchema): CheckBySchema {
  const validate = compiled(schema);
  return (value) => faultsBy(validate, id, value);
}

/**
 * Compiles a schema of somebody else's. It fetches nothing. A check that takes too long is ended, whatever the schema has in it.
 *
 * Throws INVALID_OPTIONS for what is no schema of Draft-07, for one that is too large, or that refers to another document or to
 * itself without an end.
 */
export function compileForeign(id: string, schema: unknown): CheckBySchema {
  const refuse = (expected: string): never => {
    throw invalidOptions('schema', schema, expected);
  };
  if (typeof schema !== 'object' || schema === null || Array.isArray(schema))
    return refuse('an object that is a JSON Schema');
  const size = tooLarge(schema, SCHEMA_LIMITS);
  if (size !== undefined) return refuse(`a smaller schema: ${size}`);
  const own = copyWithoutIds(schema as JsonSchema);
  if (own === undefined) return refuse('JSON, without $async');
  const check = guarded(id, own, refuse);
  for (const trial of TRIALS)
    try {
      check(trial);
    } catch (error) {
      refuse(`a schema that can be checked by: ${reasonOf(error)}`);
    }
  return check;
}

function guarded(id: string, schema: JsonSchema, refuse: (expected: string) => never): CheckBySchema {
  try {
    const validate = runWithin(COMPILE_MS, () => compiled(schema));
    return (value) => runWithin(CHECK_MS, () => faultsBy(validate, id, value));
  } catch (error) {
    return refuse(`a schema of Draft-07 that is whole in itself: ${reasonOf(error).slice(0, MAX_TEXT)}`);
  }
}

const OPTIONS = {
  strict: false,
  allErrors: true,
  validateFormats: false,
  inlineRefs: false,
  logger: false,
} as const;

let judge: Ajv | undefined;

/** Each schema has a compiler of its own: none can refer to another, and one that is cut off spoils none. */
function compiled(schema: JsonSchema): ValidateFunction {
  judge ??= new Ajv(OPTIONS);
  if (judge.validateSchema(schema) !== true) throw new Error(judge.errorsText(judge.errors));
  return new Ajv({ ...OPTIONS, meta: false, validateSchema: false }).compile(schema);
}

const DRAFT = 'http://json-schema.org/draft-07/schema';
/** It is often written with https, or without the #. */
const DRAFT_07 = /^https?:\/\/json-schema\.org\/draft-07\/schema#?$/;

/**
 * A copy, as JSON has it. The id of the document is left out: its references are to itself, whatever it calls itself. Undefined of
 * what is no JSON, or would be checked later than it is asked for.
 */
function copyWithoutIds(schema: JsonSchema): JsonSchema | undefined {
  try {
    const { $id, ...own } = JSON.parse(JSON.stringify(schema)) as JsonSchema;
    if (Object.hasOwn(own, '$async')) return undefined;
    return DRAFT_07.test(String(own['$schema'])) ? { ...own, $schema: `${DRAFT}#` } : own;
  } catch {
    return undefined;
  }
}

function faultsBy(validate: ValidateFunction, schemaId: string, value: unknown): SchemaFault[] {
  if (validate(value)) return [];
  const errors = validate.errors ?? [];
  // What it has found is not kept until the next check.
  validate.errors = null;
  return errors.slice(0, MAX_FAULTS).map((error) => faultOf(error, schemaId));
}

const faultOf = ({ instancePath, message, schemaPath }: ErrorObject, schemaId: string): SchemaFault => ({
  path: instancePath.slice(0, MAX_TEXT),
  message: (message ?? 'is not as the schema has it').slice(0, MAX_TEXT),
  schemaId,
  schemaPath: schemaPath.slice(0, MAX_TEXT),
});
