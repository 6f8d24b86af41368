import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Edge } from '../http/gateway-part.ts';
import type { Dialect } from './dialect.ts';
import type { A2AExtension } from './extension.ts';
import type { Caller } from './operations.ts';

/**
 * One request, from when it is let in until its answer is over.
 *
 * - `echoed` headers of the answer that say which extensions are active.
 * - `admit`  asks whether its caller may have something more, as for a request of its own. Rejects as `admit` of the edge does.
 * - `close`  when the answer is over: ends whatever still waits for its sake.
 */
export interface Exchange {
  readonly principal: Principal;
  readonly body: Uint8Array;
  readonly echoed: Readonly<Record<string, string>>;
  caller(agentId: string | undefined, dialect: Dialect): Caller;
  admit(): Promise<void>;
  close(): void;
}

/** By which header extensions are activated: since 1.0, and before. */
const EXTENSION_HEADERS = ['A2A-Extensions', 'X-A2A-Extensions'] as const;

/** Reads the request and lets it in. Rejects as `read` and `admit` of the edge do. */
export async function openExchange(
  edge: Edge,
  request: Request,
  extensions: readonly A2AExtension[],
): Promise<Exchange> {
  const body = await edge.read(request);
  const { method, url, headers } = request;
  const asked = { method, url, headers, body };
  const principal = await edge.admit(asked);
  let scope: Scope | undefined;
  const baseUrl = edge.baseUrl(request);
  const header = EXTENSION_HEADERS.find((name) => headers.has(name));
  const activated = header === undefined ? [] : urisOf(headers.get(header) ?? '');
  const active = extensions.filter(({ uri }) => activated.includes(uri)).map(({ uri }) => uri);
  return {
    principal,
    body,
    echoed: header === undefined || active.length === 0 ? {} : { [header]: active.join(', ') },
    caller: (agentId, { version }) => ({
      principal,
      baseUrl,
      dialect: version,
      agentId,
      terms: {},
      extensions: active,
      // Most requests are over before anybody waits for anything.
      get signal() {
        scope ??= abortsWith(request.signal, edge.closing);
        return scope.signal;
      },
    }),
    admit: async () => {
      await edge.admit(asked, principal);
    },
    close: () => {
      scope ??= ENDED;
      scope.close();
    },
  };
}

export const urisOf = (header: string): readonly string[] =>
  header
    .split(',')
    .map((uri) => uri.trim())
    .filter((uri) => uri !== '');

/** One for all: an error that is made for each request costs as much as the rest of it. */
const OVER = new Error('The exchange is over');

interface Scope {
  readonly signal: AbortSignal;
  readonly close: () => void;
}

const ENDED: Scope = { signal: AbortSignal.abort(OVER), close: () => undefined };

/** A signal that aborts with the first of these, or when it is closed, which lets go of them. */
export function abortsWith(...signals: readonly AbortSignal[]): Scope {
  const controller = new AbortController();
  const abort = (): void => controller.abort(OVER);
  for (const signal of signals) {
    if (signal.aborted) abort();
    signal.addEventListener('abort', abort, { once: true });
  }
  const close = (): void => {
    for (const signal of signals) signal.removeEventListener('abort', abort);
    abort();
  };
  return { signal: controller.signal, close };
}
