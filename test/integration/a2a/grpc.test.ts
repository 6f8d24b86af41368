import { type SendMessageRequest, type Task, TaskState } from '@a2a-js/sdk';
import type { Transport } from '@a2a-js/sdk/client';
import { GRPC_STATUS_CODE } from '@a2a-js/sdk/errors/grpc';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { OrreryError } from '../../../runtime/protocol/errors.ts';
import { V1 } from '../../../gateway/a2a/wire/v1/dialect.ts';
import { asCaller, startGrpc, type TestGrpc } from '../../fixtures/a2a-grpc.ts';
import { startA2AServer, type TestServer } from '../../fixtures/a2a-server.ts';
import { ALICE, all, failure, textOf } from '../../fixtures/grpc-outcomes.ts';
import { LatePush } from '../../fixtures/late-push.ts';
import { sendRequest } from '../../fixtures/sdk-client.ts';

const BOB = asCaller('bob@acme');

describe("A2A over gRPC to the published SDK's own client", () => {
  let server: TestServer;
  let grpc: TestGrpc;
  let client: Transport;

  beforeAll(async () => {
    server = await startA2AServer({
      cards: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    });
    grpc = await startGrpc(server);
    client = await grpc.client();
  });
  afterAll(async () => {
    await grpc[Symbol.asyncDispose]();
    await server[Symbol.asyncDispose]();
  });

  const send = async (request: SendMessageRequest, as = ALICE): Promise<Task> =>
    (await client.sendMessage(request, as)) as Task;
  const held = (): Promise<Task> => send(sendRequest('hold', { configuration: { returnImmediately: true } }));

  it('sends, blocks until the task is over, gets, lists and cancels', async () => {
    const task = await send(sendRequest('echo hello'));
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts[0]?.parts[0]?.content).toEqual({ $case: 'text', value: 'hello' });
    const got = await client.getTask({ tenant: '', id: task.id, historyLength: 0 }, ALICE);
    expect(got).toEqual({ ...task, history: [] });
    const page = await client.listTasks(
      { ...LIST, contextId: task.contextId, pageSize: 10, includeArtifacts: true },
      ALICE,
    );
    expect(page.tasks.map(({ id }) => id)).toEqual([task.id]);
    expect(page).toMatchObject({ nextPageToken: '', totalSize: 1 });
    const working = await held();
    const canceled = await client.cancelTask({ tenant: '', id: working.id, metadata: undefined }, ALICE);
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
  });

  it('streams the task and each change, and subscribes to one that goes on', async () => {
    const items = await all(client.sendMessageStream(sendRequest('chunks 5'), ALICE));
    expect(items[0]?.payload?.$case).toBe('task');
    expect(textOf(items)).toBe('01234');
    const end = items.at(-1)?.payload;
    expect(end?.$case === 'statusUpdate' && end.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    const { id } = await held();
    const stream = client.resubscribeTask({ tenant: '', id }, ALICE);
    expect((await stream.next()).value?.payload?.$case).toBe('task');
    await server.workshop.release(id);
    const rest = await all(stream);
    const last = rest.at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('takes the tenant for the agent', async () => {
    const task = await send({ ...sendRequest('echo hi'), tenant: 'venus' });
    expect(server.tasks.agentOf({ principalId: 'key:alice', tenant: 'acme' }, task.id)).toBe('venus');
    const { reason } = await failure(
      client.sendMessage({ ...sendRequest('echo hi'), tenant: 'pluto' }, ALICE),
    );
    expect(reason).toBe('AGENT_NOT_FOUND');
  });

  it('says by code and reason what is wrong', async () => {
    const { id } = await send(sendRequest('echo done'));
    const cancel = { tenant: '', id, metadata: undefined };
    const { NOT_FOUND, FAILED_PRECONDITION, INVALID_ARGUMENT, UNAUTHENTICATED } = GRPC_STATUS_CODE;
    const cases: [() => Promise<unknown>, number, string][] = [
      [() => client.getTask({ tenant: '', id: 'none' }, ALICE), NOT_FOUND, 'TASK_NOT_FOUND'],
      [() => client.cancelTask(cancel, ALICE), FAILED_PRECONDITION, 'TASK_NOT_CANCELABLE'],
      [
        () => client.sendMessage(sendRequest('more', { taskId: id }), ALICE),
        FAILED_PRECONDITION,
        'UNSUPPORTED_OPERATION',
      ],
      [
        () => all(client.resubscribeTask({ tenant: '', id }, ALICE)),
        FAILED_PRECONDITION,
        'UNSUPPORTED_OPERATION',
      ],
      [
        () => client.sendMessage(sendRequest('x', { messageId: '' }), ALICE),
        INVALID_ARGUMENT,
        'INVALID_PARAMS',
      ],
      [() => client.listTasks({ ...LIST, pageSize: 1_000 }, ALICE), INVALID_ARGUMENT, 'INVALID_PARAMS'],
      [
        () => client.getTask({ tenant: '', id }, asCaller('alice@acme', { 'a2a-version': '0.3' })),
        FAILED_PRECONDITION,
        'VERSION_NOT_SUPPORTED',
      ],
      [() => client.getTask({ tenant: '', id }, asCaller('not a token')), UNAUTHENTICATED, 'UNAUTHENTICATED'],
    ];
    for (const [call, code, reason] of cases) expect(await failure(call())).toMatchObject({ code, reason });
    const { text } = await failure(client.getTask({ tenant: '', id: '' }, ALICE));
    expect(text).toContain('id');
  });

  it("shows nobody somebody else's task", async () => {
    const { id } = await send(sendRequest('echo mine'));
    expect(await failure(client.getTask({ tenant: '', id }, BOB))).toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
    expect(await failure(client.getTask({ tenant: '', id }, asCaller('alice@other')))).toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
  });

  it('keeps, shows, lists and deletes push configs', async () => {
    const push = new LatePush();
    await using own = await startA2AServer({ push: push.configs });
    await push.open(own, [V1]);
    await using _ = push;
    await using ownGrpc = await startGrpc(own);
    const ownClient = await ownGrpc.client();
    const { id: taskId } = (await ownClient.sendMessage(sendRequest('ask'), ALICE)) as Task;
    const authentication = { scheme: 'Bearer', credentials: 'abc' };
    const config = {
      tenant: '',
      taskId,
      id: 'mine',
      url: 'http://127.0.0.1:9/hook',
      token: 't',
      authentication,
    };
    expect(await ownClient.createTaskPushNotificationConfig(config, ALICE)).toEqual(config);
    const mine = { tenant: '', taskId, id: 'mine' };
    expect(await ownClient.getTaskPushNotificationConfig(mine, ALICE)).toEqual(config);
    const list = { tenant: '', taskId, pageSize: 0, pageToken: '' };
    const listed = async () => (await ownClient.listTaskPushNotificationConfig(list, ALICE)).configs;
    expect(await listed()).toEqual([config]);
    expect(await failure(ownClient.getTaskPushNotificationConfig(mine, BOB))).toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
    await ownClient.deleteTaskPushNotificationConfig(mine, ALICE);
    expect(await listed()).toEqual([]);
    expect(await failure(client.createTaskPushNotificationConfig(config, ALICE))).toMatchObject({
      reason: 'PUSH_NOTIFICATION_NOT_SUPPORTED',
    });
  });

  it('shows the extended card to who has proved who they are', async () => {
    const card = await client.getExtendedAgentCard({ tenant: 'mars' }, ALICE);
    expect(card.skills.map(({ id }) => id)).toEqual(['types.check', 'secrets.rotate']);
    expect(await failure(client.getExtendedAgentCard({ tenant: 'mars' }, asCaller()))).toMatchObject({
      reason: 'UNAUTHENTICATED',
    });
  });

  it('X-37 tells what fails inside to the operator alone', async () => {
    const wrong = new OrreryError('STORE_FAILED', 'The store /secret/place failed');
    await using own = await startA2AServer({
      through: (tasks) =>
        Object.assign(Object.create(tasks) as typeof tasks, {
          get: () => {
            throw wrong;
          },
        }),
    });
    await using ownGrpc = await startGrpc(own);
    const ownClient = await ownGrpc.client();
    const shown = await failure(ownClient.getTask({ tenant: '', id: 'x' }, ALICE));
    expect(shown).toMatchObject({ code: GRPC_STATUS_CODE.INTERNAL, reason: 'INTERNAL_ERROR' });
    expect(shown.text).not.toContain('secret');
    expect(own.faults).toEqual([wrong]);
  });
});

const LIST = {
  tenant: '',
  contextId: '',
  status: 0,
  pageSize: undefined,
  pageToken: '',
  historyLength: undefined,
  statusTimestampAfter: undefined,
  includeArtifacts: undefined,
} as const;
