import type { EdgeRequest } from '../../runtime/protocol/admission.ts';

const BEARER = /^Bearer +([A-Za-z0-9\-._~+/]+=*)$/i;

/** The token of an `Authorization: Bearer` header (RFC 6750); undefined without one. */
export function bearerTokenOf({ headers }: EdgeRequest): string | undefined {
  return BEARER.exec(headers.get('authorization') ?? '')?.[1];
}
