import { z } from 'zod';
import type { Capability } from './capability.ts';
import { PromptMessage, ResourceContent } from './tool.ts';

/* Under which names an agent is asked for what it offers beside its capabilities. They stand on no card: nobody finds an agent by them. */

const Texts = z.record(z.string(), z.string());

/** The argument to complete. Prompts have the agent's own name for them. */
const Completing = z.strictObject({
  of: z.union([z.strictObject({ prompt: z.string() }), z.strictObject({ uriTemplate: z.string() })]),
  argument: z.string(),
  value: z.string(),
  others: Texts.optional(),
});

const RenderedPrompt = z.strictObject({
  description: z.string().optional(),
  messages: z.array(PromptMessage),
});

function reserved<Input, Output>(
  id: string,
  description: string,
  input: z.ZodType<Input, Input>,
  output: z.ZodType<Output, Output>,
): Capability<Input, Output> {
  return { id, name: id, description, input, output, carries: 'json', readOnly: true };
}

export const READ_RESOURCE = reserved(
  'system/read',
  'Reads a resource',
  z.strictObject({ uri: z.string() }),
  z.array(ResourceContent),
);

export const RENDER_PROMPT = reserved(
  'system/render',
  'Renders a prompt',
  z.strictObject({ prompt: z.string(), arguments: Texts }),
  RenderedPrompt,
);

export const COMPLETE_ARGUMENT = reserved(
  'system/complete',
  'Completes an argument',
  Completing,
  z.array(z.string()),
);
