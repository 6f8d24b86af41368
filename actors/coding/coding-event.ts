import { z } from 'zod';

/**
 * What a tool of a coding agent does, in the words of the Agent Client Protocol.
 *
 * - `read`, `search` look at files; `think` looks at nothing.
 * - `edit`, `delete`, `move` change files.
 * - `execute`        runs a command.
 * - `fetch`          reaches another machine.
 * - `other`          nobody knows.
 */
export const ToolKind = z.enum([
  'read',
  'search',
  'think',
  'edit',
  'delete',
  'move',
  'execute',
  'fetch',
  'other',
]);
export type ToolKind = z.infer<typeof ToolKind>;

/** Tokens and dollars that an attempt has used. What is absent is not known; a count that is there is of the whole attempt. */
export const CodingUsage = z.strictObject({
  inputTokens: z.int().nonnegative().optional(),
  outputTokens: z.int().nonnegative().optional(),
  costUsd: z.number().nonnegative().optional(),
});
export type CodingUsage = z.infer<typeof CodingUsage>;

/**
 * What a coding agent does, whichever program it is. Texts are cut to 2,000 characters.
 *
 * - `session.started`  its session, by which another attempt may go on with it.
 * - `said`             a message of its model.
 * - `planned`          its plan, whole, each time it changes.
 * - `tool.started`     a tool begins; `paths` are the files that it names, as the program says them.
 * - `tool.ended`       the tool of that id is over.
 * - `permission.answered` it asked whether it may, and was told.
 * - `usage`            what the attempt has used so far, which replaces what was said before.
 * - `rate.limited`     its provider lets it wait. `retryAtMs` Unix milliseconds, if that is said; `isFinal` when it gives up.
 * - `ended`            the program says that its work is over. That is a claim: gates say whether the task is done.
 * - `unreadable`       a line of its output that is no event.
 */
export const CodingEvent = z.discriminatedUnion('type', [
  z.strictObject({
    type: z.literal('session.started'),
    sessionId: z.string().min(1),
    model: z.string().optional(),
  }),
  z.strictObject({ type: z.literal('said'), text: z.string() }),
  z.strictObject({
    type: z.literal('planned'),
    entries: z.array(z.strictObject({ text: z.string(), status: z.enum(['open', 'running', 'done']) })),
  }),
  z.strictObject({
    type: z.literal('tool.started'),
    toolId: z.string(),
    kind: ToolKind,
    title: z.string(),
    paths: z.array(z.string()),
  }),
  z.strictObject({ type: z.literal('tool.ended'), toolId: z.string(), isError: z.boolean() }),
  z.strictObject({
    type: z.literal('permission.answered'),
    kind: ToolKind,
    title: z.string(),
    isAllowed: z.boolean(),
  }),
  z.strictObject({ type: z.literal('usage'), usage: CodingUsage }),
  z.strictObject({
    type: z.literal('rate.limited'),
    reason: z.string(),
    retryAtMs: z.number().optional(),
    isFinal: z.boolean(),
  }),
  z.strictObject({ type: z.literal('ended'), isError: z.boolean(), reason: z.string() }),
  z.strictObject({ type: z.literal('unreadable'), text: z.string() }),
]);
export type CodingEvent = z.infer<typeof CodingEvent>;
