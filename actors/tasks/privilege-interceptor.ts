import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import { findUnserialisable } from '../../runtime/protocol/json.ts';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import type { Interceptor, HandlingContext, PrivilegedCall } from '../../runtime/public.ts';
import { outsideApprovalOf } from './approvals.ts';
import type { Json } from './task-log.ts';

/** How much of an input is shown for approval. Of a larger one a hash and the beginning are shown. */
const MAX_SHOWN = 6_000;
/** The length of that beginning. Escaped in JSON, it may become twice as long. */
const MAX_BEGINNING = MAX_SHOWN / 2;

/**
 * Asks for approval before tainted work reaches a privileged capability. An approval is for one call, with exactly this
 * input, this declaration of the capability and these sources.
 */
export const privilegeInterceptor: Interceptor = {
  types: new Set(),
  owed: new Set(),
  handlers: new Map(),
  arrived: () => false,
  lost: () => undefined,
  ended: () => undefined,
  refusalOf,
};

/** Rejects as `outsideApprovalOf` does; a refusal is returned. */
async function refusalOf(ctx: HandlingContext<never>, call: PrivilegedCall): Promise<string | undefined> {
  const { capability, definition, taint } = call;
  try {
    await outsideApprovalOf(ctx, {
      action: capability,
      details: { agent: ctx.self, input: shown(call.input), definition },
      taint,
      message: `May ${ctx.self} be asked for "${capability}", which is privileged, with what came from outside (${taint.join(', ')})?`,
    });
    return undefined;
  } catch (error) {
    if (isOrreryError(error) && error.code === 'NOT_PERMITTED') return error.message;
    throw error;
  }
}

/** The input as it is shown for approval. Two that differ are never shown alike. */
function shown(input: unknown): Json {
  if (input === undefined) return null;
  const text = findUnserialisable(input) === undefined ? JSON.stringify(input) : undefined;
  if (text !== undefined && text.length <= MAX_SHOWN) return JSON.parse(text) as Json;
  const bytes = text === undefined ? serialize(input) : Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('base64url');
  return text === undefined ? { sha256 } : { sha256, begins: text.slice(0, MAX_BEGINNING) };
}
