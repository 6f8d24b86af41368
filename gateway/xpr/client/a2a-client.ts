import { z } from 'zod';
import { publicKeyOfPrivate } from '../chain/k1-signature.ts';
import { signRequest } from '../chain/sign-request.ts';
import { ACCOUNT_NAME } from '../chain/xpr-accounts.ts';
import { invalidOptions } from '../../../runtime/protocol/errors.ts';
import { parseShallowJson } from '../../../runtime/protocol/json.ts';
import { Milliseconds } from '../../../runtime/protocol/milliseconds.ts';
import { parseOptions } from '../../../runtime/protocol/parse-options.ts';
import { faultsOf } from '../../../runtime/protocol/payload-faults.ts';
import type { Clock, NewId } from '../../../runtime/protocol/seams.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { A2AError, clientError } from './a2a-error.ts';
import { type HttpAnswer, type HttpExchangeDeps, httpExchange } from './http-exchange.ts';
import { A2AMessage, A2ATask, RpcAnswer, XprAgentCard } from './xpr-schemas.ts';

const isFunction = (value: unknown): boolean => typeof value === 'function';

const Options = z.strictObject({
  callerAccount: z.string().regex(ACCOUNT_NAME, 'the name of an account').optional(),
  signingKey: z.string().optional(),
  timeout: Milliseconds.default(30_000),
  audience: z.string().min(1).optional(),
  allowHttp: z.boolean().default(false),
  maxBytes: z
    .int()
    .positive()
    .default(4 << 20),
  fetch: z.custom<typeof fetch>(isFunction, 'a function').optional(),
  clock: z.custom<Pick<Clock, 'now' | 'setTimer'>>().optional(),
  newId: z.custom<NewId>(isFunction, 'a function').optional(),
});
/**
 * Options of `A2AClient`.
 *
 * - `callerAccount` account that makes the requests.
 * - `signingKey`    private key of that account, WIF or `PVT_K1_...`. Requests are signed only with both.
 * - `timeout`       of each request, milliseconds. @default 30,000
 * - `audience`      the server that requests are for; it must know the header `X-XPR-Audience`. @default any
 * - `allowHttp`     allows plain HTTP to other machines, which anybody on the way can read and change. @default false
 * - `maxBytes`      largest answer. @default 4 MiB
 * - `fetch`, `clock`, `newId` @default the system's
 */
export type A2AClientOptions = z.input<typeof Options>;

/**
 * Options of `A2AClient.sendMessage`.
 *
 * - `taskId`    the task that the message continues.
 * - `contextId` the conversation that it belongs to.
 * - `jobId`     the job in escrow that it is about.
 * - `metadata`  of the message.
 * - `signal`    ends the request, not the task.
 */
export interface SendMessageOptions {
  readonly taskId?: string;
  readonly contextId?: string;
  readonly jobId?: number;
  readonly metadata?: Readonly<Record<string, unknown>>;
  readonly signal?: AbortSignal;
}

/** The paths of a card, the newer one first. */
const CARD_PATHS = ['/.well-known/agent-card.json', '/.well-known/agent.json'];
const RPC_PATH = '/a2a';

/**
 * A client of an agent that speaks XPR's dialect of A2A (seed 2).
 *
 * Its methods reject with an `A2AError`: the agent's; or -32000 with a `ClientFault` in `data.reason`, if the agent gave no
 * answer. The constructor throws INVALID_OPTIONS naming field and value.
 */
export class A2AClient {
  readonly endpoint: string;
  readonly #options: z.output<typeof Options>;
  readonly #exchange: HttpExchangeDeps;
  readonly #now: () => number;
  readonly #newId: NewId;

  constructor(endpoint: string, options: A2AClientOptions = {}) {
    this.#options = parseOptions(Options, options, 'A2AClient');
    this.endpoint = endpointOf(endpoint, this.#options);
    const { signingKey, timeout, maxBytes, clock, newId } = this.#options;
    if (signingKey !== undefined) publicKeyOfPrivate(signingKey);
    const seams = systemSeams();
    const time = clock ?? seams.clock;
    this.#now = () => time.now();
    this.#newId = newId ?? seams.newId;
    this.#exchange = { fetch: this.#options.fetch ?? fetch, clock: time, timeoutMs: timeout, maxBytes };
  }

  /** Fetches the agent's card. The card is public, so the request is not signed. */
  async getAgentCard({ signal }: { readonly signal?: AbortSignal } = {}): Promise<XprAgentCard> {
    let last: A2AError | undefined;
    for (const path of CARD_PATHS) {
      const url = `${this.endpoint}${path}`;
      const request = { headers: { accept: 'application/json' }, ...(signal && { signal }) };
      const answer = await httpExchange(url, request, this.#exchange);
      if (answer.status === 200) {
        const said = parsedJson(answer.text);
        const card = XprAgentCard.safeParse(said);
        if (card.success) return card.data;
        const faults = faultsOf(card.error, said);
        last = clientError('INVALID_ANSWER', `What ${url} answers is no card: ${faults}`);
      } else {
        last ??= httpError(url, answer);
      }
    }
    throw last as A2AError;
  }

  /** Sends a message; resolves to its task when the agent answers. */
  sendMessage(message: A2AMessage, options: SendMessageOptions = {}): Promise<A2ATask> {
    const { taskId, contextId, jobId, metadata, signal } = options;
    const { callerAccount } = this.#options;
    const facts = { ...metadata, ...(jobId === undefined ? {} : { 'xpr:jobId': jobId }) };
    const params = {
      message: parseOptions(A2AMessage, message, 'message'),
      ...(taskId === undefined ? {} : { id: taskId }),
      ...(contextId === undefined ? {} : { contextId }),
      ...(callerAccount === undefined ? {} : { 'xpr:callerAccount': callerAccount }),
      ...(Object.keys(facts).length === 0 ? {} : { metadata: facts }),
    };
    return this.#call('message/send', params, signal);
  }

  /** Fetches a task. */
  getTask(taskId: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<A2ATask> {
    return this.#call('tasks/get', { id: taskId }, signal);
  }

  /** Cancels a task; resolves to the cancelled task. */
  cancelTask(taskId: string, { signal }: { readonly signal?: AbortSignal } = {}): Promise<A2ATask> {
    return this.#call('tasks/cancel', { id: taskId }, signal);
  }

  async #call(method: string, params: object, signal: AbortSignal | undefined): Promise<A2ATask> {
    const id = this.#newId();
    const body = JSON.stringify({ jsonrpc: '2.0', id, method, params });
    const url = `${this.endpoint}${RPC_PATH}`;
    const headers = { 'content-type': 'application/json', accept: 'application/json', ...this.#proof(body) };
    const request = { method: 'POST', headers, body, ...(signal && { signal }) };
    const answer = await httpExchange(url, request, this.#exchange);
    const said = RpcAnswer.safeParse(parsedJson(answer.text));
    if (!said.success) {
      if (answer.status !== 200) throw httpError(url, answer);
      throw clientError('INVALID_ANSWER', `What ${url} answers is no answer of JSON-RPC`);
    }
    const { error, result } = said.data;
    if (error !== undefined) throw new A2AError(error.message, error.code, error.data);
    if (said.data.id !== id) throw clientError('INVALID_ANSWER', `${url} answers another request`);
    const task = A2ATask.safeParse(result);
    if (task.success) return task.data;
    const faults = faultsOf(task.error, result, 'result');
    throw clientError('INVALID_ANSWER', `What ${url} answers is no task: ${faults}`);
  }

  #proof(body: string): Record<string, string> {
    const { callerAccount, signingKey, audience } = this.#options;
    if (callerAccount === undefined || signingKey === undefined) return {};
    const bytes = new TextEncoder().encode(body);
    return signRequest({ account: callerAccount, signingKey, body: bytes, atMs: this.#now(), audience });
  }
}

/** Hosts of this machine. `URL` writes addresses in one form only. */
const THIS_MACHINE = /^(?:localhost|127\.\d+\.\d+\.\d+|\[::1\])$/;

/**
 * Removes slashes at the end. Throws INVALID_OPTIONS unless the URL is of https and without credentials; `allowHttp`, and
 * this machine, may be of http.
 */
function endpointOf(endpoint: string, { allowHttp }: { readonly allowHttp: boolean }): string {
  const url = URL.parse(endpoint);
  if (url === null || !/^https?:$/.test(url.protocol) || url.search !== '' || url.hash !== '')
    throw invalidOptions('endpoint', endpoint, 'the http or https URL of an agent');
  if (url.username !== '' || url.password !== '')
    throw invalidOptions('endpoint', url.host, 'a URL without credentials');
  if (url.protocol === 'http:' && !allowHttp && !THIS_MACHINE.test(url.hostname))
    throw invalidOptions('endpoint', endpoint, 'an https URL, or allowHttp: true');
  return url.href.replace(/\/+$/, '');
}

/** Parses JSON; undefined if it is invalid, or nested too deeply. */
function parsedJson(text: string): unknown {
  try {
    return parseShallowJson(text);
  } catch {
    return undefined;
  }
}

const httpError = (url: string, { status }: HttpAnswer): A2AError =>
  clientError('HTTP', `${url} answers with status ${status}`, { status });
