import { z } from 'zod';
import { ERROR_CODES } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { ToolInvocation } from '../../runtime/protocol/tool.ts';

/** One call of a tool as JSON. What was too large to keep is `{ omitted, bytes }`. */
export const ToolInvocationRecord = z.strictObject({
  tool: z.string(),
  agentId: z.string(),
  arguments: z.json(),
  result: z.json().optional(),
  error: z
    .strictObject({
      code: z.enum(ERROR_CODES),
      message: z.string(),
      agentId: z.string(),
      details: z.record(z.string(), z.json()).optional(),
    })
    .optional(),
  startedAtMs: z.number(),
  durationMs: z.number().nonnegative(),
});

/** The record as JSON text. */
export const serialiseInvocation = (record: ToolInvocation): string => JSON.stringify(record);

/** Reads `serialiseInvocation`'s text. Fails with INVALID_OPTIONS naming field and value. */
export function deserialiseInvocation(text: string): ToolInvocation {
  let parsed: unknown;
  try {
    parsed = JSON.parse(text);
  } catch {
    parsed = text;
  }
  parseOptions(ToolInvocationRecord, parsed, 'invocation');
  return parsed as ToolInvocation;
}
