import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { Dialect, RequestWriters, SendingOrder } from '../../gateway/a2a/wire/dialect.ts';
import { type RestRoute, restRequest, restRouter } from '../../gateway/a2a/wire/rest-routes.ts';
import { createV01 } from '../../gateway/a2a/wire/v01/dialect.ts';
import { writeRequest as writeV01 } from '../../gateway/a2a/wire/v01/requests.ts';
import { V03, V03_REST } from '../../gateway/a2a/wire/v03/dialect.ts';
import { V03_ROUTES, writeProtoRequest } from '../../gateway/a2a/wire/v03/proto-requests.ts';
import { writeRequest as writeV03 } from '../../gateway/a2a/wire/v03/requests.ts';
import { V1 } from '../../gateway/a2a/wire/v1/dialect.ts';
import { V1_ROUTES, writeRequest as writeV1 } from '../../gateway/a2a/wire/v1/requests.ts';
import { arbTaskId, arbTaskMessage } from './arbitraries/task.ts';
import { json, RUNS } from './dialect-trial.ts';

const arbOrder = (): fc.Arbitrary<SendingOrder> =>
  fc.record(
    {
      message: arbTaskMessage(),
      taskId: arbTaskId(),
      contextId: arbTaskId(),
      returnImmediately: fc.boolean(),
      historyLength: fc.integer({ min: 1, max: 50 }),
      acceptedOutputModes: fc.uniqueArray(fc.constantFrom('text/plain', 'application/json', 'image/*')),
    },
    { requiredKeys: ['message', 'returnImmediately', 'acceptedOutputModes'] },
  );

const V01 = createV01({ newId: () => 'unused' }).rpc;
const SPEAKERS: readonly (readonly [string, Dialect, RequestWriters])[] = [
  ['1.0', V1, writeV1],
  ['0.3 over JSON-RPC', V03, writeV03],
  ['0.3 over REST', V03_REST.dialect, writeProtoRequest],
];

describe.each(SPEAKERS)('A request in the words of %s', (_name, { read }, write) => {
  it('says to the server what the client has ordered', () => {
    fc.assert(
      fc.property(arbOrder(), (order) => {
        const { taskId, contextId, returnImmediately, historyLength, acceptedOutputModes } = order;
        const understood = read.send?.(json(write.send?.(order)));
        expect(understood).toMatchObject({ returnImmediately, acceptedOutputModes });
        expect(understood).toMatchObject({ message: { messageId: order.message.messageId } });
        expect([understood?.taskId, understood?.contextId, understood?.historyLength]).toEqual([
          taskId,
          contextId,
          historyLength,
        ]);
        expect(understood?.message.role).toBe(order.message.role);
        expect(understood?.message.parts).toHaveLength(order.message.parts.length);
      }),
      RUNS,
    );
  });

  it('names the task that is asked for', () => {
    fc.assert(
      fc.property(
        arbTaskId(),
        fc.option(fc.integer({ min: 1, max: 9 }), { nil: undefined }),
        (taskId, length) => {
          const asked = length === undefined ? { taskId } : { taskId, historyLength: length };
          expect(read.get?.(json(write.get?.(asked)))).toEqual(asked);
          expect(read.cancel?.(json(write.cancel?.({ taskId })))).toEqual({ taskId });
          expect(read.subscribe?.(json(write.subscribe?.({ taskId })))).toEqual({ taskId });
        },
      ),
      RUNS,
    );
  });
});

describe('A request in the words of 0.1', () => {
  it('opens a task by the id of its message, or goes on with the one that it names', () => {
    fc.assert(
      fc.property(arbOrder(), (order) => {
        const understood = V01.read.send?.(json(writeV01.send?.(order)));
        expect(understood?.taskId).toBe(order.taskId ?? order.message.messageId);
        expect(understood?.contextId).toBe(order.contextId);
        expect(understood?.message.parts).toHaveLength(order.message.parts.length);
      }),
      RUNS,
    );
  });
});

/** No URL has `.` or `..` for a part of its path. */
const arbPathId = (): fc.Arbitrary<string> => arbTaskId().filter((id) => !/^\.+$/.test(id));

const ROUTES: readonly (readonly [string, readonly RestRoute[], RequestWriters])[] = [
  ['1.0', V1_ROUTES, writeV1],
  ['0.3', V03_ROUTES, writeProtoRequest],
];

describe.each(ROUTES)('A path of %s', (_name, routes, write) => {
  it('leads the server to the operation and the task that the client has meant', () => {
    const find = restRouter(routes);
    fc.assert(
      fc.property(arbPathId(), fc.constantFrom('get', 'cancel', 'subscribe'), (taskId, operation) => {
        const asked = restRequest(routes, operation, write[operation]?.({ taskId }) ?? {});
        const { pathname } = new URL(asked?.path ?? '', 'http://gateway.example');
        const match = find(asked?.method ?? '', pathname);
        expect(match?.route.operation).toBe(operation);
        expect(match?.variables).toEqual({ id: taskId });
      }),
      RUNS,
    );
  });
});
