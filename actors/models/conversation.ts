import { z } from 'zod';
import { ModelToolCall } from './model-reply.ts';

/** What came of a tool's call, as the model reads it. */
export const ToolOutcome = z.strictObject({
  id: z.string(),
  name: z.string(),
  text: z.string(),
  isError: z.boolean(),
});
export type ToolOutcome = z.infer<typeof ToolOutcome>;

/** One turn of a conversation with a model; JSON. */
export const ConversationTurn = z.discriminatedUnion('by', [
  z.strictObject({ by: z.literal('user'), text: z.string() }),
  z.strictObject({ by: z.literal('model'), text: z.string(), calls: z.array(ModelToolCall) }),
  z.strictObject({ by: z.literal('tools'), results: z.array(ToolOutcome) }),
]);
export type ConversationTurn = z.infer<typeof ConversationTurn>;
