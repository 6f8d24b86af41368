import type { Task, TaskMessage, TaskState } from '../../../../runtime/protocol/task.ts';
import type { Json } from '../../wire/json.ts';

/** A message to be sent. */
export interface SendingOrder {
  readonly message: TaskMessage;
  readonly taskId?: string;
  readonly contextId?: string;
  readonly metadata?: Task['metadata'];
  readonly returnImmediately: boolean;
  readonly historyLength?: number;
  readonly acceptedOutputModes: readonly string[];
}

export interface ListingOrder {
  readonly contextId?: string;
  readonly state?: TaskState;
  readonly pageSize: number;
  readonly pageToken?: string;
  readonly historyLength?: number;
  readonly artifacts?: boolean;
}

/** What a client can ask for, in the words of no dialect. */
export interface Orders {
  readonly send: SendingOrder;
  readonly stream: SendingOrder;
  readonly get: { readonly taskId: string; readonly historyLength?: number };
  readonly list: ListingOrder;
  readonly cancel: { readonly taskId: string };
  readonly subscribe: { readonly taskId: string };
}
export type OrderName = keyof Orders;

export interface RpcRequest {
  readonly method: string;
  readonly params: { readonly [key: string]: Json };
}

/** `path` has no tenant and no base. */
export interface RestRequest {
  readonly method: 'GET' | 'POST';
  readonly path: string;
  readonly body?: Json;
}

type Writers<Request> = { readonly [Name in OrderName]?: (order: Orders[Name]) => Request };

/**
 * How a client speaks one version: what it writes. What it reads is understood in the words of all of them.
 *
 * - `version`  as the header `A2A-Version` has it; undefined where there was no such header.
 * - `unwrap`   the JSON of an answer over REST, where that is another one than over JSON-RPC.
 * - `mediaType` of bodies over REST.
 */
export interface ClientDialect {
  readonly name: '1.0' | '0.3' | '0.1';
  readonly version: string | undefined;
  readonly rpc: Writers<RpcRequest>;
  readonly rest: Writers<RestRequest>;
  readonly restMediaType: string;
  unwrap(value: unknown): unknown;
}

/** The part of a URL's query for these fields; those without a value are left out. */
export function query(fields: Readonly<Record<string, string | number | boolean | undefined>>): string {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined);
  if (given.length === 0) return '';
  return `?${new URLSearchParams(given.map(([name, value]) => [name, String(value)]))}`;
}

export const taskPath = (taskId: string): string => `/tasks/${encodeURIComponent(taskId)}`;
