import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import { ToolInvocation } from '../../runtime/protocol/tool.ts';

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
  return parseOptions(ToolInvocation, parsed as never, 'invocation');
}
