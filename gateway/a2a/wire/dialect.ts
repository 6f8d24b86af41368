import type { OrreryError } from '../../../runtime/protocol/errors.ts';
import type { Json } from './json.ts';
import type {
  ListOrder,
  OperationName,
  Operations,
  SendOrder,
  ServedCard,
  StreamItem,
} from './operations.ts';
import { defined } from './parts.ts';
import type { RestRoute } from './rest-routes.ts';

/** An error as JSON-RPC has it; `httpStatus` is what it is over plain HTTP. */
export interface WrittenError {
  readonly code: number;
  readonly message: string;
  readonly httpStatus: number;
  readonly data?: Json;
}

/**
 * One way to speak A2A over JSON. A dialect is a pair of pure functions for every operation that it has: what stands in a
 * request, and how the answer is written. It knows no transport and no task service.
 *
 * - `version`   as the header `A2A-Version` has it; `0.1` is never named by anybody.
 * - `methods`   JSON-RPC method names and the operations that they mean.
 * - `read`      throws INVALID_PAYLOAD naming the field and the value.
 * - `writeItem` one item of a stream.
 * - `itemsOf`   by which items a stream's are told, where the dialect has no word for some. @default the same
 * - `itemWriter` one stream's, where what is written depends on what came before. @default `writeItem`
 */
export interface Dialect {
  readonly version: string;
  readonly methods: Readonly<Record<string, OperationName>>;
  readonly read: { readonly [Name in OperationName]?: (params: unknown) => Operations[Name]['in'] };
  readonly write: {
    readonly [Name in Exclude<OperationName, 'stream' | 'subscribe'>]?: (
      result: Operations[Name]['out'],
    ) => Json;
  };
  writeItem(item: StreamItem): Json;
  itemsOf?(operation: 'stream' | 'subscribe', items: AsyncIterable<StreamItem>): AsyncIterable<StreamItem>;
  itemWriter?(operation: 'stream' | 'subscribe'): (item: StreamItem) => Json;
  writeError(error: OrreryError): WrittenError;
  writeCard(card: ServedCard): Json;
}

/**
 * One dialect over plain HTTP.
 *
 * - `contentType` of its answers.
 * - `isVersioned` whether the header `A2A-Version` must name it; else its paths say which dialect it is.
 * - `others`      dialects that have the same paths, and are meant when the header names them. @default none
 * - `writeError`  the body of an error. @default `{error: google.rpc.Status}`
 */
export interface RestBinding {
  readonly dialect: Dialect;
  readonly routes: readonly RestRoute[];
  readonly contentType: string;
  readonly isVersioned: boolean;
  readonly others?: readonly Dialect[];
  readonly writeError?: (error: OrreryError) => {
    readonly status: number;
    readonly body: Json;
  };
}

/** What a client says of a message; the rest of a `SendOrder` no client here asks for. */
export type SendingOrder = Pick<
  SendOrder,
  | 'message'
  | 'taskId'
  | 'contextId'
  | 'metadata'
  | 'returnImmediately'
  | 'historyLength'
  | 'acceptedOutputModes'
>;

export type ListingOrder = Pick<ListOrder, 'contextId' | 'state' | 'pageSize' | 'historyLength'> &
  Partial<Pick<ListOrder, 'pageToken' | 'artifacts'>>;

/** What a client can ask for, whatever the dialect. */
export interface Orders {
  readonly send: SendingOrder;
  readonly stream: SendingOrder;
  readonly get: Pick<Operations['get']['in'], 'taskId' | 'historyLength'>;
  readonly list: ListingOrder;
  readonly cancel: Operations['cancel']['in'];
  readonly subscribe: Pick<Operations['subscribe']['in'], 'taskId'>;
}
export type OrderName = keyof Orders;

/** How a client writes the requests that a dialect's `read` takes: their parameters. */
export type RequestWriters = {
  readonly [Name in OrderName]?: (order: Orders[Name]) => { readonly [key: string]: Json };
};

/** The requests about one task, which all dialects say alike. */
export const TASK_REQUESTS = {
  get: ({ taskId, historyLength }) => ({ id: taskId, ...defined({ historyLength }) }),
  cancel: ({ taskId }) => ({ id: taskId }),
  subscribe: ({ taskId }) => ({ id: taskId }),
} satisfies RequestWriters;

/** Names the version of A2A that a request speaks; also a query parameter. */
export const VERSION_HEADER = 'A2A-Version';

/** By which extensions are activated: since 1.0, and before. */
export const EXTENSION_HEADERS = ['A2A-Extensions', 'X-A2A-Extensions'] as const;

/** After which event of a stream its reader goes on. */
export const LAST_EVENT_HEADER = 'Last-Event-ID';

/** Of bodies of A2A 1.0 over HTTP. */
export const A2A_JSON = 'application/a2a+json';
