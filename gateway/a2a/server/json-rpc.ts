import type { OrreryError } from '../../../runtime/protocol/errors.ts';
import type { Json } from '../wire/json.ts';
import type { Answer } from '../../http/answer.ts';
import type { EdgeCall } from '../../http/edge-call.ts';
import type { Dialect } from '../wire/dialect.ts';
import {
  agentMeant,
  type Endpoint,
  type EndpointDeps,
  eventIdOf,
  lastEventId,
  type Performed,
  perform,
  readWith,
  shownBy,
  type Wanted,
  dialectForErrors,
  dialectOfMethod,
  saidVersion,
} from './endpoint.ts';
import type { Body } from '../../http/body.ts';
import { type Exchange, exchangeWith, type RequestHandler } from '../../http/exchange.ts';
import { activatedBy, type Caller, ExchangeCaller, NOTHING_ACTIVATED } from './caller.ts';
import { fault, wrongRequest } from '../wire/faults.ts';
import {
  errorHeaders,
  httpStatusOf,
  jsonAnswer,
  idOf,
  isNotification,
  type JsonRpcCall,
  type JsonRpcId,
  readCall,
  jsonIn,
  requireJson,
} from './json-over-http.ts';
import { sseAnswer } from '../../http/sse.ts';

/** `dialects`: those that are served, the newest first. */
export interface JsonRpcDeps extends EndpointDeps {
  readonly dialects: readonly Dialect[];
}

/** How many calls one request may have. */
const MAX_BATCH = 50;

/**
 * A2A over JSON-RPC 2.0: one call, or a batch, a request; what streams is answered by server-sent events.
 *
 * An error is answered with status 200, but for those that HTTP itself has a word for.
 */
export const jsonRpcEndpoint =
  (deps: JsonRpcDeps): Endpoint =>
  (call, agentId) =>
    exchangeWith(deps.edge, call, new JsonRpcRequest(deps, call, agentId));

class JsonRpcRequest implements RequestHandler<unknown, Answer> {
  readonly #deps: JsonRpcDeps;
  readonly #request: EdgeCall;
  readonly #agentId: string | undefined;
  readonly #version: string | undefined;
  #activated = NOTHING_ACTIVATED;
  /** The call, and the dialect for its errors. */
  #value: unknown;
  #dialect: Dialect;

  constructor(deps: JsonRpcDeps, request: EdgeCall, agentId: string | undefined) {
    this.#deps = deps;
    this.#request = request;
    this.#agentId = agentId;
    this.#version = saidVersion(request);
    this.#dialect = dialectForErrors(deps.dialects, this.#version);
  }

  check(): void {
    requireJson(this.#request.headers);
  }

  decode(body: Body): Promise<unknown> {
    return jsonIn(body);
  }

  async handle(value: unknown, exchange: Exchange): Promise<Answer> {
    this.#activated = activatedBy(this.#request, this.#deps.service.extensions);
    if (Array.isArray(value)) return this.#answerBatch(value, exchange);
    this.#value = value;
    const call = readCall(value);
    const dialect = dialectOfMethod(this.#deps.dialects, this.#version, call.method);
    this.#dialect = dialect;
    if (call.id === undefined) return this.#notified(call, dialect, exchange);
    const performed = await this.#perform(call, dialect, exchange);
    if (performed.kind === 'stream') return this.#streamed(call.id, performed, exchange);
    return jsonAnswer(
      { jsonrpc: '2.0', id: call.id, result: performed.result },
      { headers: this.#activated.echoed },
    );
  }

  refuse(error: unknown): Answer {
    const shown = this.#shown(error);
    return isNotification(this.#value) ? nothing() : failure(this.#dialect, idOf(this.#value), shown);
  }

  /** Calls of a batch are performed side by side, each let in as one request is; what would stream has no place in it. */
  async #answerBatch(values: readonly unknown[], exchange: Exchange): Promise<Answer> {
    if (values.length === 0 || values.length > MAX_BATCH)
      throw wrongRequest('batch', values.length, `1 to ${MAX_BATCH} calls`);
    const answers = await Promise.all(values.map((value, at) => this.#answerInBatch(value, at, exchange)));
    const said = answers.filter((answer) => answer !== undefined);
    return said.length === 0 ? nothing() : jsonAnswer(said, { headers: this.#activated.echoed });
  }

  async #answerInBatch(value: unknown, at: number, exchange: Exchange): Promise<Json | undefined> {
    const { dialects } = this.#deps;
    let dialect = this.#dialect;
    try {
      const call = readCall(value);
      dialect = dialectOfMethod(dialects, this.#version, call.method);
      // The first was let in with the request.
      if (at > 0) await exchange.admitAgain();
      const operation = dialect.methods[call.method];
      if (operation === 'stream' || operation === 'subscribe')
        throw fault(
          'UNSUPPORTED_OPERATION',
          `${call.method} is answered by a stream: it can not be in a batch`,
        );
      const performed = await this.#perform(call, dialect, exchange);
      if (call.id === undefined || performed.kind !== 'answer') return undefined;
      return { jsonrpc: '2.0', id: call.id, result: performed.result };
    } catch (error) {
      const shown = this.#shown(error);
      return isNotification(value) ? undefined : errorBody(dialect, idOf(value), shown);
    }
  }

  #perform(call: JsonRpcCall, dialect: Dialect, exchange: Exchange): Promise<Performed> {
    const caller = this.#callerOf(call, dialect, exchange);
    return perform(this.#deps, this.#wanted(call, dialect, exchange), caller);
  }

  #wanted({ method, params }: JsonRpcCall, dialect: Dialect, { body }: Exchange): Wanted {
    const operation = dialect.methods[method];
    if (operation === undefined) throw fault('METHOD_NOT_FOUND', `There is no method "${method}"`);
    const after = operation === 'subscribe' ? lastEventId(this.#request.headers) : undefined;
    return { dialect, operation, params: params ?? {}, after, turn: () => body.turn() };
  }

  #callerOf({ params }: JsonRpcCall, { version }: Dialect, exchange: Exchange): Caller {
    const agentId = agentMeant(this.#agentId, params?.['tenant']);
    return new ExchangeCaller(exchange, { agentId, dialect: version, extensions: this.#activated.active });
  }

  /** Performs a notification, which has no answer. */
  async #notified(call: JsonRpcCall, dialect: Dialect, exchange: Exchange): Promise<Answer> {
    const wanted = this.#wanted(call, dialect, exchange);
    if (wanted.operation === 'send' || wanted.operation === 'stream') {
      const caller = this.#callerOf(call, dialect, exchange);
      const order = { ...readWith(wanted, wanted.operation), returnImmediately: true };
      await exchange.body.turn();
      await this.#deps.service.perform('send', order, caller);
    } else if (wanted.operation !== 'subscribe') await this.#perform(call, dialect, exchange);
    return nothing();
  }

  #streamed(
    id: JsonRpcId,
    { items, write }: Extract<Performed, { kind: 'stream' }>,
    exchange: Exchange,
  ): Answer {
    const dialect = this.#dialect;
    return sseAnswer({
      items,
      write: (item) => ({ id: eventIdOf(item), data: { jsonrpc: '2.0', id, result: write(item) } }),
      writeError: (error) => ({ data: errorBody(dialect, id, this.#shown(error)) }),
      clock: this.#deps.edge.seams.clock,
      heartbeatMs: this.#deps.heartbeatMs,
      onEnd: exchange.goOn(),
      headers: this.#activated.echoed,
    });
  }

  #shown(error: unknown): OrreryError {
    return shownBy(this.#deps.edge, error, this.#request);
  }
}

function errorBody(dialect: Dialect, id: JsonRpcId, error: OrreryError): Json {
  const { code, message, data } = dialect.writeError(error);
  return { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
}

function failure(dialect: Dialect, id: JsonRpcId, error: OrreryError): Answer {
  return jsonAnswer(errorBody(dialect, id, error), {
    status: httpStatusOf(error) ?? 200,
    headers: errorHeaders(error),
  });
}

const nothing = (): Answer => ({ status: 204, headers: {}, body: undefined });
