import {
  classifyInboundRequest,
  createMcpHandler,
  isJsonContentType,
  type McpHttpHandler,
  type McpRequestContext,
  type Server,
} from '@modelcontextprotocol/server';
import { notPermitted } from '../../../runtime/protocol/edge-errors.ts';
import { isOrreryError } from '../../../runtime/protocol/errors.ts';
import { holdsInfinity, MAX_JSON_DEPTH } from '../../../runtime/protocol/json.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { Body } from '../../http/body.ts';
import { type Exchange, exchangeWith } from '../../http/exchange.ts';
import type { Edge, GatewayPart } from '../../http/gateway-part.ts';
import { httpErrorHeaders, httpStatusOf } from '../../http/http-errors.ts';
import { DirectAnswers } from './direct-answer.ts';
import { isObject } from '../../http/json-text.ts';
import { invalidParams, isFault, MCP_CODES, McpError, mcpErrorOf } from './mcp-errors.ts';
import type { McpService } from './mcp-service.ts';
import { requireParamHeaders } from './param-headers.ts';
import { challengeOf, METADATA_PATH, resourceMetadata } from './protected-resource.ts';
import { sdkServer } from './sdk-server.ts';
import { LISTEN, taskListening, standIn, taskStream } from './task-listen.ts';
import { MAX_BATCH, Sessions } from './sessions.ts';

export const MCP_PATH = '/mcp';

/** The part that serves MCP over Streamable HTTP, in all revisions, at one path. */
export function mcpPart(service: McpService): GatewayPart {
  const { authorizationServers } = service.options;
  const isTold = authorizationServers.length > 0;
  let open: McpEndpoint | undefined;
  return {
    name: 'mcp',
    routes: [
      { method: 'POST', path: MCP_PATH, serves: 'MCP: 2026-07-28, and sessions of 2024-11-05 to 2025-11-25' },
      { method: 'GET', path: MCP_PATH, serves: 'MCP, what a session is told' },
      { method: 'DELETE', path: MCP_PATH, serves: 'MCP, the end of a session' },
      ...(isTold
        ? [{ method: 'GET', path: `${METADATA_PATH}${MCP_PATH}`, serves: 'where to get a token for MCP' }]
        : []),
    ],
    mount(app, edge) {
      const endpoint = new McpEndpoint(service, edge);
      open = endpoint;
      app.on(['POST', 'GET', 'DELETE'], MCP_PATH, ({ req }) => endpoint.answer(req.raw));
      if (!isTold) return;
      const tell = (request: Request): Response =>
        Response.json(
          resourceMetadata(`${edge.baseUrl(request)}${MCP_PATH}`, service.identity.name, service.options),
        );
      app.get(METADATA_PATH, ({ req }) => tell(req.raw));
      app.get(`${METADATA_PATH}${MCP_PATH}`, ({ req }) => tell(req.raw));
    },
    close: async () => open?.close(),
  };
}

/** The MCP endpoint of one gateway: checks scopes, and picks who serves a request, by its revision. */
class McpEndpoint {
  readonly #service: McpService;
  readonly #edge: Edge;
  readonly #modern: McpHttpHandler;
  readonly #sessions: Sessions;
  readonly #direct: DirectAnswers;
  readonly #stopListening: readonly (() => void)[];

  constructor(service: McpService, edge: Edge) {
    this.#service = service;
    this.#edge = edge;
    const { maxSubscriptions, keepAliveMs, maxSessions, maxSessionsPerCaller, sessionIdleMs } =
      service.options;
    this.#modern = createMcpHandler((context) => this.#serverOf(context), {
      legacy: 'reject',
      maxSubscriptions,
      keepAliveMs,
    });
    this.#direct = new DirectAnswers(service, (error, request) => edge.fault(error, request));
    this.#sessions = new Sessions({
      clock: edge.seams.clock,
      max: maxSessions,
      maxPerCaller: maxSessionsPerCaller,
      idleMs: sessionIdleMs,
      keepAliveMs,
      serverFor: (principal, subscriptions) =>
        sdkServer({ service, principal, era: 'legacy', onFault: this.#faultOf(), subscriptions }),
    });
    edge.closing.addEventListener('abort', () => this.#sessions.endStreams(), { once: true });
    this.#stopListening = [
      service.tools.onChange((change) => this.#tellChange(change)),
      service.tools.onUpdate((uri) => {
        this.#modern.notify.resourceUpdated(uri);
        this.#sessions.tell((server) => server.sendResourceUpdated({ uri }), uri);
      }),
    ];
  }

  answer(request: Request): Promise<Response> {
    let body: unknown;
    let known: Principal | undefined;
    return exchangeWith<Request, unknown, Response>(this.#edge, request, {
      permit: (principal) => {
        known = principal;
        this.#requireScopes(principal);
      },
      decode: async (received) => {
        if (request.method === 'POST') body = await readMessage(request.headers, received);
        return body;
      },
      handle: (message, exchange) => this.#handle(request, message, exchange),
      refuse: (error) => this.#failed(error, request, { body, principal: known }),
    });
  }

  async #handle(request: Request, message: unknown, exchange: Exchange): Promise<Response> {
    const { principal } = exchange;
    if (request.method !== 'POST') return this.#sessions.serve(request, undefined, principal);
    if (holdsInfinity(message)) throw invalidParams('A number is too large: JSON has none that is infinite');
    this.#requireToolScopes(message, principal);
    // Each call of a batch is admitted like a request.
    for (const _ of Array.isArray(message) ? message.slice(1, MAX_BATCH) : []) await exchange.admitAgain();
    await exchange.body.turn();
    return this.#answerMessage(request, message, principal);
  }

  async close(): Promise<void> {
    for (const stop of this.#stopListening) stop();
    await Promise.all([this.#modern.close(), this.#sessions.close()]);
  }

  async #answerMessage(request: Request, body: unknown, principal: Principal): Promise<Response> {
    this.#requireParamHeaders(request, body, principal);
    const direct = this.#direct.answer(request, body, principal);
    if (direct !== undefined) return direct;
    if (this.#eraOf(request, body) === 'legacy') return this.#sessions.serve(request, body, principal);
    const isListening = isObject(body) && body['method'] === LISTEN;
    const asked = isListening ? this.#untilClosing(request) : request;
    const tasks = this.#service.hasTasks ? taskListening(body, this.#service, principal) : undefined;
    const rest = tasks === undefined ? body : standIn(tasks);
    const parsedBody = isListening ? this.#onlyVisible(rest as typeof body, principal) : body;
    const authInfo = {
      token: '',
      clientId: principal.id,
      scopes: [...principal.roles],
      extra: { principal },
    };
    const response = await this.#modern.fetch(asked, { parsedBody, authInfo });
    return tasks === undefined ? response : taskStream(response, tasks);
  }

  /** Checks the headers that repeat arguments. Revisions before 2026-07-28 have none. */
  #requireParamHeaders(request: Request, body: unknown, principal: Principal): void {
    const params = calledBy(body);
    if (params === undefined) return;
    const view = this.#service.viewOf(principal);
    const declared = view.tool(params.name)?.paramHeaders ?? [];
    if (declared.length === 0 || this.#eraOf(request, body) === 'legacy') return;
    // A client that has searched for the tool has not seen which headers it declares.
    requireParamHeaders(declared, params.arguments, { headers: request.headers, mayLack: view.searches });
  }

  #eraOf({ method, headers }: Request, body: unknown): 'modern' | 'legacy' {
    const header = (name: string): string | undefined => headers.get(name) ?? undefined;
    const [version, named] = [header('mcp-protocol-version'), header('mcp-method')];
    const found = classifyInboundRequest({
      httpMethod: method,
      body,
      ...(version === undefined ? {} : { protocolVersionHeader: version }),
      ...(named === undefined ? {} : { mcpMethodHeader: named }),
    });
    return found.kind === 'legacy' ? 'legacy' : 'modern';
  }

  #serverOf({ authInfo }: McpRequestContext): Server {
    const principal = authInfo?.extra?.['principal'] as Principal;
    return sdkServer({ service: this.#service, principal, era: 'modern', onFault: this.#faultOf() });
  }

  #tellChange(change: 'tools' | 'resources' | 'prompts'): void {
    const { notify } = this.#modern;
    switch (change) {
      case 'tools':
        notify.toolsChanged();
        return this.#sessions.tell((server) => server.sendToolListChanged());
      case 'resources':
        notify.resourcesChanged();
        return this.#sessions.tell((server) => server.sendResourceListChanged());
      case 'prompts':
        notify.promptsChanged();
        return this.#sessions.tell((server) => server.sendPromptListChanged());
    }
  }

  /** The request with a signal that aborts when the gateway closes, so that its stream ends. */
  #untilClosing({ url, method, headers, signal }: Request): Request {
    return new Request(url, { method, headers, signal: AbortSignal.any([signal, this.#edge.closing]) });
  }

  /** Removes subscriptions to resources that the caller does not see. */
  #onlyVisible(body: Readonly<Record<string, unknown>>, principal: Principal): unknown {
    const params = isObject(body['params']) ? body['params'] : {};
    const wanted = isObject(params['notifications']) ? params['notifications'] : {};
    const { resourceSubscriptions: uris } = wanted;
    if (!Array.isArray(uris)) return body;
    const view = this.#service.viewOf(principal);
    const resourceSubscriptions = uris.filter((uri) => typeof uri !== 'string' || view.maySee(uri));
    return { ...body, params: { ...params, notifications: { ...wanted, resourceSubscriptions } } };
  }

  #requireScopes({ roles }: Principal): void {
    const lacking = this.#service.options.scopes.use.filter((scope) => !roles.includes(scope));
    if (lacking.length > 0) throw new ScopesLacking(lacking);
  }

  #requireToolScopes(body: unknown, principal: Principal): void {
    const params = this.#service.options.scopes.of === undefined ? undefined : calledBy(body);
    if (params === undefined) return;
    const served = this.#service.viewOf(principal).tool(params.name);
    const lacking = served === undefined ? [] : this.#service.calls.scopesLacking(served, { principal });
    if (lacking.length > 0) throw new ScopesLacking(lacking);
  }

  #failed(
    thrown: unknown,
    request: Request,
    { body, principal }: { readonly body: unknown; readonly principal: Principal | undefined },
  ): Response {
    const scopes = thrown instanceof ScopesLacking ? thrown.scopes : this.#service.options.scopes.use;
    const error = thrown instanceof ScopesLacking ? notPermitted(thrown.message) : thrown;
    if (isFault(error)) this.#edge.fault(error, request);
    const { code, message, data } = mcpErrorOf(error);
    const isTold = this.#service.options.authorizationServers.length > 0;
    const challenge = challengeOf(error, {
      metadataUrl: isTold ? `${this.#edge.baseUrl(request)}${METADATA_PATH}${MCP_PATH}` : undefined,
      scopes,
      isKnown: principal !== undefined || request.headers.has('authorization'),
    });
    return Response.json(
      { jsonrpc: '2.0', id: idIn(body), error: { code, message, ...(data === undefined ? {} : { data }) } },
      {
        status: statusOf(error),
        headers: {
          ...httpErrorHeaders(error),
          ...(challenge === undefined ? {} : { 'www-authenticate': challenge }),
        },
      },
    );
  }

  #faultOf(): (error: unknown) => void {
    return (error) => this.#edge.fault(error, FAULT_REQUEST);
  }
}

/** The request that a fault is reported for when its own is not known. */
const FAULT_REQUEST = new Request(`http://localhost${MCP_PATH}`, { method: 'POST' });

class ScopesLacking extends Error {
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    super(`The caller lacks ${scopes.join(', ')}`);
    this.scopes = scopes;
  }
}

async function readMessage(headers: Headers, received: Body): Promise<unknown> {
  if (!isJsonContentType(headers.get('content-type')))
    throw new UnsupportedMediaType(MCP_CODES.invalidRequest, 'Content-Type: expected application/json');
  const read = await received.json();
  if (read.kind === 'no-json')
    throw new McpError(MCP_CODES.parseError, 'Parse error: the body is no JSON in UTF-8');
  if (read.kind === 'too-deep')
    throw new McpError(
      MCP_CODES.invalidRequest,
      `The message is nested deeper than ${MAX_JSON_DEPTH} levels`,
    );
  return read.value;
}

class UnsupportedMediaType extends McpError {}

const statusOf = (error: unknown): number => {
  if (error instanceof UnsupportedMediaType) return 415;
  if (error instanceof McpError) return error.code === MCP_CODES.internal ? 500 : 400;
  return isOrreryError(error) ? httpStatusOf(error) : 500;
};

/** The tool and arguments of a `tools/call`; undefined for any other message, and for a batch. */
function calledBy(body: unknown): { readonly name: string; readonly arguments: unknown } | undefined {
  if (!isObject(body) || body['method'] !== 'tools/call' || !isObject(body['params'])) return undefined;
  const { name, arguments: args } = body['params'];
  return typeof name === 'string' ? { name, arguments: args } : undefined;
}

const idIn = (body: unknown): string | number | null => {
  const id = isObject(body) ? body['id'] : undefined;
  return typeof id === 'string' || Number.isFinite(id) ? (id as string | number) : null;
};
