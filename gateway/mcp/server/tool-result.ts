import { ATTESTATION_URI } from '../../../runtime/protocol/firewall.ts';
import type { ToolContent } from '../../../runtime/protocol/tool.ts';
import type { ToldFailure } from '../../../runtime/protocol/told-failure.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import type { ServedTool } from './served-tool.ts';

const text = (said: string): Result => ({ type: 'text', text: said });

/** The result of a tool: `content` as text for models, and `structuredContent` for programs. */
export function resultOf({ tool, wrapsResult }: ServedTool, output: unknown): Result {
  if (tool.isContent) return contentResult(output);
  const structured = wrapsResult || !isObject(output) ? { result: output ?? null } : output;
  return {
    content: [text(typeof output === 'string' ? output : (JSON.stringify(output) ?? ''))],
    structuredContent: structured,
  };
}

function contentResult(output: unknown): Result {
  // The agent has validated its output.
  const { content, structured, isError } = output as ToolContent;
  return {
    content,
    ...(structured === undefined ? {} : { structuredContent: structured }),
    ...(isError === true ? { isError } : {}),
  };
}

/** Adds an attestation to a result, in `_meta`, if there is one. */
export const withAttestation = (result: Result, attestation: unknown): Result =>
  attestation === undefined ? result : { ...result, _meta: { [ATTESTATION_URI]: attestation } };

/** The result of a failed call: `{code, message, agentId, id?, retryAfterMs?}` as text, so that a model can react to it. */
export function errorResult(
  failure: ToldFailure & { readonly retryAfterMs?: number },
  agentId: string,
): Result {
  const { code, message, ...more } = failure;
  const told = { code, message, agentId, ...more };
  return { content: [text(JSON.stringify(told))], isError: true };
}
