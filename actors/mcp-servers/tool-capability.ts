import type { CapabilityDescriptor } from '../../runtime/protocol/agent-card.ts';
import { hashOf } from '../../runtime/protocol/approval.ts';
import { type Capability, capability, describeCapability } from '../../runtime/protocol/capability.ts';
import type { McpTool } from '../../runtime/protocol/mcp-link.ts';
import { ToolContent } from '../../runtime/protocol/tool.ts';
import { idOfName } from './tool-name.ts';
import { z } from 'zod';

/** A tool of an MCP server as a capability here, and what the card says of it. */
export interface MountedTool {
  readonly tool: McpTool;
  readonly capability: Capability;
  readonly descriptor: CapabilityDescriptor;
}

/** `isPrivileged`: what came from outside does not reach it without approval. */
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
  // All that its server says of it, which may say something else under the same name.
  const edition = hashOf([name, title ?? null, description, annotations, inputSchema, outputSchema ?? null]);
  const declared: Capability = { ...made, edition };
  const descriptor = {
    ...describeCapability(declared),
    inputSchema: shownSchema(inputSchema),
    // What it answers is `ToolContent`, as the card says beside; here stands what `structured` is in it.
    outputSchema: outputSchema === undefined ? {} : shownSchema(outputSchema),
  };
  return { tool, capability: declared, descriptor };
}

/** Schemas that are larger are not looked at here. */
const MAX_SCHEMA = 65_536;

/** Arguments are named; there may be none. */
const Arguments = z.record(z.string(), z.json()).optional();

/**
 * What a tool takes, by a JSON Schema of somebody else: refused here, naming the field, before it is sent. What it takes is sent
 * as it is. Where the schema is too large, or says what zod has no words for, any arguments are taken, and its server judges.
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

/** The schema as it stands on a card; one that is too large says only that arguments are named. */
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

/** Without what may take for ever on a text of theirs, and without what would put something in that nobody has sent. */
function plain(schema: unknown): unknown {
  if (Array.isArray(schema)) return schema.map(plain);
  if (typeof schema !== 'object' || schema === null) return schema;
  const kept = Object.entries(schema).filter(
    ([name, value]) => name !== 'patternProperties' && !(LEFT_OUT.has(name) && typeof value !== 'object'),
  );
  return Object.fromEntries(kept.map(([name, value]) => [name, plain(value)]));
}

const LEFT_OUT: ReadonlySet<string> = new Set(['pattern', 'format', '$schema', 'default']);
