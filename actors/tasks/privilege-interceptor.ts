import { createHash } from 'node:crypto';
import { serialize } from 'node:v8';
import { findUnserialisable } from '../../runtime/protocol/json.ts';
import { isOrreryError } from '../../runtime/protocol/errors.ts';
import type { Interceptor, HandlingContext, PrivilegedCall } from '../../runtime/public.ts';
import { outsideApprovalOf } from './approvals.ts';
import type { Json } from './task-log.ts';

/** More than this of an input is not shown to whoever decides: then a hash says which one it is, */
const MAX_SHOWN = 6_000;
/** with so much of its beginning, which may be twice as long where it is shown, as a text in a text. */
const MAX_BEGINNING = MAX_SHOWN / 2;

/**
 * Has it approved that what came from outside reaches a privileged capability: once for each call, on exactly this input, of a
 * capability that is declared like this, from no sources but these.
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

/** What `outsideApprovalOf` rejects with is the answer, but for the refusal itself. */
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

/** The input as far as it can be shown; two that differ are never shown alike. */
function shown(input: unknown): Json {
  if (input === undefined) return null;
  const text = findUnserialisable(input) === undefined ? JSON.stringify(input) : undefined;
  if (text !== undefined && text.length <= MAX_SHOWN) return JSON.parse(text) as Json;
  const bytes = text === undefined ? serialize(input) : Buffer.from(text);
  const sha256 = createHash('sha256').update(bytes).digest('base64url');
  return text === undefined ? { sha256 } : { sha256, begins: text.slice(0, MAX_BEGINNING) };
}
