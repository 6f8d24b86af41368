import { isObject } from '../../is-object.ts';
import { wrongParameter, wrongRequest } from '../wire/faults.ts';

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

/** The id that an answer to something has that may be no call; null when it has none that can be told. */
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
