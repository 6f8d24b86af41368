import type { FetchLike } from '@modelcontextprotocol/client';

/** What breaks an idle connection that the other side has just closed. */
const BROKEN: ReadonlySet<string> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);

/**
 * The same requests; one that changes nothing there is sent again, once, when the connection breaks under it. A call of a tool
 * never is: nobody knows whether it has arrived.
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

/** A message of the protocol that is no call of a tool; requests for tokens and the like are none, and are not sent again. */
function changesNothing(body: unknown): boolean {
  if (typeof body !== 'string') return body === undefined || body === null;
  try {
    const { jsonrpc, method } = JSON.parse(body) as { jsonrpc?: unknown; method?: unknown };
    // Without a method it is an answer, by whose id the other side knows that it has it already.
    return jsonrpc === '2.0' && method !== 'tools/call';
  } catch {
    return false;
  }
}
