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
} from './endpoint.ts';
import { type Exchange, openExchange } from './exchange.ts';
import { fault, wrongRequest } from '../wire/faults.ts';
import { errorHeaders, httpStatusOf, jsonAnswer } from './http-answer.ts';
import { jsonIn, requireJson } from './json-body.ts';
import { idOf, isNotification, type JsonRpcCall, type JsonRpcId, readCall } from './json-rpc-call.ts';
import { sseAnswer } from './sse.ts';
import { dialectForErrors, dialectOfMethod, saidVersion } from './versions.ts';

/** `dialects`: those that are spoken, the newest first. */
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
export function jsonRpcEndpoint(deps: JsonRpcDeps): Endpoint {
  return async (request, agentId) => {
    const said = saidVersion(request);
    let exchange: Exchange | undefined;
    try {
      requireJson(request.headers);
      exchange = await openExchange(deps.edge, request, deps.service.extensions);
      const value = await jsonIn(exchange.body);
      const context = { deps, request, exchange, said, agentId };
      return Array.isArray(value) ? await answerBatch(context, value) : await answerOne(context, value);
    } catch (error) {
      exchange?.close();
      return failure(dialectForErrors(deps.dialects, said), null, shownBy(deps.edge, error, request));
    }
  };
}

interface Context {
  readonly deps: JsonRpcDeps;
  readonly request: EdgeCall;
  readonly exchange: Exchange;
  readonly said: string | undefined;
  readonly agentId: string | undefined;
}

/** The exchange is closed when the answer is over, that of a stream when the stream is. */
async function answerOne(context: Context, value: unknown): Promise<Answer> {
  const { exchange, deps, said, request } = context;
  let dialect = dialectForErrors(deps.dialects, said);
  try {
    const call = readCall(value);
    dialect = dialectOfMethod(deps.dialects, said, call.method);
    if (call.id === undefined) return await notified(context, call, dialect);
    const performed = await run(context, call, dialect);
    if (performed.kind === 'stream') return streamed(context, call.id, dialect, performed);
    exchange.close();
    return jsonAnswer(
      { jsonrpc: '2.0', id: call.id, result: performed.result },
      { headers: exchange.echoed },
    );
  } catch (error) {
    exchange.close();
    const shown = shownBy(deps.edge, error, request);
    return isNotification(value) ? nothing() : failure(dialect, idOf(value), shown);
  }
}

/** Calls of a batch are performed side by side, each let in as one request is; what would stream has no place in it. */
async function answerBatch(context: Context, values: readonly unknown[]): Promise<Answer> {
  if (values.length === 0 || values.length > MAX_BATCH)
    throw wrongRequest('batch', values.length, `1 to ${MAX_BATCH} calls`);
  const answers = await Promise.all(values.map((value, at) => answerInBatch(context, value, at)));
  context.exchange.close();
  const said = answers.filter((answer) => answer !== undefined);
  return said.length === 0 ? nothing() : jsonAnswer(said, { headers: context.exchange.echoed });
}

async function answerInBatch(context: Context, value: unknown, at: number): Promise<Json | undefined> {
  const { deps, said, request, exchange } = context;
  let dialect = dialectForErrors(deps.dialects, said);
  try {
    const call = readCall(value);
    dialect = dialectOfMethod(deps.dialects, said, call.method);
    // The first was let in with the request.
    if (at > 0) await exchange.admit();
    const operation = dialect.methods[call.method];
    if (operation === 'stream' || operation === 'subscribe')
      throw fault(
        'UNSUPPORTED_OPERATION',
        `${call.method} is answered by a stream: it can not be in a batch`,
      );
    const performed = await run(context, call, dialect);
    if (call.id === undefined || performed.kind !== 'answer') return undefined;
    return { jsonrpc: '2.0', id: call.id, result: performed.result };
  } catch (error) {
    const shown = shownBy(deps.edge, error, request);
    return isNotification(value) ? undefined : errorBody(dialect, idOf(value), shown);
  }
}

function run(context: Context, call: JsonRpcCall, dialect: Dialect): Promise<Performed> {
  const { deps, exchange, agentId } = context;
  const agent = agentMeant(agentId, call.params?.['tenant']);
  return perform(deps, wantedOf(context, call, dialect), exchange.caller(agent, dialect));
}

function wantedOf({ request, exchange }: Context, { method, params }: JsonRpcCall, dialect: Dialect): Wanted {
  const operation = dialect.methods[method];
  if (operation === undefined) throw fault('METHOD_NOT_FOUND', `There is no method "${method}"`);
  const after = operation === 'subscribe' ? lastEventId(request.headers) : undefined;
  return { dialect, operation, params: params ?? {}, after, turn: () => exchange.body.turn() };
}

/** Nobody waits for what a notification leads to: it is taken in, and that is all. */
async function notified(context: Context, call: JsonRpcCall, dialect: Dialect): Promise<Answer> {
  const { deps, exchange, agentId } = context;
  const wanted = wantedOf(context, call, dialect);
  if (wanted.operation === 'send' || wanted.operation === 'stream') {
    const agent = agentMeant(agentId, call.params?.['tenant']);
    const order = { ...readWith(wanted, wanted.operation), returnImmediately: true };
    await exchange.body.turn();
    await deps.service.perform('send', order, exchange.caller(agent, dialect));
  } else if (wanted.operation !== 'subscribe') await run(context, call, dialect);
  exchange.close();
  return nothing();
}

function streamed(
  { deps, exchange, request }: Context,
  id: JsonRpcId,
  dialect: Dialect,
  { items, write }: Extract<Performed, { kind: 'stream' }>,
): Answer {
  return sseAnswer({
    items,
    write: (item) => ({ id: eventIdOf(item), data: { jsonrpc: '2.0', id, result: write(item) } }),
    writeError: (error) => ({ data: errorBody(dialect, id, shownBy(deps.edge, error, request)) }),
    clock: deps.edge.seams.clock,
    heartbeatMs: deps.heartbeatMs,
    onEnd: exchange.close,
    headers: exchange.echoed,
  });
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
