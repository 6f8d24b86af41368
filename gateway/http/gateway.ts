import { Hono } from 'hono';
import { isOrreryError, OrreryError, systemStopped } from '../../runtime/protocol/errors.ts';
import { parseOptions } from '../../runtime/protocol/parse-options.ts';
import type { Seams } from '../../runtime/protocol/seams.ts';
import { traceContextOf } from '../../runtime/protocol/trace-context.ts';
import type { Span } from '../../runtime/protocol/tracer.ts';
import { type Answer, AnswerHeaders, responseOf } from './answer.ts';
import { type Body, ReceivedBody, readBody } from './body.ts';
import type { Admit, Edge, ServedRoute } from './gateway-part.ts';
import type { EdgeCall } from './edge-call.ts';
import {
  GatewayLimits,
  type ParsedLimits,
  type GatewayOptions,
  parseOrigin,
  parsePublicUrl,
} from './gateway-options.ts';
import { GatewayMetrics } from './gateway-metrics.ts';
import { errorAnswer, jsonError } from './http-errors.ts';
import { isEventStream, OpenStreams, type StreamDeps } from './open-streams.ts';
import { allowOrigin, isPreflight, preflightAnswer, requestGuard, originOf } from './request-guard.ts';
import { LARGE_BYTES, LargeBodies, type LargeBody } from './large-bodies.ts';
import { MemberCounter } from './json-text.ts';
import { type Peer, RequestsInHand } from './requests-in-hand.ts';
import { ThreadTurns } from './thread-turns.ts';
import { type FoundRoute, methodsFor, routeAt, routeOf } from './route-of.ts';

const REQUEST_ID = /^[\w.-]{1,64}$/;
const DEFAULT_DRAIN_MS = 10_000;
const NO_ROUTE = 'none';
/** The route's name for parts that do their own routing. */
const OTHER_ROUTE = 'other';

/** Headers of every answer that does not set them itself. */
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
  /** Whether callers have to prove who they are. */
  readonly isGuarded: boolean;
  readonly seams: Seams;
  readonly #options: GatewayOptions;
  readonly #app = new Hono();
  readonly #guard: ReturnType<typeof requestGuard>;
  readonly #publicUrl: string | undefined;
  readonly #inHand: RequestsInHand;
  readonly #streams = new OpenStreams();
  readonly #largeBodies: LargeBodies;
  readonly #turns = new ThreadTurns();
  /** Large bodies that may still be read, by request. */
  readonly #large = new WeakMap<EdgeCall, LargeBody>();
  readonly #closing = new AbortController();
  /** Requests without a handler. */
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
    this.#largeBodies = new LargeBodies({
      clock: seams.clock,
      limits: this.limits,
      maxHeapMb: heapFor(this.limits.maxBodyBytes),
    });
    this.metrics = new GatewayMetrics({
      openStreams: () => this.#streams.size,
      requestsInHand: () => this.#inHand.count,
      bytesInHand: () => this.#inHand.bytes,
    });
    this.routes = parts.flatMap((part) => part.routes);
    this.#app.notFound(({ req }) => this.#noSuchPath(req.raw));
    this.#app.onError((error, { req }) => responseOf(this.#answerTo(error, req.raw)));
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

  /** As `fetch`, with what is known of the connection. */
  async handle(request: Request, peer?: Peer): Promise<Response> {
    const visit = this.#enter(request, routeOf(this.#app, request), peer);
    const refusal = this.#refusalOf(visit);
    const answered =
      refusal === undefined ? await within(visit, () => this.#dispatch(request)) : responseOf(refusal);
    if (this.#unserved.has(request)) visit.route = NO_ROUTE;
    const { status } = answered;
    const isStream = isEventStream(answered.headers) && answered.body !== null;
    const response = changeable(isStream ? this.#tracked(visit, answered) : answered);
    this.#leave(visit, { status, headers: response.headers, isStream });
    return response;
  }

  /**
   * As `handle`, for a call that can do without a `Request`; undefined for one that cannot. What it resolves to is sent by
   * whoever calls it.
   */
  answer(call: RoutedCall, peer: Peer): Promise<Answer> | undefined {
    const found = routeAt(this.#app, call.method, call.path);
    return found.direct === undefined ? undefined : this.#answer(call, found, peer);
  }

  async #answer(call: RoutedCall, found: FoundRoute, peer: Peer): Promise<Answer> {
    const visit = this.#enter(call, found, peer);
    const answered = this.#refusalOf(visit) ?? (await within(visit, () => this.#answered(call, found)));
    const { status, headers, body } = answered;
    const isStream = typeof body === 'object';
    this.#leave(visit, { status, headers: new AnswerHeaders(headers), isStream });
    return isStream
      ? { status, headers, body: this.#streams.follow(body, this.#streamDeps(visit)) }
      : answered;
  }

  async #answered(call: RoutedCall, { direct }: FoundRoute): Promise<Answer> {
    try {
      return await (direct as NonNullable<FoundRoute['direct']>).answer(call, direct?.param);
    } catch (error) {
      return this.#answerTo(error, call);
    }
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
    const ends = await Promise.allSettled([
      ...this.#options.parts.map((part) => part.close?.()),
      this.#largeBodies.close(),
    ]);
    for (const end of ends) if (end.status === 'rejected') throw end.reason;
  }

  #enter(call: EdgeCall, { pattern }: FoundRoute, peer: Peer | undefined): Visit {
    const startedMs = this.seams.clock.monotonicMs();
    const given = call.headers.get('x-request-id');
    const id = given !== null && REQUEST_ID.test(given) ? given : this.seams.newId();
    this.#inHand.begin(call, id, peer);
    const span = this.#spanOf(call, pattern, id);
    const route = pattern ?? OTHER_ROUTE;
    return { call, id, startedMs, peer, pattern, route, isOfAllowedOrigin: false, span };
  }

  /** The span of a request, part of the trace that it names; none for what is asked all the time. */
  #spanOf(call: EdgeCall, pattern: string | undefined, id: string): Span | undefined {
    const { tracer } = this.seams;
    if (tracer === undefined || (pattern !== undefined && OF_OPERATORS.has(pattern))) return undefined;
    const method = methodName(call.method);
    return tracer.start({
      name: pattern === undefined ? method : `${method} ${pattern}`,
      kind: 'server',
      attributes: { 'http.request.method': method, 'http.route': pattern, 'orrery.request.id': id },
      parent: traceContextOf(call.headers.get('traceparent'), call.headers.get('tracestate')) ?? 'none',
    });
  }

  /** Refuses a request before its route is looked at. */
  #refusalOf(visit: Visit): Answer | undefined {
    const { call } = visit;
    const { refusal, code, origin } = this.#guard(call, originOf(call.url));
    visit.isOfAllowedOrigin = origin === 'allowed';
    if (refusal !== undefined) return this.#refused(visit, refusal, code ?? '');
    if (visit.isOfAllowedOrigin && isPreflight(call)) {
      visit.route = 'preflight';
      return preflightAnswer(call);
    }
    const overload = this.#overload(visit);
    return overload === undefined ? undefined : this.#refused(visit, errorAnswer(overload), overload.code);
  }

  #refused(visit: Visit, refusal: Answer, why: string): Answer {
    this.metrics.refused(why);
    visit.route = NO_ROUTE;
    return refusal;
  }

  /** Ends a visit: adds the usual headers, and counts the answer. */
  #leave(visit: Visit, { status, headers, isStream }: Answered): void {
    const { call, id, route, startedMs, span } = visit;
    span?.set({ 'http.response.status_code': status });
    span?.end(status >= 500 ? { code: String(status) } : undefined);
    this.#large.get(call)?.drop();
    if (isStream) this.#inHand.letGo(call);
    else this.#inHand.end(call);
    headers.set('x-request-id', id);
    for (const [name, value] of USUAL_HEADERS) if (!headers.has(name)) headers.set(name, value);
    const { schemes = [] } = this.#options;
    if (status === 401 && this.isGuarded && !headers.has('www-authenticate'))
      headers.set('www-authenticate', schemes.join(', '));
    if (this.isClosing) headers.set('connection', 'close');
    if (visit.isOfAllowedOrigin) allowOrigin(call, headers);
    const seconds = (this.seams.clock.monotonicMs() - startedMs) / 1_000;
    this.metrics.answered(route, methodName(call.method), status, seconds);
  }

  /** Refuses a request when too many are in hand; never one for health. */
  #overload({ pattern }: Visit): OrreryError | undefined {
    if (pattern === '/healthz' || pattern === '/readyz') return undefined;
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
      return responseOf(this.#answerTo(error, request));
    }
  }

  /** Answers HEAD: as GET, without the body. */
  async #headOf(request: Request): Promise<Response> {
    const { url, headers, signal } = request;
    const leaving = new AbortController();
    const asked = { headers, signal: AbortSignal.any([signal, leaving.signal]) };
    const get = new Request(url, asked);
    this.#inHand.standIn(get, request);
    const response = await this.#app.fetch(get);
    if (this.#unserved.has(get)) this.#unserved.add(request);
    await response.body?.cancel();
    leaving.abort();
    return new Response(null, response);
  }

  #answerTo(error: unknown, call: EdgeCall): Answer {
    const answer = errorAnswer(error);
    if (answer.status === 500) this.#fault(error, call);
    return answer;
  }

  #noSuchPath(request: Request): Response {
    this.#unserved.add(request);
    const allowed = methodsFor(this.#app, request);
    const code = allowed.length === 0 ? 'NO_SUCH_PATH' : 'METHOD_NOT_ALLOWED';
    this.metrics.refused(code);
    if (allowed.length === 0) return jsonError(404, code, `Nothing is served under ${pathOf(request)}`);
    const message = `${methodName(request.method)} is not served under ${pathOf(request)}`;
    return jsonError(405, code, message, { allow: allowed.join(', ') });
  }

  #tracked(visit: Visit, response: Response): Response {
    return this.#streams.track(response, this.#streamDeps(visit));
  }

  #streamDeps({ call, peer }: Visit): StreamDeps {
    return {
      onEnd: () => this.#inHand.end(call),
      onFault: (error) => this.#fault(error, call),
      cut: peer?.cut,
    };
  }

  #edge(): Edge {
    return {
      seams: this.seams,
      closing: this.#closing.signal,
      addressOf: (call) => this.#inHand.peerOf(call)?.address,
      baseUrl: ({ url }) => this.#publicUrl ?? originOf(url),
      read: (call) => this.#counted(this.#read(call)),
      admit: this.#countRefusals(this.#options.admit),
      countRefusals: (admit) => this.#countRefusals(admit),
      fault: (error, call) => this.#fault(error, call),
    };
  }

  async #read(call: EdgeCall): Promise<Body> {
    const source = this.#inHand.peerOf(call)?.body;
    const members = new MemberCounter(this.limits);
    const first: Uint8Array[] = [];
    let bytes = 0;
    const chunks = await readBody(call, {
      maxBytes: this.limits.maxBodyBytes,
      source,
      onBytes: (chunk) => {
        this.#inHand.hold(call, chunk.length);
        this.metrics.read(chunk.length);
        bytes += chunk.length;
        if (bytes > LARGE_BYTES) return this.#largeBodyOf(call, first.splice(0)).take(chunk);
        members.take(chunk);
        first.push(chunk);
      },
    });
    return new ReceivedBody(chunks, {
      large: this.#large.get(call),
      counted: (read) => this.#counted(read),
      turn: (nth) => (nth === 'first' ? this.#turns.begin(call.signal) : this.#turns.goOn(call.signal)),
    });
  }

  /** `first`: its bytes so far, which are counted here, and there again. */
  #largeBodyOf(call: EdgeCall, first: readonly Uint8Array[]): LargeBody {
    const known = this.#large.get(call);
    if (known !== undefined) return known;
    const body = this.#largeBodies.begin();
    this.#large.set(call, body);
    if (call.signal.aborted) body.drop();
    else call.signal.addEventListener('abort', () => body.drop(), { once: true });
    for (const chunk of first) body.take(chunk);
    return body;
  }

  #countRefusals(admit: Admit): Admit {
    const asked: Admit = async (request, known) => admit(request, known);
    return (request, known) => this.#counted(asked(request, known));
  }

  async #counted<Result>(work: Promise<Result>): Promise<Result> {
    try {
      return await work;
    } catch (error) {
      this.metrics.refused(isOrreryError(error) ? error.code : 'INTERNAL');
      throw error;
    }
  }

  #fault(error: unknown, call: EdgeCall): void {
    this.metrics.faulted();
    const requestId = this.#inHand.idOf(call) ?? '';
    const path = new URL(call.url).pathname;
    this.#options.onFault?.({ error, requestId, method: call.method, path });
  }
}

const MIB = 1_048_576;
/** The heap for large bodies, in MiB: more than the worst body takes, because a thread gets slow before its heap is full. */
const heapFor = (maxBodyBytes: number): number => Math.max(512, Math.ceil((32 * maxBodyBytes) / MIB));

/** A call without a `Request`. `path`: without the query, as it stands in the URL. */
export interface RoutedCall extends EdgeCall {
  readonly path: string;
}

/** A call from when it comes until its answer is known. `route`: what it is counted under. */
interface Visit {
  readonly call: EdgeCall;
  readonly id: string;
  readonly startedMs: number;
  readonly peer: Peer | undefined;
  readonly pattern: string | undefined;
  route: string;
  isOfAllowedOrigin: boolean;
  readonly span: Span | undefined;
}

/** Answers a call within its span, if it has one. */
const within = <Result>({ span }: Visit, work: () => Result): Result =>
  span === undefined ? work() : span.run(work);

/** What operators ask for again and again. */
const OF_OPERATORS: ReadonlySet<string> = new Set(['/healthz', '/readyz', '/metrics']);

interface Answered {
  readonly status: number;
  readonly headers: Pick<Headers, 'has' | 'set' | 'append'>;
  readonly isStream: boolean;
}

/** The response with headers that can be changed: those of a fetched one cannot. */
function changeable(response: Response): Response {
  try {
    response.headers.delete('x-request-id');
    return response;
  } catch {
    return new Response(response.body, response);
  }
}

const KNOWN_METHODS = new Set(['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS']);

/** The method's name in metrics; unknown ones share one name. */
const methodName = (method: string): string => (KNOWN_METHODS.has(method) ? method : 'other');

const MAX_PATH = 200;

const pathOf = ({ url }: Request): string => new URL(url).pathname.slice(0, MAX_PATH);
