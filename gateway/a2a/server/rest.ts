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
  dialectOf,
  saidVersion,
} from './endpoint.ts';
import { type Answer, type HeaderFields, responseOf } from '../../http/answer.ts';
import { type Exchange, exchangeWith, type RequestHandler } from '../../http/exchange.ts';
import { activatedBy, ExchangeCaller } from './caller.ts';
import { FAULT_ROWS, faultOf, wrongParameter } from '../wire/faults.ts';
import { errorHeaders, httpStatusOf, jsonAnswer, jsonIn, requireJson } from './json-over-http.ts';
import { type RestMatch, type RestRoute, restRouter } from '../wire/rest-routes.ts';
import { sseAnswer } from '../../http/sse.ts';

/** Answers requests that are of this binding; resolves to undefined for all others, which it leaves unread. */
export type RestEndpoint = (request: Request) => Promise<Response | undefined>;

export function restEndpoint(deps: EndpointDeps, binding: RestBinding): RestEndpoint {
  const find = restRouter(binding.routes);
  return async (request) => {
    const match = find(request.method, new URL(request.url).pathname);
    if (match === undefined) return undefined;
    return responseOf(await exchangeWith(deps.edge, request, new RestRequest(deps, binding, request, match)));
  };
}

class RestRequest implements RequestHandler<Record<string, unknown>, Answer> {
  readonly #deps: EndpointDeps;
  readonly #binding: RestBinding;
  readonly #request: Request;
  readonly #match: RestMatch;
  #dialect: Dialect;

  constructor(deps: EndpointDeps, binding: RestBinding, request: Request, match: RestMatch) {
    this.#deps = deps;
    this.#binding = binding;
    this.#request = request;
    this.#match = match;
    this.#dialect = binding.dialect;
  }

  /** Throws VERSION_NOT_SUPPORTED. */
  check(): void {
    const { dialect, others = [], isVersioned } = this.#binding;
    if (isVersioned) this.#dialect = dialectOf([dialect, ...others], saidVersion(this.#request));
  }

  decode(body: Body): Promise<Record<string, unknown>> {
    return paramsOf(this.#request, this.#match, body);
  }

  async handle(params: Record<string, unknown>, exchange: Exchange): Promise<Answer> {
    const dialect = this.#dialect;
    const { operation } = this.#match.route;
    const { active, echoed } = activatedBy(this.#request, this.#deps.service.extensions);
    const agentId = agentMeant(this.#match.agentId, params['tenant']);
    const caller = new ExchangeCaller(exchange, { agentId, dialect: dialect.version, extensions: active });
    const after = operation === 'subscribe' ? lastEventId(this.#request.headers) : undefined;
    const { body } = exchange;
    const wanted = { dialect, operation, params, after, turn: () => body.turn() };
    const performed = await perform(this.#deps, wanted, caller);
    if (performed.kind === 'stream') return this.#streamed(performed, echoed, exchange);
    if (operation === 'deletePush') return { status: 204, headers: { ...echoed }, body: undefined };
    return jsonAnswer(performed.result, {
      headers: { ...echoed, 'content-type': this.#binding.contentType },
    });
  }

  refuse(thrown: unknown): Answer {
    const error = shownBy(this.#deps.edge, thrown, this.#request);
    const { status, body } = errorOf(this.#binding, error);
    const headers = { ...errorHeaders(error), 'content-type': this.#binding.contentType };
    return jsonAnswer(body, { status, headers });
  }

  #streamed(
    { items, write }: Extract<Performed, { kind: 'stream' }>,
    echoed: Readonly<HeaderFields>,
    exchange: Exchange,
  ): Answer {
    const { edge, heartbeatMs } = this.#deps;
    return sseAnswer({
      items,
      write: (item) => ({ id: eventIdOf(item), data: write(item) }),
      writeError: (error) => ({
        event: 'error',
        data: errorOf(this.#binding, shownBy(edge, error, this.#request)).body,
      }),
      clock: edge.seams.clock,
      heartbeatMs,
      onEnd: exchange.goOn(),
      headers: echoed,
    });
  }
}

/** The parameters of a request, from its body, its query and its path. */
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

function errorOf(binding: RestBinding, error: OrreryError): { status: number; body: Json } {
  if (binding.writeError !== undefined) return binding.writeError(error);
  const { httpStatus, message, data } = binding.dialect.writeError(error);
  const status = httpStatusOf(error) ?? httpStatus;
  return {
    status,
    body: {
      error: { code: status, status: FAULT_ROWS[faultOf(error)].rpcStatus, message, details: data ?? [] },
    },
  };
}
