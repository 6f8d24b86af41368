import { errorToData } from '../../../runtime/protocol/errors.ts';
import type { ToolContent } from '../../../runtime/protocol/tool.ts';
import { isObject, type Result } from './json-shapes.ts';
import type { ServedTool } from './served-tool.ts';

const text = (said: string): Result => ({ type: 'text', text: said });

/** What a tool has answered, as text for whoever reads and as data for whoever computes. */
export function resultOf({ tool, wrapsResult }: ServedTool, output: unknown): Result {
  if (tool.isContent) return contentResult(output);
  const structured = wrapsResult || !isObject(output) ? { result: output ?? null } : output;
  return {
    content: [text(typeof output === 'string' ? output : (JSON.stringify(output) ?? ''))],
    structuredContent: structured,
  };
}

function contentResult(output: unknown): Result {
  // Its agent has made it fit the schema.
  const { content, structured, isError } = output as ToolContent;
  return {
    content,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(isError === true ? { isError } : {}),
  };
}

/**
 * What went wrong while a tool worked: `{code, message, agentId, retryAfterMs?}` as text, which a model reads and may act upon.
 * What a tool throws that is no error of ours is told by its message alone.
 */
export function errorResult(error: unknown, agentId: string): Result {
  const { code, message, details } = errorToData(error);
  const retryAfterMs = details?.['retryAfterMs'];
  const told = { code, message, agentId, ...(typeof retryAfterMs === 'number' ? { retryAfterMs } : {}) };
  return { content: [text(JSON.stringify(told))], isError: true };
}
