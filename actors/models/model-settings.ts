import type { LanguageModelCallOptions } from 'ai';
import { z } from 'zod';
import { JsonFields } from '../../runtime/protocol/json-value.ts';

/** How the model chooses its words; what is left out is the provider's to say. `providerOptions` as the SDK's provider has them. */
export const ModelSettings = z.strictObject({
  temperature: z.number().nonnegative().exactOptional(),
  topP: z.number().min(0).max(1).exactOptional(),
  presencePenalty: z.number().exactOptional(),
  frequencyPenalty: z.number().exactOptional(),
  stopSequences: z.array(z.string()).exactOptional(),
  seed: z.int().exactOptional(),
  providerOptions: z.record(z.string(), JsonFields).exactOptional(),
}) satisfies z.ZodType<Partial<LanguageModelCallOptions>>;
export type ModelSettings = z.infer<typeof ModelSettings>;
