import { isObject } from '../../http/json-text.ts';
import { wrongParameter, wrongRequest, type Fault, faultOf, fault } from '../wire/faults.ts';
import type { OrreryError } from '../../../runtime/protocol/errors.ts';
import type { Answer, HeaderFields } from '../../http/answer.ts';
import type { Json } from '../wire/json.ts';
import { isDeeperThan, MAX_JSON_DEPTH } from '../../../runtime/protocol/json.ts';
import type { Body } from '../../http/body.ts';

export type JsonRpcId = string | number | null;

/**
 * One call of JSON-RPC 2.0.
 *
 * - `id`     undefined: it is a notification, and is not answered.
 * - `params` as they came; undefined when there are none.
 */
export interface JsonRpcCall {
  readonly id: JsonRpcId | undefined;
  readonly method: string;
  readonly params: Readonly<Record<string, unknown>> | undefined;
}

/** The call, if it is one; else throws INVALID_REQUEST, or INVALID_PARAMS on parameters that have no names. */
export function readCall(value: unknown): JsonRpcCall {
  if (!isObject(value)) throw wrongRequest('request', value, 'an object');
  const { jsonrpc, id, method, params } = value;
  if (jsonrpc !== '2.0') throw wrongRequest('jsonrpc', jsonrpc, '"2.0"');
  if (id !== undefined && !isId(id)) throw wrongRequest('id', id, 'a string, a number or null');
  if (typeof method !== 'string') throw wrongRequest('method', method, 'a string');
  if (params !== undefined && !isObject(params) && !Array.isArray(params))
    throw wrongRequest('params', params, 'an object');
  if (Array.isArray(params)) throw wrongParameter('params', params, 'an object');
  return { id, method, params };
}

/** The id for the answer to what may be no call; null where there is none. */
export function idOf(value: unknown): JsonRpcId {
  if (!isObject(value)) return null;
  return isId(value['id']) ? value['id'] : null;
}

/** Says whether nobody waits for an answer: a call as it should be, without an id. */
export const isNotification = (value: unknown): boolean =>
  isObject(value) &&
  value['jsonrpc'] === '2.0' &&
  typeof value['method'] === 'string' &&
  (value['params'] === undefined || (typeof value['params'] === 'object' && value['params'] !== null)) &&
  !('id' in value);

const isId = (value: unknown): value is JsonRpcId =>
  value === null || typeof value === 'string' || (typeof value === 'number' && Number.isFinite(value));

/** The HTTP status of faults that HTTP knows itself. */
const HTTP_STATUS: Partial<Record<Fault, number>> = {
  UNAUTHENTICATED: 401,
  PERMISSION_DENIED: 403,
  BODY_TOO_LARGE: 413,
  RATE_LIMITED: 429,
  UNAVAILABLE: 503,
};

/** The HTTP status of an error; undefined if only the protocol knows it. */
export const httpStatusOf = (error: OrreryError): number | undefined =>
  error.details['fault'] === 'CONTENT_TYPE_NOT_SUPPORTED' && error.details['field'] === 'Content-Type'
    ? 415
    : HTTP_STATUS[faultOf(error)];

/** Headers that go with an error: when to come back, and how to prove who one is. */
export function errorHeaders(error: OrreryError): HeaderFields {
  const { retryAfterMs, schemes } = error.details;
  return {
    ...(typeof retryAfterMs === 'number' ? { 'retry-after': String(Math.ceil(retryAfterMs / 1_000)) } : {}),
    ...(Array.isArray(schemes) && schemes.length > 0 ? { 'www-authenticate': schemes.join(', ') } : {}),
  };
}

/** - `headers` by names in lower case. */
interface JsonAnswerOptions {
  readonly status?: number;
  readonly headers?: Readonly<HeaderFields>;
}

/** An answer with a JSON body, not to be cached. */
export const jsonAnswer = (body: Json, { status = 200, headers }: JsonAnswerOptions = {}): Answer => ({
  status,
  headers: { 'content-type': 'application/json', 'cache-control': 'no-store', ...headers },
  body: JSON.stringify(body),
});

const MAX_SHOWN = 60;

/** Whether a media type is JSON, by its name or its ending. */
const isJson = (contentType: string): boolean =>
  /^(application\/json|[^;]+\+json)$/.test((contentType.split(';')[0] ?? '').trim().toLowerCase());

/**
 * The request's content type is one of JSON; else throws CONTENT_TYPE_NOT_SUPPORTED. A web page elsewhere can have a browser send other
 * types to a server on the same machine without being asked.
 */
export function requireJson(headers: Pick<Headers, 'get'>): void {
  const contentType = headers.get('Content-Type') ?? '';
  if (isJson(contentType)) return;
  const shown = contentType.slice(0, MAX_SHOWN);
  throw fault('CONTENT_TYPE_NOT_SUPPORTED', `Content-Type is "${shown}", expected application/json`, {
    field: 'Content-Type',
  });
}

/** Parses the body. Rejects with PARSE_ERROR, and with INVALID_REQUEST for what is nested too deeply. */
export async function jsonIn(body: Pick<Body, 'json'>): Promise<unknown> {
  const read = await body.json();
  if (read.kind === 'value') return read.value;
  throw read.kind === 'no-json' ? fault('PARSE_ERROR', 'The body is no JSON in UTF-8') : tooDeep();
}

/** Throws INVALID_REQUEST for lists and objects that are nested so deeply that whoever reads them would run out of stack. */
export function requireShallow(value: unknown): void {
  if (isDeeperThan(value)) throw tooDeep();
}

const tooDeep = () =>
  fault('INVALID_REQUEST', `body: is nested deeper than ${MAX_JSON_DEPTH} levels`, { field: 'body' });
