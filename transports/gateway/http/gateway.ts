import { Hono } from 'hono';
import type { EdgeRequest } from '../../../runtime/protocol/admission.ts';
import { isOrreryError, OrreryError, systemStopped } from '../../../runtime/protocol/errors.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Seams } from '../../../runtime/protocol/seams.ts';
import { GatewayLimits, type ParsedLimits } from './gateway-limits.ts';
import { GatewayMetrics } from './gateway-metrics.ts';
import { type GatewayOptions, parseOrigin, parsePublicUrl } from './gateway-options.ts';
import type { Edge, ServedRoute } from './gateway-part.ts';
import { errorResponse, jsonError } from './http-errors.ts';
import { isEventStream, OpenStreams } from './open-streams.ts';
import { allowOrigin, isPreflight, preflightResponse } from './origins.ts';
import { readBody } from './read-body.ts';
import { requestGuard } from './request-guard.ts';
import { type Peer, RequestsInHand } from './requests-in-hand.ts';
import { methodsFor, routeOf } from './route-of.ts';
import { originOf } from './served-names.ts';

const REQUEST_ID = /^[\w.-]{1,64}$/;
const DEFAULT_DRAIN_MS = 10_000;
const NO_ROUTE = 'none';
/** Of a part that finds its routes itself. */
const OTHER_ROUTE = 'other';

/** As every answer has them, unless it has its own. */
const USUAL_HEADERS = Object.entries({
  'cache-control': 'no-store',
  'content-security-policy': "default-src 'none'; frame-ancestors 'none'",
  'referrer-policy': 'no-referrer',
  'x-content-type-options': 'nosniff',
});

/** Serves protocols over HTTP. Fails with INVALID_OPTIONS naming field and value. */
export const createGateway = (options: GatewayOptions): Gateway => new Gateway(options);

/** One app for all protocols, in the shape of `fetch`. */
export class Gateway {
  readonly limits: ParsedLimits;
  readonly metrics: GatewayMetrics;
  readonly routes: readonly ServedRoute[];
  /** Whoever comes can be known. */
  readonly isGuarded: boolean;
  readonly seams: Seams;
  readonly #options: GatewayOptions;
  readonly #app = new Hono();
  readonly #guard: ReturnType<typeof requestGuard>;
  readonly #publicUrl: string | undefined;
  readonly #inHand: RequestsInHand;
  readonly #streams = new OpenStreams();
  readonly #closing = new AbortController();
  /** Requests for which there was no handler. */
  readonly #unserved = new WeakSet<Request>();
  #closed: Promise<void> | undefined;

  constructor(options: GatewayOptions) {
    const { parts, schemes = [], seams, limits = {}, hosts = [], origins = [], publicUrl } = options;
    this.#options = options;
    this.seams = seams;
    this.limits = parseOptions(GatewayLimits, limits, 'limits');
    this.isGuarded = schemes.length > 0;
    const url = publicUrl === undefined ? undefined : parsePublicUrl(publicUrl);
    this.#publicUrl = url?.href.replace(/\/+$/, '');
    this.#guard = requestGuard({
      hosts: hosts === 'any' ? hosts : [...hosts, ...(url === undefined ? [] : [url.host])],
      origins: origins.map(parseOrigin),
      publicOrigin: url?.origin,
    });
    this.#inHand = new RequestsInHand(this.limits);
    this.metrics = new GatewayMetrics({
      openStreams: () => this.#streams.size,
      requestsInHand: () => this.#inHand.count,
      bytesInHand: () => this.#inHand.bytes,
    });
    this.routes = parts.flatMap((part) => part.routes);
    this.#app.notFound(({ req }) => this.#noSuchPath(req.raw));
    this.#app.onError((error, { req }) => this.#answerTo(error, req.raw));
    const edge = this.#edge();
    for (const part of parts) part.mount(this.#app, edge);
  }

  get isClosing(): boolean {
    return this.#closing.signal.aborted;
  }

  /** How many requests are not answered yet, open streams among them. */
  get inHand(): number {
    return this.#inHand.count;
  }

  /** Answers a request; never rejects. For a server of one's own. */
  readonly fetch = (request: Request): Promise<Response> => this.handle(request);

  /** As `fetch`, for whoever knows more of the connection than the request says. */
  async handle(request: Request, peer?: Peer): Promise<Response> {
    const startedMs = this.seams.clock.monotonicMs();
    const given = request.headers.get('x-request-id');
    const id = given !== null && REQUEST_ID.test(given) ? given : this.seams.newId();
    this.#inHand.begin(request, id, peer);
    const { response, route, isOfAllowedOrigin } = await this.#respond(request);
    this.#inHand.letGo(request);
    const { status } = response;
    const isStream = isEventStream(response.headers) && response.body !== null;
    const answer = isStream ? this.#tracked(request, response, peer) : response;
    const complete = this.#withUsualHeaders(answer, id);
    if (isOfAllowedOrigin) allowOrigin(request, complete.headers);
    if (!isStream) this.#inHand.end(request);
    const seconds = (this.seams.clock.monotonicMs() - startedMs) / 1_000;
    this.metrics.answered(route, methodName(request.method), status, seconds);
    return complete;
  }

  /**
   * Takes no more requests, tells streams to end, and gives what is in hand `drainMs` to be done; then cuts it off. Resolves
   * when nothing of it is under way.
   */
  close({ drainMs = DEFAULT_DRAIN_MS }: { drainMs?: number } = {}): Promise<void> {
    this.#closed ??= this.#close(drainMs);
    return this.#closed;
  }

  async #close(drainMs: number): Promise<void> {
    this.#closing.abort(systemStopped('the gateway closes'));
    const late = Promise.withResolvers<void>();
    const cancel = this.seams.clock.setTimer(drainMs, late.resolve);
    await Promise.race([this.#inHand.whenNone(), late.promise]);
    cancel();
    this.#streams.cutAll();
    const ends = await Promise.allSettled(this.#options.parts.map((part) => part.close?.()));
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  async #respond(request: Request): Promise<Answer> {
    const { refusal, code, origin } = this.#guard(request, originOf(request.url));
    const isOfAllowedOrigin = origin === 'allowed';
    const refuse = (response: Response, why: string): Answer => {
      this.metrics.refused(why);
      return { response, route: NO_ROUTE, isOfAllowedOrigin };
    };
    if (refusal !== undefined) return refuse(refusal, code ?? '');
    if (isOfAllowedOrigin && isPreflight(request))
      return { response: preflightResponse(request), route: 'preflight', isOfAllowedOrigin };
    const overload = this.#overload(request);
    if (overload !== undefined) return refuse(errorResponse(overload), overload.code);
    const response = await this.#dispatch(request);
    const route = this.#unserved.has(request) ? NO_ROUTE : (routeOf(this.#app, request) ?? OTHER_ROUTE);
    return { response, route, isOfAllowedOrigin };
  }

  /** Health is told of in any case. */
  #overload(request: Request): OrreryError | undefined {
    if (routeOf(this.#app, request) === '/healthz') return undefined;
    if (this.isClosing) return systemStopped('the gateway closes');
    const { maxRequests } = this.limits;
    if (this.#inHand.count <= maxRequests) return undefined;
    return new OrreryError('RATE_LIMITED', `More than ${maxRequests} requests are in hand; try again later`, {
      details: { maxRequests, retryAfterMs: 1_000 },
    });
  }

  async #dispatch(request: Request): Promise<Response> {
    try {
      return await (request.method === 'HEAD' ? this.#headOf(request) : this.#app.fetch(request));
    } catch (error) {
      return this.#answerTo(error, request);
    }
  }

  /** What GET is answered with, but its body, which nobody waits for. */
  async #headOf({ url, headers, signal }: Request): Promise<Response> {
    const leaving = new AbortController();
    const asked = { headers, signal: AbortSignal.any([signal, leaving.signal]) };
    const response = await this.#app.fetch(new Request(url, asked));
    await response.body?.cancel();
    leaving.abort();
    return new Response(null, response);
  }

  #answerTo(error: unknown, request: Request): Response {
    const response = errorResponse(error);
    if (response.status === 500) this.#fault(error, request);
    return response;
  }

  #noSuchPath(request: Request): Response {
    this.#unserved.add(request);
    const allowed = methodsFor(this.#app, request);
    const code = allowed.length === 0 ? 'NO_SUCH_PATH' : 'METHOD_NOT_ALLOWED';
    this.metrics.refused(code);
    if (allowed.length === 0) return jsonError(404, code, 'Nothing is served under this path');
    const message = `${methodName(request.method)} is not served under this path`;
    return jsonError(405, code, message, { allow: allowed.join(', ') });
  }

  #tracked(request: Request, response: Response, peer: Peer | undefined): Response {
    return this.#streams.track(response, {
      onEnd: () => this.#inHand.end(request),
      onFault: (error) => this.#fault(error, request),
      cut: peer?.cut,
    });
  }

  #withUsualHeaders(response: Response, id: string): Response {
    const { headers } = response;
    try {
      headers.set('x-request-id', id);
    } catch {
      // Answers that were fetched from somebody else do not change.
      return this.#withUsualHeaders(new Response(response.body, response), id);
    }
    for (const [name, value] of USUAL_HEADERS) if (!headers.has(name)) headers.set(name, value);
    const { schemes = [] } = this.#options;
    if (response.status === 401 && this.isGuarded && !headers.has('www-authenticate'))
      headers.set('www-authenticate', schemes.join(', '));
    if (this.isClosing) headers.set('connection', 'close');
    return response;
  }

  #edge(): Edge {
    return {
      seams: this.seams,
      closing: this.#closing.signal,
      baseUrl: (request) => this.#publicUrl ?? originOf(request.url),
      read: (request) => this.#counted(this.#read(request)),
      admit: (request, known) => this.#counted(this.#admit(request, known)),
      fault: (error, request) => this.#fault(error, request),
    };
  }

  async #read(request: Request): Promise<Uint8Array> {
    const source = this.#inHand.peerOf(request)?.body;
    return readBody(request, {
      maxBytes: this.limits.maxBodyBytes,
      source,
      onBytes: (bytes) => {
        this.#inHand.hold(request, bytes);
        this.metrics.read(bytes);
      },
    });
  }

  async #admit(request: EdgeRequest, known?: Principal): Promise<Principal> {
    return this.#options.admit(request, known);
  }

  async #counted<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      this.metrics.refused(isOrreryError(error) ? error.code : 'INTERNAL');
      throw error;
    }
  }

  #fault(error: unknown, request: Request): void {
    this.metrics.faulted();
    const requestId = this.#inHand.idOf(request) ?? '';
    const path = new URL(request.url).pathname;
    this.#options.onFault?.({ error, requestId, method: request.method, path });
  }
}

interface Answer {
  readonly response: Response;
  readonly route: string;
  readonly isOfAllowedOrigin: boolean;
}

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** Methods that somebody invents make no series of their own. */
const methodName = (method: string): string => (KNOWN_METHODS.has(method) ? method : 'other');
