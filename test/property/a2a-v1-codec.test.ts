import {
  CancelTaskRequest,
  GetTaskRequest,
  ListTasksRequest,
  ListTasksResponse,
  Message,
  type Part as SdkPart,
  SendMessageRequest,
  SendMessageResponse,
  StreamResponse,
  Task as SdkTask,
  TaskPushNotificationConfig,
  taskStateFromJSON,
} from '@a2a-js/sdk';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  type Part,
  type Artifact,
  TASK_STATES,
  type Task,
  type TaskChange,
  type TaskMessage,
} from '../../runtime/protocol/task.ts';
import type { Json } from '../../gateway/a2a/wire/json.ts';
import { V1, V1_1_DRAFT } from '../../gateway/a2a/wire/v1/dialect.ts';
import { STATE_NAMES } from '../../gateway/a2a/wire/parts.ts';
import { arbJson, withoutProto } from './arbitraries/json.ts';

/** Text that is there: proto does not tell an empty one from none. */
const text = fc.string({ minLength: 1, maxLength: 12, unit: 'grapheme' });
const maybe = <Value>(name: string, values: fc.Arbitrary<Value>): fc.Arbitrary<Record<string, Value>> =>
  fc
    .option(values, { nil: undefined })
    .map((value): Record<string, Value> => (value === undefined ? {} : { [name]: value }));

const arbValue = withoutProto(arbJson()) as fc.Arbitrary<never>;
const arbMetadata = withoutProto(fc.dictionary(text, arbValue, { maxKeys: 3 })) as fc.Arbitrary<
  Record<string, never>
>;

const merged = (...pieces: readonly fc.Arbitrary<object>[]): fc.Arbitrary<never> =>
  fc.tuple(...pieces).map((given) => Object.assign({}, ...given) as never);

/** Every kind of part. null as data is left out: the SDK takes it for no data. */
const arbPart: fc.Arbitrary<Part> = merged(
  fc.oneof(
    fc.string().map((text) => ({ text })),
    fc.uint8Array({ maxLength: 20 }).map((bytes) => ({ raw: Buffer.from(bytes).toString('base64') })),
    fc.webUrl().map((url) => ({ url })),
    arbValue.filter((data) => data !== null).map((data) => ({ data })),
  ),
  maybe('mediaType', text),
  maybe('filename', text),
  maybe('metadata', arbMetadata),
);

const arbNames = fc.array(text, { minLength: 1, maxLength: 3 });

const arbMessage: fc.Arbitrary<TaskMessage> = merged(
  fc.record({
    messageId: text,
    role: fc.constantFrom('user' as const, 'agent' as const),
    parts: fc.array(arbPart, { minLength: 1, maxLength: 3 }),
  }),
  maybe('metadata', arbMetadata),
  maybe('extensions', arbNames),
  maybe('referenceTaskIds', arbNames),
);

const arbArtifact: fc.Arbitrary<Artifact> = merged(
  fc.record({ artifactId: text, parts: fc.array(arbPart, { maxLength: 3 }) }),
  maybe('name', text),
  maybe('description', text),
  maybe('metadata', arbMetadata),
  maybe('extensions', arbNames),
);

const arbState = fc.constantFrom(...TASK_STATES);
const arbAtMs = fc.integer({ min: 0, max: Date.UTC(2100, 0) });

const arbTask: fc.Arbitrary<Task> = merged(
  fc.record({
    id: text,
    contextId: text,
    status: merged(fc.record({ state: arbState, atMs: arbAtMs }), maybe('message', arbMessage)),
    artifacts: fc.array(arbArtifact, { maxLength: 3 }),
    history: fc.array(arbMessage, { maxLength: 3 }),
    generation: fc.nat(),
    createdAtMs: arbAtMs,
  }),
  maybe('metadata', arbMetadata),
);

/** What a stream says of a task. */
const arbChange: fc.Arbitrary<Exclude<TaskChange, { kind: 'message' }>> = fc.oneof(
  merged(
    fc.record({
      kind: fc.constant('status'),
      generation: fc.integer({ min: 1 }),
      atMs: arbAtMs,
      state: arbState,
    }),
    maybe('message', arbMessage),
  ),
  merged(
    fc.record({
      kind: fc.constant('artifact'),
      generation: fc.integer({ min: 1 }),
      atMs: arbAtMs,
      artifact: arbArtifact,
      append: fc.boolean(),
      lastChunk: fc.boolean(),
    }),
  ),
);

const RUNS = { numRuns: 200 };
const wired = (value: unknown): unknown => JSON.parse(JSON.stringify(value));

/** What a reader that knows only the fields of 1.0 makes of it, written again. */
const bySdk = (
  codec: { fromJSON(value: unknown): never; toJSON(value: never): unknown },
  value: Json,
): unknown => wired(codec.toJSON(codec.fromJSON(wired(value))));

const word = fc.string({ minLength: 1, maxLength: 8 });

describe("C-03, C-16, C-18 the codec of 1.0 against the SDK's", () => {
  it('every task that is written is read by the SDK to the same, and nothing else stands in it', () => {
    fc.assert(
      fc.property(arbTask, (task) => {
        const written = V1.write.get?.(task) as Json;
        expect(bySdk(SdkTask as never, written)).toEqual(wired(written));
        expect(bySdk(SendMessageResponse as never, { task: written })).toEqual({ task: wired(written) });
      }),
      RUNS,
    );
  });

  it('every item of a stream is read by the SDK to the same', () => {
    fc.assert(
      fc.property(arbChange, word, word, (change, taskId, contextId) => {
        const item = V1.writeItem({ kind: 'change', taskId, contextId, change, isLast: false });
        expect(bySdk(StreamResponse as never, item)).toEqual(wired(item));
      }),
      RUNS,
    );
  });

  it('what is read of an item is what has changed', () => {
    fc.assert(
      fc.property(arbChange, word, word, (change, taskId, contextId) => {
        const item = V1.writeItem({ kind: 'change', taskId, contextId, change, isLast: false });
        const { payload } = StreamResponse.fromJSON(wired(item) as never);
        if (change.kind === 'artifact') {
          const { artifact, append, lastChunk } = change;
          expect(payload).toMatchObject({
            $case: 'artifactUpdate',
            value: { taskId, contextId, append, lastChunk, artifact: { artifactId: artifact.artifactId } },
          });
          expect(payload?.$case === 'artifactUpdate' && payload.value.artifact?.parts.map(contentOf)).toEqual(
            artifact.parts.map(partContent),
          );
        } else {
          const { state, atMs, message } = change;
          expect(payload).toMatchObject({
            $case: 'statusUpdate',
            value: {
              taskId,
              contextId,
              status: {
                state: taskStateFromJSON(`TASK_STATE_${state.toUpperCase().replace('-', '_')}`),
                timestamp: new Date(atMs).toISOString(),
                ...(message === undefined
                  ? {}
                  : { message: { messageId: message.messageId, taskId, contextId } }),
              },
            },
          });
        }
      }),
      RUNS,
    );
  });

  it('every page is read by the SDK to the same, and always says where the next one is', () => {
    fc.assert(
      fc.property(fc.array(arbTask, { maxLength: 3 }), fc.string(), (tasks, nextPageToken) => {
        const page = { tasks, nextPageToken, pageSize: 50, total: 99 };
        const written = V1.write.list?.(page) as { readonly [key: string]: Json };
        expect(written['nextPageToken']).toBe(nextPageToken);
        const read = ListTasksResponse.fromJSON(wired(written) as never);
        expect({ ...read, tasks: wired(read.tasks.map((task) => SdkTask.toJSON(task))) }).toEqual({
          tasks: wired(written['tasks']),
          nextPageToken,
          pageSize: 50,
          totalSize: 99,
        });
      }),
      RUNS,
    );
  });

  it('every message that the SDK writes is read to what was meant, in either spelling', () => {
    fc.assert(
      fc.property(
        arbMessage,
        fc.option(word),
        fc.nat(),
        fc.boolean(),
        (message, taskId, historyLength, snake) => {
          const said = (
            V1.writeItem({
              kind: 'task',
              isLast: false,
              task: {
                id: taskId ?? '',
                contextId: 'ctx',
                history: [message],
                artifacts: [],
                status: { state: 'working', atMs: 0 },
                generation: 1,
                createdAtMs: 0,
              },
            }) as never as { task: { history: [unknown] } }
          ).task.history[0];
          const request = SendMessageRequest.toJSON({
            tenant: '',
            message: Message.fromJSON(said),
            metadata: undefined,
            configuration: {
              acceptedOutputModes: ['text/plain'],
              taskPushNotificationConfig: undefined,
              historyLength,
              returnImmediately: true,
            },
          });
          const params = wired(request);
          const order = V1.read.send?.(snake ? snakeFields(params) : params);
          expect(order).toEqual({
            message,
            contextId: 'ctx',
            ...(taskId === null ? {} : { taskId }),
            takesMessages: true,
            returnImmediately: true,
            historyLength,
            acceptedOutputModes: ['text/plain'],
          });
        },
      ),
      RUNS,
    );
  });

  it('every other request that the SDK writes is read to what was meant', () => {
    const state = fc.constantFrom(...(Object.keys(STATE_NAMES) as (keyof typeof STATE_NAMES)[]));
    fc.assert(
      fc.property(
        word,
        word,
        word,
        state,
        fc.integer({ min: 1, max: 100 }),
        (id, url, token, status, pageSize) => {
          const get = wired(GetTaskRequest.toJSON({ tenant: 'mars', id, historyLength: pageSize }));
          expect(V1.read.get?.(get)).toEqual({ taskId: id, historyLength: pageSize });
          const cancel = wired(CancelTaskRequest.toJSON({ tenant: '', id, metadata: { why: url } }));
          expect(V1.read.cancel?.(cancel)).toEqual({ taskId: id });
          const list = ListTasksRequest.toJSON({
            tenant: '',
            contextId: url,
            status: taskStateFromJSON(STATE_NAMES[status]),
            pageSize,
            pageToken: token,
            statusTimestampAfter: '2026-11-01T00:00:00.500+01:00',
            includeArtifacts: true,
          });
          expect(V1.read.list?.(wired(list))).toEqual({
            contextId: url,
            state: status,
            pageSize,
            pageToken: token,
            sinceMs: Date.UTC(2026, 9, 31, 23, 0, 0, 500),
            artifacts: true,
          });
          const config = { tenant: '', id, taskId: url, url: 'https://a.example/hook', token };
          const push = TaskPushNotificationConfig.toJSON({
            ...config,
            authentication: { scheme: 'Bearer', credentials: token },
          });
          const read = V1.read.createPush?.(wired(push));
          expect(read).toEqual({
            id,
            taskId: url,
            url: 'https://a.example/hook',
            token,
            authentication: { scheme: 'Bearer', credentials: token },
          });
          expect(wired(V1.write.createPush?.({ ...read, id } as never))).toEqual(wired(push));
        },
      ),
      RUNS,
    );
  });

  it('generations are there only for who speaks 1.1, as ProtoJSON writes long numbers', () => {
    fc.assert(
      fc.property(arbTask, arbChange, (task, change) => {
        expect(JSON.stringify(Object.keys(V1.write.get?.(task) as object))).not.toContain('generation');
        expect(V1_1_DRAFT.write.get?.(task)).toMatchObject({ generation: String(task.generation) });
        const item = V1_1_DRAFT.writeItem({
          kind: 'change',
          taskId: 't',
          contextId: 'c',
          change,
          isLast: false,
        });
        expect(Object.values(item as object)[0]).toMatchObject({ generation: String(change.generation) });
      }),
      RUNS,
    );
    const order = V1.read.send?.({
      message: { messageId: 'm', role: 'ROLE_USER', parts: [{ text: 'x' }] },
      configuration: { ifGenerationMatch: '12' },
    });
    expect(order?.ifGeneration).toBe(12);
    expect(V1.read.get?.({ id: 't', currentGeneration: '3' })).toEqual({ taskId: 't', after: 3 });
  });
});

const contentOf = ({ content }: SdkPart): unknown =>
  content?.$case === 'raw' ? content.value.toString('base64') : content?.value;

const partContent = (part: Part): unknown =>
  'text' in part ? part.text : 'raw' in part ? part.raw : 'url' in part ? part.url : part.data;

/** The same with names as the proto file has them, but in what is anybody's own. */
function snakeFields(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(snakeFields);
  if (typeof value !== 'object' || value === null) return value;
  const fields = Object.entries(value).map(([name, field]) => [
    name.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
    name === 'metadata' || name === 'data' ? field : snakeFields(field),
  ]);
  return Object.fromEntries(fields);
}
