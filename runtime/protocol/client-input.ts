import { z } from 'zod';
import { PromptMessage } from './tool.ts';

/**
 * Something that a handler needs from its caller before it goes on.
 *
 * - `question` a form to fill in; `schema` is the JSON Schema of its answer, an object.
 * - `link`     something to be done elsewhere, such as to sign in.
 * - `sample`   a continuation of `messages` by the caller's model, of at most `maxTokens` tokens.
 * - `roots`    the folders in which the caller permits work.
 */
export const ClientInput = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('question'),
    message: z.string().min(1),
    schema: z.record(z.string(), z.json()),
  }),
  z.strictObject({ kind: z.literal('link'), message: z.string().min(1), url: z.url() }),
  z.strictObject({
    kind: z.literal('sample'),
    messages: z.array(PromptMessage).min(1),
    maxTokens: z.int().positive(),
    systemPrompt: z.string().optional(),
    temperature: z.number().optional(),
  }),
  z.strictObject({ kind: z.literal('roots') }),
]);
export type ClientInput = z.infer<typeof ClientInput>;

/** The inputs that a handler asks for, each under a name of its own. */
export const ClientInputs = z.record(z.string().min(1), ClientInput);
export type ClientInputs = z.infer<typeof ClientInputs>;

/** The name of the note among the metadata of a call. */
export const CLIENT_NOTE = 'client';

/**
 * What the envelope of a call says of its caller.
 *
 * - `can`   the kinds of input that the caller can give.
 * - `given` the inputs given so far, by name.
 */
export const ClientNote = z.object({
  can: z.array(z.string()).default([]),
  given: z.record(z.string(), z.json()).default({}),
});
export type ClientNote = z.infer<typeof ClientNote>;

/** The annotation of a question's JSON Schema that lists the inputs asked for. Each is a field of the answer. */
export const INPUTS_KEYWORD = 'x-inputs';
