import type { Answer } from './answer.ts';
import type { EdgeCall } from './edge-call.ts';
import { jsonAnswer } from './http-errors.ts';
import { isIP } from 'node:net';
import { remembering } from '../../runtime/protocol/remembering.ts';

/** `hosts`, `origins`: as the gateway's options. `publicOrigin`: its own, for those who come through a proxy. */
export interface GuardOptions {
  readonly hosts: readonly string[] | 'any';
  readonly origins: readonly string[];
  readonly publicOrigin?: string | undefined;
}

/** Why a request is refused at once; and whether the page it comes from may read the answer. */
export interface GuardVerdict {
  readonly refusal: Answer | undefined;
  readonly code: string | undefined;
  readonly origin: OriginVerdict;
}

/** Checks a request's headers: the host name, the origin, the encoding. */
export function requestGuard({ hosts, origins, publicOrigin }: GuardOptions) {
  const isServed = servedNames(hosts);
  const allowed = new Set(origins);
  return (call: EdgeCall, own: string): GuardVerdict => {
    const authority = authorityOf(call.url);
    if (!isServed(authority))
      return refused(421, 'HOST_NOT_SERVED', `Nothing is served here under the name ${authority}`);
    const origin = originVerdict(call, { own: [own, publicOrigin], origins: allowed });
    if (origin === 'refused')
      return refused(403, 'ORIGIN_NOT_ALLOWED', 'Pages of this origin may not use the gateway');
    const encoding = call.headers.get('content-encoding');
    if (encoding !== null && encoding.toLowerCase() !== 'identity')
      return {
        ...refused(
          415,
          'UNSUPPORTED_ENCODING',
          `The body is encoded: Content-Encoding is ${JSON.stringify(encoding)}, expected identity`,
          {
            'accept-encoding': 'identity',
          },
        ),
        origin,
      };
    return { refusal: undefined, code: undefined, origin };
  };
}

const refused = (
  status: number,
  code: Parameters<typeof jsonAnswer>[1],
  message: string,
  headers?: Record<string, string>,
): GuardVerdict => ({ refusal: jsonAnswer(status, code, message, headers), code, origin: 'none' });

const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const EXPOSED = 'A2A-Extensions, A2A-Version, ETag, Location, Retry-After, WWW-Authenticate, X-Request-Id';
const HEADER_NAMES = /^[A-Za-z0-9!#$%&'*+.^_`|~, -]{0,1024}$/;
const KEPT_SECONDS = '600';

/** What a browser is told about a page of another origin. `none`: the request is of no page, or of one of ours. */
type OriginVerdict = 'none' | 'allowed' | 'refused';

/**
 * Whether pages of the origin that a request names may use the gateway. A browser names it, whatever the page wants. `own`:
 * the gateway's origins, as it is asked itself and as browsers see it.
 */
function originVerdict(
  { headers }: EdgeCall,
  { own, origins }: { own: readonly (string | undefined)[]; origins: ReadonlySet<string> },
): OriginVerdict {
  const origin = headers.get('origin');
  if (origin === null || own.includes(origin)) return 'none';
  return origins.has(origin) ? 'allowed' : 'refused';
}

export const isPreflight = ({ method, headers }: EdgeCall): boolean =>
  method === 'OPTIONS' && headers.has('origin') && headers.has('access-control-request-method');

/** The answer to a CORS preflight. */
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

/** Sets the CORS headers that let the page read the answer. */
export function allowOrigin(call: EdgeCall, headers: Pick<Headers, 'set' | 'append'>): void {
  headers.set('access-control-allow-origin', call.headers.get('origin') as string);
  headers.set('access-control-expose-headers', EXPOSED);
  headers.append('vary', 'Origin');
}

/** The authority of an absolute URL, such as `localhost:4000`. */
function authorityOf(url: string): string {
  const from = url.indexOf('://') + 3;
  const to = url.slice(from).search(/[/?#]/);
  return to === -1 ? url.slice(from) : url.slice(from, from + to);
}

/** Callers name few hosts. */
const MOST_KNOWN = 100;
const knownOrigin = remembering(MOST_KNOWN, (from) => new URL(from).origin);

/** The origin of an absolute URL, as `URL` says it, which it throws as. */
export function originOf(url: string): string {
  return knownOrigin(url.slice(0, url.indexOf('://') + 3) + authorityOf(url));
}

/** The host of an authority, in lower case, without port and brackets; a plain address is its own. */
export function hostOf(authority: string): string {
  if (isIP(authority) === 6) return authority;
  const host = authority.replace(/:\d*$/, '').toLowerCase().replace(/\.$/, '');
  return host.startsWith('[') ? host.slice(1, -1) : host;
}

/** Says whether an address or name is this machine's own, and nobody else's. */
export const isLoopback = (host: string): boolean =>
  host === 'localhost' || host === '::1' || (isIP(host) === 4 && host.startsWith('127.'));

/**
 * Says whether a gateway answers to a name. A page of somebody else's, whose name was made to lead here (DNS rebinding),
 * names itself; an address cannot be made to lead elsewhere.
 */
function servedNames(hosts: readonly string[] | 'any'): (authority: string) => boolean {
  if (hosts === 'any') return () => true;
  const names = new Set(hosts.map((host) => hostOf(host)));
  return remembering(MOST_KNOWN, (authority) => {
    const host = hostOf(authority);
    return names.has(host) || isLoopback(host) || host.endsWith('.localhost') || isIP(host) !== 0;
  });
}
