import type { OrreryError } from '../../../runtime/protocol/errors.ts';
import type { Json } from '../wire/json.ts';
import type { OperationName, Operations, ServedCard, StreamItem } from './operations.ts';

/** An error in the words of JSON-RPC; `httpStatus` is what it is over plain HTTP. */
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
