import type { CapabilityDescriptor } from '../../runtime/protocol/agent-card.ts';
import { hashOf } from '../../runtime/protocol/approval.ts';
import { type Capability, capability, describeCapability } from '../../runtime/protocol/capability.ts';
import type { McpTool } from '../../runtime/protocol/mcp-link.ts';
import { ToolContent } from '../../runtime/protocol/tool.ts';
import { shownSchema, toolInput } from './tool-input.ts';
import { idOfName } from './tool-name.ts';

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
