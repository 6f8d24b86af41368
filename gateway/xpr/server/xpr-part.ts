import { z } from 'zod';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import type { A2AService } from '../../a2a/server/a2a-service.ts';
import type { Json } from '../../a2a/wire/json.ts';
import { fault, faultOf } from '../../a2a/wire/faults.ts';
import { jsonResponse } from '../../a2a/server/http-answer.ts';
import { jsonIn, requireJson } from '../../a2a/server/json-body.ts';
import { idOf, type JsonRpcCall, type JsonRpcId, readCall } from '../../a2a/server/json-rpc-call.ts';
import type { Caller } from '../../a2a/server/caller.ts';
import { taskIn } from '../../a2a/wire/operations.ts';
import { Asked } from '../../http/asked.ts';
import type { Body } from '../../http/body.ts';
import type { Admit, Edge, GatewayPart } from '../../http/gateway-part.ts';
import { writeXprTask, XPR_METHODS, type XprMethod } from './xpr-dialect.ts';
import { writeXprError } from './xpr-errors.ts';
import { readCancel, readGet, readSend, type XprSendOrder } from './xpr-params.ts';
import type { Principal } from '../../../runtime/protocol/principal.ts';
import type { SenderFacts } from '../../a2a/server/sender-facts.ts';

/**
 * - `toolMode`       `readonly`: only capabilities that are declared `readOnly`. @default full
 * - `mostMessages`   that one task takes. @default any number
 * - `answerWithinMs` how long message/send waits for the task's end; then it says how the task stands, and its caller asks
 *                    again by tasks/get. @default 25,000, which is less than clients wait
 */
const Settings = z.strictObject({
  toolMode: z.enum(['full', 'readonly']).default('full'),
  mostMessages: z.int().positive().optional(),
  answerWithinMs: Milliseconds.default(25_000),
});

/** `admit`: who may come in by this binding. @default that of the gateway */
export interface XprPartOptions extends z.input<typeof Settings> {
  readonly service: A2AService;
  readonly admit?: Admit;
}

type Deps = z.output<typeof Settings> & {
  readonly service: A2AService;
  readonly admit: Admit;
  readonly edge: Edge;
};

const PATH = '/a2a';

/**
 * The XPR binding of A2A (seed 2): JSON-RPC 2.0 at `POST /a2a`, and at `POST /{agentId}/a2a` for one agent. Every answer has
 * status 200. What is no call is answered before anybody is asked who they are; calls are one a request, with an id, because
 * a signature is for one.
 *
 * Fails with INVALID_OPTIONS naming field and value.
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
      const deps = { ...parsed, service, edge, admit: admit ?? edge.admit };
      app.post(PATH, ({ req }) => answer(deps, req.raw, undefined));
      app.post(`/:agentId${PATH}`, ({ req }) => answer(deps, req.raw, req.param('agentId')));
    },
  };
}

async function answer(deps: Deps, request: Request, agentId: string | undefined): Promise<Response> {
  let id: JsonRpcId = null;
  try {
    const body = await deps.edge.read(request);
    requireJson(request.headers);
    const said = await jsonIn(body);
    id = idOf(said);
    const call = callOf(said);
    const caller = await callerOf(deps, request, { body, agentId });
    return jsonResponse({ jsonrpc: '2.0', id, result: await perform({ ...deps, body }, call, caller) });
  } catch (error) {
    if (faultOf(error) === 'INTERNAL') deps.edge.fault(error, request);
    const { code, message, data = null } = writeXprError(error);
    return jsonResponse({ jsonrpc: '2.0', id, error: { code, message, data } });
  }
}

/** Throws INVALID_REQUEST for what is no call that is to be answered. */
function callOf(said: unknown): JsonRpcCall {
  const call = readCall(said);
  if (call.id === undefined) throw fault('INVALID_REQUEST', 'id: is left out, expected that of the answer');
  return call;
}

async function callerOf(
  { admit, edge, toolMode }: Deps,
  request: Request,
  { body, agentId }: { readonly body: Body; readonly agentId: string | undefined },
): Promise<Caller> {
  const { method, url, headers } = request;
  const address = edge.addressOf(request);
  const principal = await admit(new Asked({ method, url, headers, address }, body));
  return {
    principal,
    baseUrl: edge.baseUrl(request),
    agentId,
    terms: { readOnly: toolMode === 'readonly' },
    extensions: [],
    signal: AbortSignal.any([request.signal, edge.closing]),
  };
}

async function perform(
  deps: Deps & { readonly body: Body },
  { method, params = {} }: JsonRpcCall,
  caller: Caller,
): Promise<Json> {
  const { service, edge, answerWithinMs, body } = deps;
  switch (methodOf(method)) {
    case 'message/send': {
      const order = readSend(params, { newId: edge.seams.newId, waitMs: answerWithinMs });
      await body.turn();
      await requireRoom(deps, order.taskId, caller);
      const sender = senderFacts(order, caller.principal);
      return writeXprTask(taskIn(await service.perform('send', order, { ...caller, sender })));
    }
    case 'tasks/get':
      return writeXprTask(await service.perform('get', readGet(params), caller));
    case 'tasks/cancel': {
      const task = await service.perform('cancel', readCancel(params), caller);
      return writeXprTask({ ...task, history: [] });
    }
  }
}

function methodOf(method: string): XprMethod {
  if (Object.hasOwn(XPR_METHODS, method)) return method as XprMethod;
  throw fault('METHOD_NOT_FOUND', `There is no method "${method}", expected one of ${NAMES}`);
}

const NAMES = Object.keys(XPR_METHODS).join(', ');

/** Throws QUOTA_EXCEEDED when a task has had as many messages of its owner as it takes. */
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
 * Who sent a message, as its metadata says it. An account that was proved is the caller's, whatever the request says;
 * one that a sender claims who has proved nothing stands under another name, so that nobody takes it for proved.
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
