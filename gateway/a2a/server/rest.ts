import type { OrreryError } from '../../../runtime/protocol/errors.ts';
import type { Json } from '../wire/json.ts';
import type { Body } from '../../http/body.ts';
import type { Dialect, RestBinding } from '../wire/dialect.ts';
import {
  agentMeant,
  type EndpointDeps,
  eventIdOf,
  lastEventId,
  type Performed,
  perform,
  shownBy,
} from './endpoint.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { faultOf, wrongParameter } from '../wire/faults.ts';
import { errorHeaders, httpStatusOf, jsonResponse } from './http-answer.ts';
import { jsonIn, requireJson } from './json-body.ts';
import { type RestMatch, type RestRoute, restRouter } from '../wire/rest-routes.ts';
import { rpcStatusOf } from './rpc-status.ts';
import { sseResponse } from './sse.ts';
import { dialectOf, saidVersion } from './versions.ts';

/** Answers requests that are of this binding; resolves to undefined for all others, which it leaves unread. */
export type RestEndpoint = (request: Request) => Promise<Response | undefined>;

export function restEndpoint(deps: EndpointDeps, binding: RestBinding): RestEndpoint {
  const find = restRouter(binding.routes);
  return async (request) => {
    const match = find(request.method, new URL(request.url).pathname);
    return match === undefined ? undefined : answer({ deps, binding, request, match });
  };
}

interface Context {
  readonly deps: EndpointDeps;
  readonly binding: RestBinding;
  readonly request: Request;
  readonly match: RestMatch;
}

async function answer(context: Context): Promise<Response> {
  const { deps, binding, request, match } = context;
  const { operation } = match.route;
  let exchange: Exchange | undefined;
  try {
    const dialect = dialectFor(binding, request);
    exchange = await openExchange(deps.edge, request, deps.service.extensions);
    const params = await paramsOf(request, match, exchange.body);
    const caller = exchange.caller(agentMeant(match.agentId, params['tenant']), dialect);
    const after = operation === 'subscribe' ? lastEventId(request.headers) : undefined;
    const { body } = exchange;
    const wanted = { dialect, operation, params, after, turn: () => body.turn() };
    const performed = await perform(deps, wanted, caller);
    if (performed.kind === 'stream') return streamed(context, exchange, performed);
    exchange.close();
    return answered(context, performed.result, exchange.echoed);
  } catch (error) {
    exchange?.close();
    return failure(binding, shownBy(deps.edge, error, request));
  }
}

/** Throws VERSION_NOT_SUPPORTED. */
function dialectFor({ dialect, others = [], isVersioned }: RestBinding, request: Request): Dialect {
  return isVersioned ? dialectOf([dialect, ...others], saidVersion(request)) : dialect;
}

/** Everything that the request says: its body, what stands in the query, and what stands in the path. */
async function paramsOf(
  request: Request,
  { route, variables }: RestMatch,
  body: Body,
): Promise<Record<string, unknown>> {
  const said = route.method === 'POST' && body.length > 0 ? await saidIn(request, body) : {};
  return { ...said, ...queryOf(new URL(request.url).searchParams, route), ...variables };
}

async function saidIn(request: Request, body: Body): Promise<object> {
  requireJson(request.headers);
  const value = await jsonIn(body);
  // Some clients of 0.3 write null where there is nothing to say.
  if (value === null) return {};
  if (typeof value === 'object' && value !== null && !Array.isArray(value)) return value;
  throw wrongParameter('body', value, 'an object');
}

/** The query parameters that the route knows, by either spelling, as values of their kinds. */
function queryOf(query: URLSearchParams, { query: kinds = {} }: RestRoute): Record<string, unknown> {
  const said: Record<string, unknown> = {};
  for (const [name, kind] of Object.entries(kinds)) {
    const text = query.get(name) ?? query.get(snakeCase(name));
    if (text !== null) said[name] = parameterOf(name, text, kind);
  }
  return said;
}

const snakeCase = (name: string): string => name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

function parameterOf(name: string, text: string, kind: 'text' | 'number' | 'boolean'): unknown {
  if (kind === 'text') return text;
  if (kind === 'boolean' && (text === 'true' || text === 'false')) return text === 'true';
  if (kind === 'number' && /^-?\d+$/.test(text)) return Number(text);
  throw wrongParameter(name, text, kind === 'number' ? 'an integer' : 'true or false');
}

function answered(
  { binding, match }: Context,
  result: Json,
  echoed: Readonly<Record<string, string>>,
): Response {
  if (match.route.operation === 'deletePush') return new Response(null, { status: 204, headers: echoed });
  return jsonResponse(result, { headers: { ...echoed, 'content-type': binding.contentType } });
}

function streamed(
  { deps, binding, request }: Context,
  exchange: Exchange,
  { items, write }: Extract<Performed, { kind: 'stream' }>,
): Response {
  return sseResponse({
    items,
    write: (item) => ({ id: eventIdOf(item), data: write(item) }),
    writeError: (error) => ({
      event: 'error',
      data: errorOf(binding, shownBy(deps.edge, error, request)).body,
    }),
    clock: deps.edge.seams.clock,
    heartbeatMs: deps.heartbeatMs,
    onEnd: exchange.close,
    headers: exchange.echoed,
  });
}

function failure(binding: RestBinding, error: OrreryError): Response {
  const { status, body } = errorOf(binding, error);
  return jsonResponse(body, {
    status,
    headers: { ...errorHeaders(error), 'content-type': binding.contentType },
  });
}

function errorOf(binding: RestBinding, error: OrreryError): { status: number; body: Json } {
  if (binding.writeError !== undefined) return binding.writeError(error);
  const { httpStatus, message, data } = binding.dialect.writeError(error);
  const status = httpStatusOf(error) ?? httpStatus;
  return {
    status,
    body: { error: { code: status, status: rpcStatusOf(faultOf(error)), message, details: data ?? [] } },
  };
}
