import type { FetchLike } from '@modelcontextprotocol/client';

/** Codes of errors when the other side has just closed an idle connection. */
const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * Wraps `fetch`: if the connection breaks, a request that changes nothing is sent once more. A tool call never is, because it
 * may have arrived.
 */
export function steadyFetch(fetch: FetchLike): FetchLike {
  return async (url, init) => {
    try {
      return await fetch(url, init);
    } catch (error) {
      if (!isBroken(error) || init?.signal?.aborted === true || !changesNothing(init?.body)) throw error;
      return fetch(url, init);
    }
  };
}

function isBroken(error: unknown): boolean {
  const { cause } = (error ?? {}) as { cause?: { code?: unknown } };
  return BROKEN.has(String(cause?.code));
}

/** Whether a body may be sent twice: none, or a message of MCP that is no tool call. Requests for tokens are not. */
function changesNothing(body: unknown): boolean {
  if (typeof body !== 'string') return body === undefined || body === null;
  try {
    const { jsonrpc, method } = JSON.parse(body) as { jsonrpc?: unknown; method?: unknown };
    // A message without a method is an answer. The server recognises a second one by its id.
    return jsonrpc === '2.0' && method !== 'tools/call';
  } catch {
    return false;
  }
}
