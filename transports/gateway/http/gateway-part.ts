import type { Hono } from 'hono';
import type { EdgeRequest } from '../../../runtime/protocol/admission.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Seams } from '../../../runtime/protocol/seams.ts';

/** Finds out who stands behind a request: as `admit` of the policies, with everything that it needs. */
export type Admit = (request: EdgeRequest) => Promise<Principal>;

/**
 * What a gateway has in common for all protocols that it speaks.
 *
 * - `closing` aborts when the gateway is to end: whoever streams says its last, and closes.
 * - `baseUrl` under which the caller reaches the gateway, without a slash at its end.
 * - `read`    the body's bytes. Rejects with BODY_TOO_LARGE, and with INVALID_OPTIONS when it is cut off.
 * - `admit`   who stands behind the request. Rejects with UNAUTHENTICATED, NOT_PERMITTED, RATE_LIMITED.
 */
export interface Edge {
  readonly seams: Seams;
  readonly closing: AbortSignal;
  baseUrl(request: Request): string;
  read(request: Request): Promise<Uint8Array>;
  admit: Admit;
}

/** Something that a gateway serves, for whoever wants to know: `GET /healthz`, and what it is there for. */
export interface ServedRoute {
  readonly method: string;
  readonly path: string;
  readonly serves: string;
}

/** One protocol of a gateway. `close` resolves when nothing of it is under way any more. */
export interface GatewayPart {
  readonly name: string;
  readonly routes: readonly ServedRoute[];
  mount(app: Hono, edge: Edge): void;
  close?(): Promise<void>;
}
