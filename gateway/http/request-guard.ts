import type { Answer } from './answer.ts';
import type { EdgeCall } from './edge-call.ts';
import { jsonAnswer } from './http-errors.ts';
import { type OriginVerdict, originVerdict } from './origins.ts';
import { authorityOf, hostOf, servedNames } from './served-names.ts';

/** `hosts`, `origins`: as the gateway's options. `publicOrigin`: its own, for those who come through a proxy. */
export interface GuardOptions {
  readonly hosts: readonly string[] | 'any';
  readonly origins: readonly string[];
  readonly publicOrigin?: string | undefined;
}

/** Why a request is not let in before anybody looks at it, and what a browser is told about the page that it is of. */
export interface GuardVerdict {
  readonly refusal: Answer | undefined;
  readonly code: string | undefined;
  readonly origin: OriginVerdict;
}

/** Looks at what a request says of itself: the name that it uses for the gateway, the page that it is of, its encoding. */
export function requestGuard({ hosts, origins, publicOrigin }: GuardOptions) {
  const isServed = servedNames(hosts);
  const allowed = new Set(origins);
  return (call: EdgeCall, own: string): GuardVerdict => {
    const authority = authorityOf(call.url);
    if (!isServed(hostOf(authority)))
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
