import type { Principal } from '../../../runtime/protocol/principal.ts';
import { textResponse } from '../../http/answer.ts';
import { isObject } from '../../http/json-text.ts';
import type { Result } from './json-shapes.ts';
import { traceOf } from './call-span.ts';
import { clientCan, type McpCall } from './mcp-call.ts';
import { isFault, MCP_CODES, mcpErrorOf } from './mcp-errors.ts';
import type { McpService } from './mcp-service.ts';
import type { PagedList } from './paged-list.ts';

const REVISION = '2026-07-28';
const VERSION_KEY = 'io.modelcontextprotocol/protocolVersion';
const CAPABILITIES_KEY = 'io.modelcontextprotocol/clientCapabilities';
const INFO_KEY = 'io.modelcontextprotocol/clientInfo';
const SERVER_KEY = 'io.modelcontextprotocol/serverInfo';

/** The fields that a request may have to be answered here. */
const PLAIN_META = new Set([
  ...[VERSION_KEY, CAPABILITIES_KEY, INFO_KEY],
  ...['traceparent', 'tracestate', 'baggage'],
]);
const PLAIN_CALL = new Set(['name', 'arguments', '_meta']);
const PLAIN_LIST = new Set(['cursor', '_meta']);

/** The status for a client that has gone: nobody reads it. */
const GONE = 499;

type Lists = (call: McpCall) => PagedList;
const LISTS: Readonly<Record<string, Lists>> = {
  'tools/list': ({ view }) => view.toolList('modern'),
  'resources/list': ({ view }) => view.resourceList(),
  'resources/templates/list': ({ view }) => view.templateList(),
  'prompts/list': ({ view }) => view.promptList(),
};

/** A well-formed call or list of 2026-07-28 that wants no progress and no log. */
interface PlainRequest {
  readonly id: string | number;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly capabilities: unknown;
}

/**
 * Answers the usual calls and lists of 2026-07-28 without a server of the SDK. Any other request, and a faulty one, is left
 * to the SDK.
 */
export class DirectAnswers {
  readonly #service: McpService;
  readonly #onFault: (error: unknown, request: Request) => void;
  readonly #serverInfo: Result;
  readonly #listFacts: Result;

  constructor(service: McpService, onFault: (error: unknown, request: Request) => void) {
    this.#service = service;
    this.#onFault = onFault;
    this.#serverInfo = { [SERVER_KEY]: service.identity };
    this.#listFacts = { resultType: 'complete', ttlMs: 0, cacheScope: 'private', _meta: this.#serverInfo };
  }

  /** Answers the request; undefined if the SDK has to. */
  answer(request: Request, body: unknown, principal: Principal): Promise<Response> | undefined {
    const plain = plainRequest(request.headers, body);
    return plain === undefined ? undefined : this.#answer(plain, request, principal);
  }

  async #answer(plain: PlainRequest, request: Request, principal: Principal): Promise<Response> {
    const { method, params, id } = plain;
    const call = this.#callOf(plain, request, principal);
    try {
      const list = LISTS[method];
      if (list !== undefined) return answered(id, list(call).text(params['cursor'], this.#listFacts));
      const result = await this.#service.calls.call(params, call);
      return answered(id, JSON.stringify(this.#complete(result)));
    } catch (error) {
      // A client that has gone gets no error.
      if (request.signal.aborted) return new Response(null, { status: GONE });
      if (isFault(error)) this.#onFault(error, request);
      const { code, message, data } = mcpErrorOf(error);
      const told = { jsonrpc: '2.0', id, error: { code, message, ...(data === undefined ? {} : { data }) } };
      return json(JSON.stringify(told), code === MCP_CODES.missingCapability ? 400 : 200);
    }
  }

  #complete(result: Result): Result {
    const { _meta, ...rest } = result;
    const meta = isObject(_meta) ? { ..._meta, ...this.#serverInfo } : this.#serverInfo;
    return { resultType: 'complete', ...rest, _meta: meta };
  }

  #callOf({ capabilities, params }: PlainRequest, request: Request, principal: Principal): McpCall {
    return {
      principal,
      view: this.#service.viewOf(principal),
      era: 'modern',
      trace: traceOf(params['_meta']),
      get signal() {
        return request.signal;
      },
      can: clientCan(capabilities),
      progressToken: undefined,
      inputResponses: undefined,
      requestState: undefined,
      notify: () => undefined,
      log: undefined,
      fault: (error) => this.#onFault(error, request),
    };
  }
}

const answered = (id: string | number, result: string): Response =>
  json(`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":${result}}`, 200);

const json = (text: string, status: number): Response =>
  textResponse(text, { status, headers: { 'Content-Type': 'application/json' } });

function plainRequest(headers: Headers, body: unknown): PlainRequest | undefined {
  if (!isObject(body) || body['jsonrpc'] !== '2.0') return undefined;
  const { id, method, params } = body;
  if (!(typeof id === 'string' || Number.isSafeInteger(id)) || typeof method !== 'string') return undefined;
  if (!isObject(params) || !isPlainMeta(params['_meta'])) return undefined;
  if (headers.get('mcp-protocol-version') !== REVISION || headers.get('mcp-method') !== method)
    return undefined;
  const isPlain =
    method === 'tools/call' ? isPlainCall(params, headers.get('mcp-name')) : isPlainList(method, params);
  if (!isPlain) return undefined;
  return { id: id as string | number, method, params, capabilities: params['_meta'][CAPABILITIES_KEY] };
}

function isPlainMeta(meta: unknown): meta is Readonly<Record<string, unknown>> {
  if (!isObject(meta) || meta[VERSION_KEY] !== REVISION || !isObject(meta[CAPABILITIES_KEY])) return false;
  const info = meta[INFO_KEY];
  const isKnown =
    info === undefined ||
    (isObject(info) && typeof info['name'] === 'string' && typeof info['version'] === 'string');
  return isKnown && hasOnly(meta, PLAIN_META);
}

const isPlainCall = (params: Readonly<Record<string, unknown>>, name: string | null): boolean =>
  params['name'] === name &&
  (params['arguments'] === undefined || isObject(params['arguments'])) &&
  hasOnly(params, PLAIN_CALL);

const isPlainList = (method: string, params: Readonly<Record<string, unknown>>): boolean =>
  Object.hasOwn(LISTS, method) &&
  (params['cursor'] === undefined || typeof params['cursor'] === 'string') &&
  hasOnly(params, PLAIN_LIST);

function hasOnly(value: Readonly<Record<string, unknown>>, names: ReadonlySet<string>): boolean {
  for (const name in value) if (!names.has(name)) return false;
  return true;
}
