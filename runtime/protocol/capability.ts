import { z } from 'zod';
import type { CapabilityDescriptor } from './agent-card.ts';
import { issuesOf } from './agent-card.ts';
import { invalidOptions, invalidPayload } from './errors.ts';

/**
 * What an agent can be asked for, with the types of what it takes and gives.
 *
 * - `id`       dotted, such as `types.check`.
 * - `carries`  `json` (default) crosses threads as JSON columns; `structured` by structured clone, for what JSON
 *              cannot say: dates, maps, bytes, bigint.
 * - `readOnly` asking for it changes nothing.
 */
export interface Capability<Input = unknown, Output = unknown> {
  readonly id: string;
  readonly name: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly output: z.ZodType<Output>;
  readonly carries: 'json' | 'structured';
  readonly readOnly: boolean;
}

export interface CapabilityOptions<Input, Output> {
  readonly id: string;
  readonly name?: string;
  readonly description: string;
  readonly input: z.ZodType<Input>;
  readonly output: z.ZodType<Output>;
  readonly carries?: 'json' | 'structured';
  readonly readOnly?: boolean;
}

/** Declares a capability. Fails with INVALID_OPTIONS on an empty id, or on JSON carriage of a schema that JSON lacks. */
export function capability<Input, Output>(
  options: CapabilityOptions<Input, Output>,
): Capability<Input, Output> {
  const { id, description, input, output } = options;
  if (!/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/.test(id)) {
    throw invalidOptions('capability.id', id, 'a dotted id such as "types.check"');
  }
  const carries = options.carries ?? 'json';
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
    readOnly: options.readOnly ?? false,
  };
}

/** The capability as a card lists it, with JSON Schemas. */
export function describeCapability(declared: Capability): CapabilityDescriptor {
  const { id, name, description } = declared;
  return {
    id,
    name,
    description,
    inputSchema: schemaOf(declared.input),
    outputSchema: schemaOf(declared.output),
  };
}

/** The input if it fits the capability's schema; else throws INVALID_PAYLOAD naming field and fault. */
export function parseInput<Input>(declared: Capability<Input>, input: unknown): Input {
  const parsed = declared.input.safeParse(input);
  if (parsed.success) return parsed.data;
  throw invalidPayload(declared.id, issuesOf(parsed.error));
}

const schemaOf = (schema: z.ZodType): unknown =>
  z.toJSONSchema(schema, { unrepresentable: 'any', io: 'input' });

function requireJson(id: string, side: 'input' | 'output', schema: z.ZodType): void {
  if (schema instanceof z.ZodVoid || schema instanceof z.ZodUndefined) return;
  try {
    z.toJSONSchema(schema, { io: 'input' });
  } catch (error) {
    const reason = (error as Error).message;
    throw invalidOptions(
      `capability "${id}".${side}`,
      reason,
      "a schema that JSON can carry, or carries: 'structured'",
    );
  }
}
