import type { CapabilityDescriptor } from '../../runtime/protocol/agent-card.ts';
import { hashOf } from '../../runtime/protocol/approval.ts';
import { type Capability, capability, describeCapability } from '../../runtime/protocol/capability.ts';
import type { McpTool } from '../../runtime/protocol/mcp-link.ts';
import { ToolContent } from '../../runtime/protocol/tool.ts';
import { idOfName } from './tool-name.ts';
import { z } from 'zod';

/** A tool of an MCP server, as a capability and on the card. */
export interface MountedTool {
  readonly tool: McpTool;
  readonly capability: Capability;
  readonly descriptor: CapabilityDescriptor;
}

/** Makes a capability of a tool. `isPrivileged`: tainted work needs an approval for it. */
export function mountedTool(tool: McpTool, isPrivileged: boolean): MountedTool {
  const { name, title, description, annotations, inputSchema, outputSchema } = tool;
  const made = capability({
    id: idOfName(name),
    name: title ?? name,
    description,
    input: toolInput(inputSchema),
    output: ToolContent,
    ...annotations,
    ...(isPrivileged ? { privileged: true } : {}),
  }) as unknown as Capability;
  // Changes with anything that the server says about the tool, even under the same name.
  const edition = hashOf([name, title ?? null, description, annotations, inputSchema, outputSchema ?? null]);
  const declared: Capability = { ...made, edition };
  const descriptor = {
    ...describeCapability(declared),
    inputSchema: shownSchema(inputSchema),
    // The schema of `structured` in `ToolContent`, which every tool answers with.
    outputSchema: outputSchema === undefined ? {} : shownSchema(outputSchema),
  };
  return { tool, capability: declared, descriptor };
}

/** The largest schema that is compiled or shown, characters. */
const MAX_SCHEMA = 65_536;

/** Any arguments: an object, or nothing. */
const Arguments = z.record(z.string(), z.json()).optional();

/**
 * Makes a validator of a tool's input from the server's JSON Schema. Invalid input is refused naming the field, and is not
 * sent; valid input is sent unchanged. If the schema is too large, or zod cannot express it, any arguments are accepted, and
 * the server judges.
 */
export function toolInput(schema: unknown): z.ZodType {
  const made = zodOf(schema);
  if (made === undefined) return Arguments;
  return z.unknown().superRefine((value, ctx) => {
    const judged = made.safeParse(value ?? {}, { reportInput: true });
    if (judged.success) return;
    for (const issue of judged.error.issues) ctx.addIssue({ ...issue });
  });
}

/** The schema for the card; if it is too large, one that allows any object. */
export const shownSchema = (schema: unknown): unknown => (fits(schema) ? schema : { type: 'object' });

function zodOf(schema: unknown): z.ZodType | undefined {
  if (!fits(schema)) return undefined;
  try {
    return z.fromJSONSchema(plain(schema) as Parameters<typeof z.fromJSONSchema>[0]);
  } catch {
    return undefined;
  }
}

function fits(schema: unknown): boolean {
  if (typeof schema !== 'object' || schema === null) return false;
  try {
    return JSON.stringify(schema).length <= MAX_SCHEMA;
  } catch {
    return false;
  }
}

/** Removes regular expressions, which may take for ever, and defaults, which would add arguments that nobody sent. */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain);
  if (typeof schema !== 'object' || schema === null) return schema;
  const allowed = Object.entries(schema).filter(
    ([name, value]) => name !== 'patternProperties' && !(LEFT_OUT.has(name) && typeof value !== 'object'),
  );
  return Object.fromEntries(allowed.map(([name, value]) => [name, plain(value)]));
}

const LEFT_OUT: ReadonlySet<string> = new Set(['pattern', 'format', '$schema', 'default']);
