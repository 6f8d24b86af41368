import {
  AgentCard,
  CancelTaskRequest,
  DeleteTaskPushNotificationConfigRequest,
  GetExtendedAgentCardRequest,
  GetTaskPushNotificationConfigRequest,
  GetTaskRequest,
  ListTaskPushNotificationConfigsRequest,
  ListTaskPushNotificationConfigsResponse,
  ListTasksRequest,
  ListTasksResponse,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  SubscribeToTaskRequest,
  Task,
  TaskPushNotificationConfig,
} from '@a2a-js/sdk';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import type { Json } from '../../wire/json.ts';
import { type MemberLimits, tooMany } from '../../../http/json-text.ts';
import type { OperationName } from '../../wire/operations.ts';
import { BinaryReader } from '@bufbuild/protobuf/wire';

/** Between a message of the proto and its ProtoJSON, which is what the dialect speaks. */
interface ProtoJson {
  fromJSON(json: unknown): unknown;
  toJSON(message: never): unknown;
}

/**
 * One method of the service.
 *
 * - `read`  the request's ProtoJSON. Throws on bytes that are no such message, and BODY_TOO_LARGE on too many fields.
 * - `write` the answer, or an item of it, as bytes.
 */
export interface GrpcMethod {
  readonly path: string;
  readonly operation: OperationName;
  readonly isStream: boolean;
  read(bytes: Buffer, limits: MemberLimits): Readonly<Record<string, unknown>>;
  write(json: Json): Buffer;
}

const EMPTY: ProtoJson = { fromJSON: () => ({}), toJSON: () => ({}) };

const METHODS: Readonly<
  Record<keyof typeof A2AService, readonly [OperationName, request: ProtoJson, response: ProtoJson]>
> = {
  sendMessage: ['send', SendMessageRequest, SendMessageResponse],
  sendStreamingMessage: ['stream', SendMessageRequest, StreamResponse],
  getTask: ['get', GetTaskRequest, Task],
  listTasks: ['list', ListTasksRequest, ListTasksResponse],
  cancelTask: ['cancel', CancelTaskRequest, Task],
  subscribeToTask: ['subscribe', SubscribeToTaskRequest, StreamResponse],
  createTaskPushNotificationConfig: ['createPush', TaskPushNotificationConfig, TaskPushNotificationConfig],
  getTaskPushNotificationConfig: [
    'getPush',
    GetTaskPushNotificationConfigRequest,
    TaskPushNotificationConfig,
  ],
  listTaskPushNotificationConfigs: [
    'listPush',
    ListTaskPushNotificationConfigsRequest,
    ListTaskPushNotificationConfigsResponse,
  ],
  deleteTaskPushNotificationConfig: ['deletePush', DeleteTaskPushNotificationConfigRequest, EMPTY],
  getExtendedAgentCard: ['extendedCard', GetExtendedAgentCardRequest, AgentCard],
};

/** All methods of `lf.a2a.v1.A2AService`, by the names that the service definition has for them. */
export const GRPC_METHODS: ReadonlyMap<string, GrpcMethod> = new Map(
  Object.entries(METHODS).map(([name, [operation, request, response]]) => {
    const { path, responseStream, requestDeserialize, responseSerialize } =
      A2AService[name as keyof typeof A2AService];
    const method: GrpcMethod = {
      path,
      operation,
      isStream: responseStream,
      read: (bytes, limits) => {
        // Generated code uses the reader that it is given.
        const reader = new BoundedReader(bytes, limits) as unknown as Buffer;
        return request.toJSON(requestDeserialize(reader) as never) as Readonly<Record<string, unknown>>;
      },
      write: (json) => responseSerialize(response.fromJSON(json) as never),
    };
    return [name, method];
  }),
);

/** Fields of the encoding for one key with its value, for one element of a list, and for all the rest. */
const OF_KEY = 8;
const OF_ELEMENT = 4;
const OF_REST = 10_000;

/**
 * Reads a message of the proto, and stops at too many fields: a small message can have enough to hold the thread for long.
 */
class BoundedReader extends BinaryReader {
  constructor(bytes: Uint8Array, { maxKeys, maxElements }: MemberLimits) {
    super(bytes);
    const read = this.uint32;
    let left = OF_KEY * maxKeys + OF_ELEMENT * maxElements + OF_REST;
    this.uint32 = () => {
      left -= 1;
      if (left < 0) throw tooMany('keys and elements', maxKeys + maxElements);
      return read.call(this);
    };
  }
}
