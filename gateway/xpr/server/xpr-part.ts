import { z } from 'zod';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { A2AService } from '../../a2a/server/a2a-service.ts';
import type { Json } from '../../a2a/wire/json.ts';
import { fault, faultOf } from '../../a2a/wire/faults.ts';
import {
  jsonAnswer,
  idOf,
  type JsonRpcCall,
  type JsonRpcId,
  readCall,
  jsonIn,
  requireJson,
} from '../../a2a/server/json-over-http.ts';
import { type Caller, ExchangeCaller, type SenderFacts } from '../../a2a/server/caller.ts';
import { taskIn } from '../../a2a/wire/operations.ts';
import type { Answer } from '../../http/answer.ts';
import { answerDirectly, type Answerer } from '../../http/route-of.ts';
import type { Admit, Edge, GatewayPart } from '../../http/gateway-part.ts';
import type { EdgeCall } from '../../http/edge-call.ts';
import { type Exchange, exchangeWith, type RequestHandler } from '../../http/exchange.ts';
import type { Body } from '../../http/body.ts';
import {
  writeXprTask,
  XPR_METHODS,
  type XprMethod,
  readCancel,
  readGet,
  readSend,
  type XprSendOrder,
  writeXprError,
} from './xpr-dialect.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';

/**
 * - `toolMode`       `readonly` allows only capabilities that are declared `readOnly`. @default 'full'
 * - `mostMessages`   messages that one task takes. @default no limit
 * - `answerWithinMs` how long `message/send` waits for the task to end. Then it answers with the task as it is, and the
 *                    caller polls by `tasks/get`. @default 25,000, which is less than clients wait
 */
const Settings = z.strictObject({
  toolMode: z.enum(['full', 'readonly']).default('full'),
  mostMessages: z.int().positive().optional(),
  answerWithinMs: Milliseconds.default(25_000),
});

/** `admit` is the admission of this binding. @default that of the gateway */
export interface XprPartOptions extends z.input<typeof Settings> {
  readonly service: A2AService;
  readonly admit?: Admit;
}

type Deps = z.output<typeof Settings> & {
  readonly service: A2AService;
  readonly admit: Admit | undefined;
  readonly edge: Edge;
};

const PATH = '/a2a';

/**
 * The part that serves XPR's binding of A2A (seed 2): JSON-RPC 2.0 at `POST /a2a`, and at `POST /{agentId}/a2a` for one
 * agent. Every answer has status 200. An invalid call is answered before the caller is authenticated. A request holds one
 * call, with an id, because a signature is for one.
 *
 * Throws INVALID_OPTIONS naming field and value.
 */
export function xprPart({ service, admit, ...settings }: XprPartOptions): GatewayPart {
  const parsed = parseOptions(Settings, settings, 'xpr');
  return {
    name: 'xpr',
    routes: [
      { method: 'POST', path: PATH, serves: 'XPR: message/send, tasks/get, tasks/cancel' },
      { method: 'POST', path: `/{agentId}${PATH}`, serves: 'XPR, of one agent' },
    ],
    mount(app, edge) {
      const deps = { ...parsed, service, edge, admit: admit && edge.countRefusals(admit) };
      const answer: Answerer = (call, agentId) =>
        exchangeWith(edge, call, new XprRequest(deps, call, agentId));
      for (const path of [PATH, `/:agentId${PATH}`]) answerDirectly(app, 'POST', path, answer);
    },
  };
}

class XprRequest implements RequestHandler<JsonRpcCall, Answer> {
  /** Invalid calls are answered before the caller is authenticated. */
  readonly decodesFirst = true;
  readonly admit: Admit | undefined;
  readonly #deps: Deps;
  readonly #request: EdgeCall;
  readonly #agentId: string | undefined;
  #id: JsonRpcId = null;

  constructor(deps: Deps, request: EdgeCall, agentId: string | undefined) {
    this.#deps = deps;
    this.admit = deps.admit;
    this.#request = request;
    this.#agentId = agentId;
  }

  check(): void {
    requireJson(this.#request.headers);
  }

  async decode(body: Body): Promise<JsonRpcCall> {
    const said = await jsonIn(body);
    this.#id = idOf(said);
    return callOf(said);
  }

  async handle(call: JsonRpcCall, exchange: Exchange): Promise<Answer> {
    return jsonAnswer({ jsonrpc: '2.0', id: this.#id, result: await this.#perform(call, exchange) });
  }

  refuse(error: unknown): Answer {
    if (faultOf(error) === 'INTERNAL') this.#deps.edge.fault(error, this.#request);
    const { code, message, data = null } = writeXprError(error);
    return jsonAnswer({ jsonrpc: '2.0', id: this.#id, error: { code, message, data } });
  }

  async #perform({ method, params = {} }: JsonRpcCall, exchange: Exchange): Promise<Json> {
    const { service, edge, answerWithinMs } = this.#deps;
    switch (methodOf(method)) {
      case 'message/send': {
        const order = readSend(params, { newId: edge.seams.newId, waitMs: answerWithinMs });
        await exchange.body.turn();
        const caller = this.#callerOf(exchange, senderFacts(order, exchange.principal));
        await requireRoom(this.#deps, order.taskId, caller);
        return writeXprTask(taskIn(await service.perform('send', order, caller)));
      }
      case 'tasks/get':
        return writeXprTask(await service.perform('get', readGet(params), this.#callerOf(exchange)));
      case 'tasks/cancel': {
        const task = await service.perform('cancel', readCancel(params), this.#callerOf(exchange));
        return writeXprTask({ ...task, history: [] });
      }
    }
  }

  #callerOf(exchange: Exchange, sender: SenderFacts = {}): Caller {
    const terms = { readOnly: this.#deps.toolMode === 'readonly' };
    return new ExchangeCaller(exchange, { agentId: this.#agentId, terms, extensions: [], sender });
  }
}

/** Reads a call. Throws INVALID_REQUEST for an invalid one, and for a notification. */
function callOf(said: unknown): JsonRpcCall {
  const call = readCall(said);
  if (call.id === undefined) throw fault('INVALID_REQUEST', 'id: is left out, expected that of the answer');
  return call;
}

function methodOf(method: string): XprMethod {
  if (Object.hasOwn(XPR_METHODS, method)) return method as XprMethod;
  throw fault('METHOD_NOT_FOUND', `There is no method "${method}", expected one of ${NAMES}`);
}

const NAMES = Object.keys(XPR_METHODS).join(', ');

/** Throws QUOTA_EXCEEDED if the task has had `mostMessages` messages of its owner. */
async function requireRoom(
  { service, mostMessages }: Deps,
  taskId: string | undefined,
  caller: Caller,
): Promise<void> {
  if (mostMessages === undefined || taskId === undefined) return;
  const { history } = await service.perform('get', { taskId }, caller);
  const said = history.filter(({ role }) => role === 'user').length;
  if (said >= mostMessages)
    throw fault('QUOTA_EXCEEDED', `The task "${taskId}" has had ${said} messages, and takes no more`, {
      taskId,
      mostMessages,
    });
}

const ACCOUNT_PREFIX = 'xpr:';

/**
 * The sender of a message, for its metadata. An authenticated account is the caller's, whatever the request claims.
 * The claim of an anonymous caller gets another key, so that it is not taken for proof.
 */
export function senderFacts(
  { claimedAccount }: Pick<XprSendOrder, 'claimedAccount'>,
  principal: Principal,
): SenderFacts {
  if (principal.id.startsWith(ACCOUNT_PREFIX))
    return { 'xpr:callerAccount': principal.id.slice(ACCOUNT_PREFIX.length) };
  if (principal.kind !== 'anonymous' || claimedAccount === undefined) return {};
  return { 'xpr:claimedAccount': claimedAccount };
}
