import { z } from 'zod';
import { JsonValue } from '../../runtime/protocol/json-value.ts';

/** A tool that the model wants called; `fault`: why what it has said cannot be called. */
export const ModelToolCall = z.strictObject({
  id: z.string().min(1),
  name: z.string(),
  input: JsonValue,
  fault: z.string().optional(),
});
export type ModelToolCall = z.infer<typeof ModelToolCall>;

const Count = z.int().nonnegative();

/** Tokens as the provider has counted them. `cachedInputTokens` are a part of `inputTokens`. */
export const ModelUsage = z.strictObject({
  inputTokens: Count,
  outputTokens: Count,
  cachedInputTokens: Count.optional(),
});
export type ModelUsage = z.infer<typeof ModelUsage>;

/**
 * What a model has answered once: what the effect `model <agent id>` comes to, so also what a simulation answers.
 *
 * - `text`   @default ''
 * - `calls`  tools to be called. @default none
 * - `finish` why it has ended: `length` is the maximum of output, `filter` a rule of the provider's. @default 'stop'
 * - `usage`  absent when the provider says none that can be.
 */
export const ModelReply = z.strictObject({
  text: z.string().default(''),
  calls: z.array(ModelToolCall).default([]),
  finish: z.enum(['stop', 'length', 'calls', 'filter', 'other']).default('stop'),
  usage: ModelUsage.optional(),
});
export type ModelReply = z.infer<typeof ModelReply>;
