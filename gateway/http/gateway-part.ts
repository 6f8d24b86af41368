import type { EdgeCall } from './edge-call.ts';
import type { EdgeRequest } from '../../runtime/protocol/admission.ts';
import type { Principal } from '../../runtime/protocol/principal.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import type { Body } from './body.ts';

/**
 * Finds out who stands behind a request: as `admit` of the policies, with everything that it needs. `known`: who has been
 * found to, and asks for something more by the same request; it is asked only whether they may.
 */
export type Admit = (request: EdgeRequest, known?: Principal) => Promise<Principal>;

/**
 * What a gateway has in common for all protocols that it speaks.
 *
 * - `closing` aborts when the gateway is to end: whoever streams says its last, and closes.
 * - `baseUrl` under which the caller reaches the gateway, without a slash at its end.
 * - `addressOf` the other end of its connection, where that is known.
 * - `read`    the body. Rejects with BODY_TOO_LARGE, with INVALID_OPTIONS when it is cut off, and with RATE_LIMITED
 *             when there is no room for it now.
 * - `admit`   who stands behind the request. Rejects with UNAUTHENTICATED, NOT_PERMITTED, RATE_LIMITED.
 * - `countRefusals` the same for a protocol's own: what it refuses is counted as the gateway's.
 * - `fault`   tells the operator of an error that no caller may see.
 */
export interface Edge<Call extends EdgeCall = EdgeCall> {
  readonly seams: Seams;
  readonly closing: AbortSignal;
  baseUrl(call: Call): string;
  addressOf(call: Call): string | undefined;
  read(call: Call): Promise<Body>;
  admit: Admit;
  countRefusals(admit: Admit): Admit;
  fault(error: unknown, call: Call): void;
}

/** The request, as a handler is given it. */
export interface RouteContext {
  readonly req: { readonly raw: Request; param(name: string): string | undefined };
  readonly json: (value: object, status?: 200 | 503, headers?: Record<string, string>) => Response;
  readonly body: (text: string, status: 200, headers: Record<string, string>) => Response;
}

export type RouteHandler = (
  context: RouteContext,
  next: () => Promise<void>,
) => Response | Promise<Response | undefined>;

/** The part of hono's app that parts mount routes with: so hono's types stay out of the public API. */
export interface Routes {
  get(path: string, handler: RouteHandler): unknown;
  post(path: string, handler: RouteHandler): unknown;
  on(methods: string | string[], path: string, handler: RouteHandler): unknown;
}

/**
 * One protocol of a gateway. What its handlers throw is answered as JSON of the gateway's own; a part that speaks otherwise
 * catches it. `close` resolves when nothing of it is under way any more.
 */
export interface GatewayPart {
  readonly name: string;
  readonly routes: readonly ServedRoute[];
  mount(app: Routes, edge: Edge): void;
  close?(): Promise<void>;
}

/** One route of a gateway and what it is for, such as `GET /healthz`. */
export interface ServedRoute {
  readonly method: string;
  readonly path: string;
  readonly serves: string;
}
