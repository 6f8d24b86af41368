import { errorToData } from '../../runtime/protocol/errors.ts';
import {
  type Tool,
  type ToolContent,
  ToolContent as ToolContentSchema,
} from '../../runtime/protocol/tool.ts';
import { cutText } from './cut-text.ts';
import type { ToolSaid } from './said.ts';
import type { ModelToolCall } from './model-reply.ts';

/** What a tool has answered, for a model to read, in at most so many characters. */
export function resultText(
  { id, name }: ModelToolCall,
  tool: Tool,
  result: unknown,
  maxChars: number,
): ToolSaid {
  const content = tool.isContent ? ToolContentSchema.safeParse(result) : undefined;
  const text = content?.success === true ? contentText(content.data) : plainText(result);
  const isError = content?.success === true && content.data.isError === true;
  return { id, name, text: cutText(text, maxChars), isError };
}

/** Why a tool has no result: code, message and whose tool it is, as JSON. */
export function errorText(
  { id, name }: ModelToolCall,
  agentId: string,
  error: unknown,
  maxChars: number,
): ToolSaid {
  const { code, message, details } = errorToData(error, 'REFUSED');
  const { retryAfterMs } = (details ?? {}) as { retryAfterMs?: unknown };
  const told = { code, message, agentId, ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}) };
  return { id, name, text: cutText(JSON.stringify(told), maxChars), isError: true };
}

const plainText = (value: unknown): string =>
  typeof value === 'string' ? value : (JSON.stringify(value) ?? 'done');

/** Pictures and sounds are named, not shown. */
function contentText({ content, structured }: ToolContent): string {
  const blocks = content.map((block) => {
    if (block.type === 'text') return block.text;
    if (block.type === 'resource')
      return 'text' in block.resource ? block.resource.text : `[${block.resource.uri}: bytes]`;
    if (block.type === 'resource_link') return `[${block.name}: ${block.uri}]`;
    return `[${block.type}, ${block.mimeType}]`;
  });
  return [...blocks, ...(structured === undefined ? [] : [JSON.stringify(structured)])].join('\n');
}
