import { z } from 'zod';
import { ERROR_CODES } from './error-codes.ts';
import { Taint } from './taint.ts';

/**
 * What a tool declares of its calls. Only `privileged` is enforced.
 *
 * - `readOnly`    it changes nothing. @default false
 * - `destructive` what it changes may be gone. @default unless it only reads: nobody knows
 * - `idempotent`  called again with the same arguments it changes nothing more. @default false
 * - `openWorld`   it reaches beyond this system. @default nobody knows
 * - `privileged`  what came from outside does not reach it without approval (F-09). @default false
 */
export const ToolAnnotations = z.strictObject({
  readOnly: z.boolean().optional(),
  destructive: z.boolean().optional(),
  idempotent: z.boolean().optional(),
  openWorld: z.boolean().optional(),
  privileged: z.boolean().optional(),
});
export type ToolAnnotations = z.infer<typeof ToolAnnotations>;

const ANNOTATIONS = Object.keys(ToolAnnotations.shape) as readonly (keyof ToolAnnotations)[];

/** Annotations for which false and absent differ. */
const OPEN: ReadonlySet<keyof ToolAnnotations> = new Set(['destructive', 'openWorld']);

/** The annotations among the fields of `said` that mean something: those that are true, and false ones where absence differs. */
export function annotationsOf(said: ToolAnnotations): ToolAnnotations {
  const found: ToolAnnotations = {};
  for (const name of ANNOTATIONS) {
    const value = said[name];
    if (value === true || (value === false && OPEN.has(name))) found[name] = value;
  }
  return found;
}

/**
 * A capability of an agent, as callers of tools see it.
 *
 * - `name`         `agent.tool`: the agent's id, a dot, and the capability's.
 * - `inputSchema`, `outputSchema` as JSON Schema.
 * - `streams`      its answer is a list of what it streams.
 * - `isContent`    its answer is `ToolContent`: made to be looked at.
 * - `taint`        where what is said of it came from outside: an agent that is shown it has that.
 */
export const Tool = z
  .object({
    name: z.string().min(1),
    title: z.string(),
    description: z.string(),
    inputSchema: z.unknown(),
    outputSchema: z.unknown(),
    agentId: z.string().min(1),
    capability: z.string().min(1),
    annotations: ToolAnnotations,
    streams: z.boolean(),
    isContent: z.boolean(),
    taint: Taint.exactOptional(),
  })
  .readonly();
export type Tool = z.infer<typeof Tool>;

const About = {
  name: z.string().min(1),
  title: z.string().min(1).optional(),
  description: z.string().optional(),
};

/** Something to be read. `uri` is absolute; `size` in bytes, where it is known before. */
export const ResourceDescriptor = z.strictObject({
  uri: z.url(),
  ...About,
  mimeType: z.string().min(1).optional(),
  size: z.int().nonnegative().optional(),
});
export type ResourceDescriptor = z.infer<typeof ResourceDescriptor>;

/** Many things to be read, by a URI with variables (RFC 6570, such as `log://{day}`). */
export const ResourceTemplateDescriptor = z.strictObject({
  uriTemplate: z.string().min(1),
  ...About,
  mimeType: z.string().min(1).optional(),
});
export type ResourceTemplateDescriptor = z.infer<typeof ResourceTemplateDescriptor>;

/** A prompt: a text with arguments. @default required false */
export const PromptDescriptor = z.strictObject({
  ...About,
  arguments: z
    .array(z.strictObject({ ...About, required: z.boolean().optional() }))
    .readonly()
    .optional(),
});
export type PromptDescriptor = z.infer<typeof PromptDescriptor>;

/** What a resource holds: text, or bytes as base64. */
export const ResourceContent = z.union([
  z.strictObject({ uri: z.string(), mimeType: z.string().optional(), text: z.string() }),
  z.strictObject({ uri: z.string(), mimeType: z.string().optional(), blob: z.base64() }),
]);
export type ResourceContent = z.infer<typeof ResourceContent>;

/** One part of a prompt's message, or of a tool's answer for a person or a model to look at. */
export const ContentBlock = z.discriminatedUnion('type', [
  z.strictObject({ type: z.literal('text'), text: z.string() }),
  z.strictObject({ type: z.literal('image'), data: z.base64(), mimeType: z.string() }),
  z.strictObject({ type: z.literal('audio'), data: z.base64(), mimeType: z.string() }),
  z.strictObject({ type: z.literal('resource'), resource: ResourceContent }),
  z.strictObject({
    type: z.literal('resource_link'),
    uri: z.string(),
    ...About,
    mimeType: z.string().optional(),
  }),
]);
export type ContentBlock = z.infer<typeof ContentBlock>;

/**
 * An answer for a person or a model to look at. As `output` of `capability(...)` it is passed on unchanged. `isError`: the content
 * says why there is no result.
 */
export const ToolContent = z.strictObject({
  content: z.array(ContentBlock),
  structured: z.record(z.string(), z.json()).optional(),
  isError: z.boolean().optional(),
});
export type ToolContent = z.infer<typeof ToolContent>;

/** One message of a prompt. */
export const PromptMessage = z.strictObject({ role: z.enum(['user', 'assistant']), content: ContentBlock });
export type PromptMessage = z.infer<typeof PromptMessage>;

/** Why a call failed (N-5.4): the code, a message, and the agent whose tool it was. */
export const ToolError = z
  .strictObject({
    code: z.enum(ERROR_CODES),
    message: z.string(),
    agentId: z.string(),
    details: z.record(z.string(), z.unknown()).readonly().exactOptional(),
  })
  .readonly();
export type ToolError = z.infer<typeof ToolError>;

/** JSON as it was given: a copy by zod would lack the key `__proto__`. */
const JsonAsItIs = z.custom<z.core.util.JSONType>((value) => z.json().safeParse(value).success);

/**
 * One call of a tool, once it is over (N-13.4): JSON. `startedAtMs` Unix milliseconds, `durationMs` how long it took; what
 * was too large to keep is `{ omitted, bytes }`.
 */
export const ToolInvocation = z
  .strictObject({
    tool: z.string(),
    agentId: z.string(),
    arguments: JsonAsItIs,
    result: JsonAsItIs.exactOptional(),
    error: ToolError.exactOptional(),
    startedAtMs: z.number(),
    durationMs: z.number().nonnegative(),
  })
  .readonly();
export type ToolInvocation = z.infer<typeof ToolInvocation>;
