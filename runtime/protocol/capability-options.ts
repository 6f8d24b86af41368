import { z } from 'zod';
import type { Capability } from './capability.ts';
import { invalidOptions } from './errors.ts';
import { ToolAnnotations } from './tool.ts';

/** Whether a value is a schema, of any copy of zod 4 or of zod mini. */
const isSchema = (value: unknown): boolean =>
  typeof value === 'object' &&
  value !== null &&
  '_zod' in value &&
  typeof (value as { safeParse?: unknown }).safeParse === 'function';

const Schema = z.custom<z.ZodType>(isSchema, 'a zod schema');
const DOTTED = 'a dotted id such as "types.check"';

/** What a capability may be declared with. */
export const GivenCapability = z.strictObject({
  id: z.string(DOTTED).regex(/^[A-Za-z0-9_-]+(\.[A-Za-z0-9_-]+)*$/, DOTTED),
  name: z.string().min(1).optional(),
  description: z.string(),
  input: Schema,
  output: Schema,
  carries: z.enum(['json', 'structured']).optional(),
  answers: z.enum(['task', 'message']).optional(),
  ...ToolAnnotations.shape,
});

/** Returns a capability, made by any copy of the package. Throws INVALID_OPTIONS naming `field` if the value is none. */
export function requireCapability(field: string, value: unknown): Capability {
  if (typeof value === 'object' && value !== null) {
    const { id, input, output } = value as Partial<Capability>;
    if (typeof id === 'string' && isSchema(input) && isSchema(output)) return value as Capability;
  }
  throw invalidOptions(field, value, 'a capability, as made by capability()');
}
