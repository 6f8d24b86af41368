import { z } from 'zod';
import {
  ContentBlock,
  PromptMessage,
  ResourceContent,
  type ToolContent,
} from '../../../runtime/protocol/tool.ts';

// Reads the results of an untrusted server: fields that the protocol does not name are dropped.

const Loose = z.looseObject({ type: z.string() });

const FIELDS = {
  text: ['text'],
  image: ['data', 'mimeType'],
  audio: ['data', 'mimeType'],
  resource: ['resource'],
  resource_link: ['uri', 'name', 'title', 'description', 'mimeType'],
} as const;

function pick(value: object, names: readonly string[]): Record<string, unknown> {
  const fields = value as Record<string, unknown>;
  return Object.fromEntries(
    names.filter((name) => fields[name] !== undefined).map((name) => [name, fields[name]]),
  );
}

const Block = Loose.transform((block) => {
  const names = FIELDS[block.type as keyof typeof FIELDS] ?? [];
  const picked: Record<string, unknown> = { type: block.type, ...pick(block, names) };
  if (typeof picked['resource'] === 'object' && picked['resource'] !== null)
    picked['resource'] = content(picked['resource']);
  return picked;
}).pipe(ContentBlock);

const content = (value: object): unknown => pick(value, ['uri', 'mimeType', 'text', 'blob']);

const Contents = z.object({
  contents: z.array(z.looseObject({}).transform(content).pipe(ResourceContent)),
});

const Rendering = z.object({
  description: z.string().optional(),
  messages: z.array(z.object({ role: z.enum(['user', 'assistant']), content: Block }).pipe(PromptMessage)),
});

const CallResult = z.object({
  content: z.array(Block).default([]),
  structuredContent: z.json().optional(),
  isError: z.boolean().optional(),
});

/** Reads the result of a tool. Throws a `ZodError` if it is invalid. */
export function readToolResult(result: unknown): ToolContent & { readonly structuredContent: unknown } {
  const { content: blocks, structuredContent, isError } = CallResult.parse(result);
  const isObject =
    typeof structuredContent === 'object' && structuredContent !== null && !Array.isArray(structuredContent);
  // A value that is no object becomes text, if there is no other content.
  const said = structuredContent === undefined || isObject || blocks.length > 0;
  return {
    content: said ? blocks : [{ type: 'text', text: JSON.stringify(structuredContent) }],
    ...(isObject ? { structured: structuredContent } : {}),
    ...(isError === undefined ? {} : { isError }),
    structuredContent,
  };
}

/** Reads the contents of a resource. Throws a `ZodError` if they are invalid. */
export const readContents = (result: unknown): readonly ResourceContent[] => Contents.parse(result).contents;

export function readRendering(result: unknown): {
  readonly description?: string;
  readonly messages: readonly PromptMessage[];
} {
  const { description, messages } = Rendering.parse(result);
  return { ...(description === undefined ? {} : { description }), messages };
}
