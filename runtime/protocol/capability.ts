import { z } from 'zod';
import type { CapabilityDescriptor } from './agent-card.ts';
import { asyncPartOf } from './async-part.ts';
import { GivenCapability } from './capability-options.ts';
import { invalidOptions, invalidPayload, reasonOf, refused } from './errors.ts';
import { parseOptions } from './parse-options.ts';
import { faultsOf } from './payload-faults.ts';
import { annotationsOf, type ToolAnnotations, ToolContent } from './tool.ts';

/**
 * What an agent can be asked for, with the types of input and output.
 *
 * The asker sends an `Input` and gets an `Output`. The handler gets a `Parsed`, which the input schema makes of the input. It
 * returns a `Given`, of which the output schema makes the `Output`. The types differ if a schema has defaults or transforms.
 *
 * - `id`       dotted, such as `types.check`.
 * - `carries`  `json` (default) crosses threads as JSON columns; `structured` by structured clone, for what JSON
 *              cannot say: dates, maps, bytes, bigint.
 * - `answers`  `message`: over A2A it is answered with a message, without a task. @default 'task'
 * - `readOnly`, `destructive`, `idempotent`, `openWorld`, `privileged` as in `ToolAnnotations`; only `privileged` is
 *   checked.
 * - `edition`  change it when more has changed than these fields say: an approval is for one edition.
 */
export interface Capability<Input = unknown, Output = unknown, Parsed = Input, Given = Output>
  extends ToolAnnotations {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Parsed, Input>;
  readonly output: z.ZodType<Output, Given>;
  readonly carries: 'json' | 'structured';
  readonly answers?: 'message';
  readonly readOnly: boolean;
  readonly edition?: string;
}

export interface CapabilityOptions<Input, Output, Parsed = Input, Given = Output> extends ToolAnnotations {
  readonly id: string;
  readonly name?: string;
  readonly description: string;
  readonly input: z.ZodType<Parsed, Input>;
  readonly output: z.ZodType<Output, Given>;
  readonly carries?: 'json' | 'structured';
  readonly answers?: 'task' | 'message';
}

/**
 * Declares a capability. Fails with INVALID_OPTIONS naming field and value, also if it is carried as JSON and JSON lacks a type of
 * its schema, or if a schema has an async function.
 */
export function capability<Input, Output, Parsed, Given>(
  options: CapabilityOptions<Input, Output, Parsed, Given>,
): Capability<Input, Output, Parsed, Given> {
  parseOptions(GivenCapability, options, 'capability');
  const { id, description, input, output, carries = 'json', readOnly = false } = options;
  requireSync(id, 'input', input);
  requireSync(id, 'output', output);
  if (carries === 'json') {
    requireJson(id, 'input', input);
    requireJson(id, 'output', output);
  }
  return {
    id,
    name: options.name ?? id,
    description,
    input,
    output,
    carries,
    ...(options.answers === 'message' ? { answers: options.answers } : {}),
    ...annotationsOf(options),
    readOnly,
  };
}

/** The capability as a card lists it, with JSON Schemas. */
export function describeCapability(declared: Capability): CapabilityDescriptor {
  const { id, name, description } = declared;
  return {
    id,
    name,
    description,
    inputSchema: schemaOf(declared.input, 'input'),
    outputSchema: schemaOf(declared.output, 'output'),
    ...annotationsOf(declared),
    ...(declared.carries === 'json' ? {} : { carries: declared.carries }),
    ...(declared.answers === undefined ? {} : { answers: declared.answers }),
    ...((declared.output as unknown) === ToolContent ? { isContent: true } : {}),
  };
}

/** Parses an input by the capability's schema. Throws INVALID_PAYLOAD naming field and fault. */
export function parseInput<Parsed>(declared: Capability<unknown, unknown, Parsed>, input: unknown): Parsed {
  const parsed = parse(declared, 'input', declared.input, input);
  if (parsed.success) return parsed.data;
  throw invalidPayload(declared.id, faultsOf(parsed.error, input), parsed.thrown);
}

/** Parses an answer or chunk of `agentId` by the schema. Throws REFUSED naming field and fault. */
export function parseOutput<Output>(
  declared: Capability<unknown, Output>,
  output: unknown,
  agentId: string,
): Output {
  const parsed = parse(declared, 'output', declared.output, output);
  if (parsed.success) return parsed.data;
  const { id } = declared;
  const issues = faultsOf(parsed.error, output);
  throw refused(`The answer of ${agentId} does not fit "${id}": ${issues}`, {
    agentId,
    capability: id,
    issues,
    ...(parsed.thrown && { thrown: true }),
  });
}

/** Faults name the value as the schema saw it. */
const PARSING = { reportInput: true } as const;

/** The result of parsing. `thrown`: the code of the schema threw. */
type Parse<Result> =
  | { success: true; data: Result }
  | { success: false; error: z.ZodError; thrown?: boolean };

/** Parses a value. An error of the schema's code counts as a fault of the value, so that no payload ends an actor. */
function parse<Result>(
  { id }: Capability,
  side: 'input' | 'output',
  schema: z.ZodType<Result>,
  value: unknown,
): Parse<Result> {
  try {
    return schema.safeParse(value, PARSING);
  } catch (error) {
    if (error instanceof z.core.$ZodAsyncError)
      throw invalidOptions(sideOf(id, side), 'asynchronous', NO_PROMISES);
    const message = `Its schema throws: ${reasonOf(error)}`;
    const fault = new z.ZodError([{ code: 'custom', path: [], message, input: value }]);
    return { success: false, error: fault, thrown: true };
  }
}

const NO_PROMISES = 'a schema whose refinements and transforms return no promises';
const sideOf = (id: string, side: 'input' | 'output'): string => `capability "${id}".${side}`;

function requireSync(id: string, side: 'input' | 'output', schema: z.ZodType): void {
  const found = asyncPartOf(schema);
  if (found !== undefined) throw invalidOptions(sideOf(id, side), found, NO_PROMISES);
}

/** The JSON Schema of the values between agents: they go into the input schema, and come out of the output schema. */
const schemaOf = (schema: z.ZodType, io: 'input' | 'output'): unknown =>
  z.toJSONSchema(schema, { unrepresentable: 'any', io });

function requireJson(id: string, side: 'input' | 'output', schema: z.ZodType): void {
  if (schema instanceof z.ZodVoid || schema instanceof z.ZodUndefined) return;
  try {
    z.toJSONSchema(schema, { io: side });
  } catch (error) {
    const reason = (error as Error).message;
    // What a transform makes cannot be known.
    if (side === 'output' && reason.startsWith('Transforms')) return;
    throw invalidOptions(sideOf(id, side), reason, "a schema that JSON can carry, or carries: 'structured'");
  }
}
