import { z } from 'zod';
import { NodeId } from '../protocol/a2a-extension.ts';
import { CapabilityDescriptor } from '../protocol/agent-card.ts';
import { GivenCapability } from '../protocol/capability-options.ts';
import { A2A_MESSAGE_TYPES, A2AMessageType } from '../protocol/envelope.ts';
import { Taint } from '../protocol/taint.ts';
import { taintFrom } from '../protocol/taint-from.ts';
import { PromptDescriptor, ResourceDescriptor, ResourceTemplateDescriptor } from '../protocol/tool.ts';
import { AgentOptions } from './agent-options.ts';
import type { ProcessOptions } from './process-options.ts';

/** A capability as its agent declares it: what the card says, and how it is answered. */
export const OfferedCapability = z.strictObject({
  descriptor: CapabilityDescriptor.extend({ id: GivenCapability.shape.id }),
  kind: z.enum(['value', 'stream']),
  carries: z.enum(['json', 'structured']),
});

const MAX_OFFERED = 10_000;

/**
 * What agent a module holds.
 *
 * - `types`    the message types that it handles without a capability.
 * - `textFrom` where the text of its card came from outside. Whether that is approved, the host decides.
 */
export const Description = z.strictObject({
  options: AgentOptions,
  capabilities: z.array(OfferedCapability).max(MAX_OFFERED),
  types: z.array(A2AMessageType).max(A2A_MESSAGE_TYPES.length),
  resources: z.array(ResourceDescriptor).max(MAX_OFFERED).default([]),
  resourceTemplates: z.array(ResourceTemplateDescriptor).max(MAX_OFFERED).default([]),
  prompts: z.array(PromptDescriptor).max(MAX_OFFERED).default([]),
  textFrom: Taint.transform(taintFrom).optional(),
  node: NodeId.optional(),
});
export type Description = z.output<typeof Description>;

/** An agent whose code runs in a process of its own: how that is run, and what its module said of the agent. */
export interface ProcessAgent {
  readonly options: ProcessOptions;
  readonly description: Description;
}
