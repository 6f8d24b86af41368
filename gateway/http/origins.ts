import type { Answer } from './answer.ts';
import type { EdgeCall } from './edge-call.ts';

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const EXPOSED = 'A2A-Extensions, A2A-Version, ETag, Location, Retry-After, WWW-Authenticate, X-Request-Id';
const HEADER_NAMES = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,1024}$/;
const KEPT_SECONDS = '600';

/** What a browser is told about pages of other origins. `none`: it is no request of a page, or of one of ours. */
export type OriginVerdict = 'none' | 'allowed' | 'refused';

/**
 * Whether pages of the origin that a request names may use the gateway. A browser names it, whatever the page wants. `own`:
 * the gateway's origins, as it is asked itself and as browsers see it.
 */
export function originVerdict(
  { headers }: EdgeCall,
  { own, origins }: { own: readonly (string | undefined)[]; origins: ReadonlySet<string> },
): OriginVerdict {
  const origin = headers.get('origin');
  if (origin === null || own.includes(origin)) return 'none';
  return origins.has(origin) ? 'allowed' : 'refused';
}

export const isPreflight = ({ method, headers }: EdgeCall): boolean =>
  method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method');

/** The answer to a browser that asks, before it sends, whether it may. */
export function preflightAnswer({ headers }: EdgeCall): Answer {
  const asked = headers.get('access-control-request-headers') ?? '';
  return {
    status: 204,
    headers: {
      'access-control-allow-methods': METHODS,
      'access-control-max-age': KEPT_SECONDS,
      ...(HEADER_NAMES.test(asked) && asked !== '' ? { 'access-control-allow-headers': asked } : {}),
    },
    body: undefined,
  };
}

/** Tells the browser that the page may see the answer. */
export function allowOrigin(call: EdgeCall, headers: Pick<Headers, 'set' | 'append'>): void {
  headers.set('access-control-allow-origin', call.headers.get('origin') as string);
  headers.set('access-control-expose-headers', EXPOSED);
  headers.append('vary', 'Origin');
}
