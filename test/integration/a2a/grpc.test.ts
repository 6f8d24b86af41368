import { once } from 'node:events';
import { connect, type Settings } from 'node:http2';
import { type SendMessageRequest, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import type { Transport } from '@a2a-js/sdk/client';
import { type GrpcA2AError, GRPC_STATUS_CODE } from '@a2a-js/sdk/errors/grpc';
import { decodeErrorInfo, decodeStatus, GRPC_STATUS_DETAILS_BIN } from '@a2a-js/sdk/errors/grpc';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import type { EdgeRequest } from '../../../runtime/protocol/admission.ts';
import { OrreryError } from '../../../runtime/protocol/errors.ts';
import { ANONYMOUS } from '../../../runtime/protocol/principal.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { serveGrpc } from '../../../transports/gateway/a2a/grpc/serve-grpc.ts';
import { V1 } from '../../../transports/gateway/a2a/v1/index.ts';
import { asCaller, startGrpc, type TestGrpc } from '../../fixtures/a2a-grpc.ts';
import { startA2AServer, type TestServer } from '../../fixtures/a2a-server.ts';
import { newCertificates } from '../../fixtures/certificate.ts';
import { LatePush } from '../../fixtures/late-push.ts';
import { sendRequest } from '../../fixtures/sdk-client.ts';
import { until } from '../../fixtures/until.ts';

const ALICE = asCaller('alice@acme');
const BOB = asCaller('bob@acme');

const all = async (items: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> => {
  const read: StreamResponse[] = [];
  for await (const item of items) read.push(item);
  return read;
};

/** What a stream has made, put together. */
const textOf = (items: readonly StreamResponse[]): string =>
  items
    .flatMap(({ payload }) => {
      if (payload?.$case === 'task') return payload.value.artifacts.flatMap(({ parts }) => parts);
      return payload?.$case === 'artifactUpdate' ? (payload.value.artifact?.parts ?? []) : [];
    })
    .map(({ content }) => (content?.$case === 'text' ? content.value : ''))
    .join('');

/** What a call fails with, as it is on the wire. */
async function failure(
  promise: Promise<unknown>,
): Promise<{ readonly code: number; readonly reason: string; readonly text: string }> {
  const error = (await promise.then(
    () => undefined,
    (reason: unknown) => reason,
  )) as (GrpcA2AError & { readonly statusDetailsBin?: Buffer }) | undefined;
  if (error?.statusDetailsBin === undefined)
    throw new Error(`expected a status with details, got ${String(error)}`);
  const { code, message, details } = decodeStatus(error.statusDetailsBin);
  const info = decodeErrorInfo(details[0]?.value as Buffer);
  expect(info.domain).toBe('a2a-protocol.org');
  expect(error.status).toBe(code);
  return { code, reason: info.reason, text: message };
}

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
    await using own = await startA2AServer({ push: push.desk });
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

/** A call with metadata and bytes of the test's own. */
function raw(
  address: string,
  path: string,
  bytes: Buffer,
  { metadata = new Metadata() }: { readonly metadata?: Metadata } = {},
): Promise<{ readonly error: ServiceError | null; readonly bytes: Buffer | undefined }> {
  const client = new Client(address, credentials.createInsecure());
  const asItIs = (value: Buffer): Buffer => value;
  return new Promise((resolve) => {
    client.makeUnaryRequest(path, asItIs, asItIs, bytes, metadata, (error, answer) => {
      client.close();
      resolve({ error, bytes: answer });
    });
  });
}

describe('the edge of gRPC', () => {
  it('lets callers in by the metadata and the bytes of their message as they came', async () => {
    const requests: EdgeRequest[] = [];
    await using server = await startA2AServer();
    await using grpc = await startGrpc(server, {
      admit: async (request) => {
        requests.push(request);
        return ANONYMOUS;
      },
    });
    const metadata = new Metadata();
    metadata.set('x-api-key', 'secret');
    metadata.add('x-many', 'one');
    metadata.add('x-many', 'two');
    metadata.set('x-bytes-bin', Buffer.from([1]));
    const { path, requestSerialize } = A2AService.getTask;
    const bytes = requestSerialize({ tenant: '', id: 'none', historyLength: undefined });
    const { error } = await raw(grpc.serving.address, path, bytes, { metadata });
    expect(error?.code).toBe(GRPC_STATUS_CODE.NOT_FOUND);
    const [request] = requests;
    expect(request).toMatchObject({ method: 'POST', url: `http://${grpc.serving.address}${path}` });
    expect(Buffer.from(request?.body ?? [])).toEqual(bytes);
    const header = (name: string) => request?.headers.get(name);
    expect([header('X-API-Key'), header('x-many'), header('x-bytes-bin'), header('none')]).toEqual([
      'secret',
      'one, two',
      null,
      null,
    ]);
  });

  it('says INVALID_ARGUMENT to bytes that are no such message, and RESOURCE_EXHAUSTED to too many', async () => {
    await using server = await startA2AServer();
    await using grpc = await startGrpc(server, { maxMessageBytes: 1_000 });
    const { path } = A2AService.sendMessage;
    const broken = await raw(grpc.serving.address, path, Buffer.from([0x0a, 0xff, 0xff]));
    expect(broken.error?.code).toBe(GRPC_STATUS_CODE.INVALID_ARGUMENT);
    const large = A2AService.sendMessage.requestSerialize(sendRequest(`echo ${'x'.repeat(1_000)}`));
    expect((await raw(grpc.serving.address, path, large)).error?.code).toBe(
      GRPC_STATUS_CODE.RESOURCE_EXHAUSTED,
    );
    expect(server.workshop.turns).toEqual([]);
    await using roomy = await startGrpc(server);
    for (const depth of [100, 1_000]) {
      let value: unknown = 'deep';
      for (let level = 0; level < depth; level++) value = [value];
      const asked = sendRequest('x');
      asked.message?.parts.push({
        content: { $case: 'data', value },
        metadata: undefined,
        filename: '',
        mediaType: '',
      });
      const bytes = A2AService.sendMessage.requestSerialize(asked);
      const { error } = await raw(roomy.serving.address, path, bytes);
      expect(error?.code).toBe(GRPC_STATUS_CODE.INVALID_ARGUMENT);
    }
    expect(server.faults).toEqual([]);
  });

  it('takes and gives messages of megabytes', async () => {
    await using server = await startA2AServer();
    await using grpc = await startGrpc(server, { maxMessageBytes: 32 * 1_024 * 1_024 });
    const client = await grpc.client({ call: {} });
    const text = 'x'.repeat(3 * 1_024 * 1_024);
    const task = (await client.sendMessage(
      sendRequest(`echo ${text}`, { configuration: { historyLength: 0 } }),
      ALICE,
    )) as Task;
    const content = task.artifacts[0]?.parts[0]?.content;
    expect(content?.$case === 'text' && content.value.length).toBe(text.length);
  });

  it('ends a stream, and not the task, when its caller leaves or its deadline is over (F-04)', async () => {
    await using server = await startA2AServer();
    const signals: AbortSignal[] = [];
    const { service } = server;
    await using grpc = await startGrpc(server, {
      service: {
        ...service,
        perform: (name, input, caller) => {
          if (name === 'subscribe') signals.push(caller.signal);
          return service.perform(name, input, caller);
        },
      },
    });
    const client = await grpc.client();
    const { id } = (await client.sendMessage(
      sendRequest('hold', { configuration: { returnImmediately: true } }),
      ALICE,
    )) as Task;
    const leaving = new AbortController();
    const stream = client.resubscribeTask({ tenant: '', id }, { ...ALICE, signal: leaving.signal });
    await stream.next();
    const rest = stream.next();
    leaving.abort();
    await expect(rest).rejects.toThrow();
    await until('the stream has ended here', () => signals[0]?.aborted);
    const late = await grpc.client({ call: { deadline: systemSeams().clock.now() + 1_000 } });
    const cut = all(late.resubscribeTask({ tenant: '', id }, ALICE));
    await expect(cut).rejects.toMatchObject({ status: GRPC_STATUS_CODE.DEADLINE_EXCEEDED });
    await until('the stream has ended here', () => signals[1]?.aborted);
    expect(server.workshop.turns.map(({ signal }) => signal.aborted)).toEqual([false]);
    await server.workshop.release(id);
    const owner = { principalId: 'key:alice', tenant: 'acme' };
    expect((await server.tasks.whenIdle(owner, id)).status.state).toBe('completed');
  });

  it('says in its details what the status says, in google.rpc', async () => {
    await using server = await startA2AServer();
    await using grpc = await startGrpc(server);
    const bytes = A2AService.getTask.requestSerialize({ tenant: '', id: 'none', historyLength: undefined });
    const { error } = await raw(grpc.serving.address, A2AService.getTask.path, bytes);
    const [blob] = error?.metadata.get(GRPC_STATUS_DETAILS_BIN) ?? [];
    const status = decodeStatus(blob as Buffer);
    expect(status).toMatchObject({ code: error?.code, message: error?.details });
    expect(status.details[0]?.typeUrl).toBe('type.googleapis.com/google.rpc.ErrorInfo');
    expect(decodeErrorInfo(status.details[0]?.value as Buffer).metadata).toMatchObject({ taskId: 'none' });
  });

  it('activates the extensions that are asked for, and says which', async () => {
    const uri = 'https://orrery.example/known';
    await using server = await startA2AServer({
      extensions: [{ uri, description: 'known', required: true }],
    });
    await using grpc = await startGrpc(server);
    const bytes = A2AService.getTask.requestSerialize({ tenant: '', id: 'none', historyLength: undefined });
    const without = await raw(grpc.serving.address, A2AService.getTask.path, bytes);
    expect(without.error?.code).toBe(GRPC_STATUS_CODE.FAILED_PRECONDITION);
    const metadata = new Metadata();
    metadata.set('a2a-extensions', `https://orrery.example/other, ${uri}`);
    const client = new Client(grpc.serving.address, credentials.createInsecure());
    const asItIs = (value: Buffer): Buffer => value;
    const { path } = A2AService.getTask;
    const echoed = await new Promise<Metadata>((resolve) => {
      client.makeUnaryRequest(path, asItIs, asItIs, bytes, metadata, () => undefined).on('metadata', resolve);
    });
    client.close();
    expect(echoed.get('a2a-extensions')).toEqual([uri]);
  });

  it('holds back what a slow reader has not taken', async () => {
    await using server = await startA2AServer({
      engine: {
        run: async (turn) => {
          for (let chunk = 0; chunk < 200; chunk++) {
            turn.artifact({ artifactId: 'a', parts: [{ text: 'x'.repeat(50_000) }] }, { append: chunk > 0 });
            await turn.whenKept();
          }
          return { state: 'completed' };
        },
        limits: { bytes: 64 * 1_024 * 1_024 },
      },
    });
    let written = 0;
    const { service } = server;
    await using grpc = await startGrpc(server, {
      service: {
        ...service,
        perform: async (name, input, caller) => {
          const result = await service.perform(name, input, caller);
          if (name !== 'stream') return result;
          async function* counted() {
            for await (const item of result as AsyncIterable<unknown>) {
              written++;
              yield item;
            }
          }
          return counted() as never;
        },
      },
    });
    const client = await grpc.client();
    const stream = client.sendMessageStream(sendRequest('any'), ALICE);
    const read = [(await stream.next()).value as StreamResponse];
    const owner = { principalId: 'key:alice', tenant: 'acme' };
    const [task] = server.tasks.list(owner, { pageSize: 1 }).tasks;
    await server.tasks.whenIdle(owner, task?.id ?? '');
    const before = written;
    expect(before).toBeLessThan(200);
    read.push(...(await all(stream)));
    expect(textOf(read)).toHaveLength(200 * 50_000);
  });

  it('proves who it is by TLS, and asks callers to where that is wanted', async () => {
    const { ca, cert, key } = newCertificates();
    await using server = await startA2AServer();
    await using grpc = await startGrpc(server, { host: 'localhost', tls: { key, cert } });
    const trusting = await grpc.client({ channel: credentials.createSsl(Buffer.from(ca)) });
    const task = (await trusting.sendMessage(sendRequest('echo safe'), ALICE)) as Task;
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    const { path } = A2AService.getTask;
    expect((await raw(grpc.serving.address, path, Buffer.alloc(0))).error?.code).toBe(
      GRPC_STATUS_CODE.UNAVAILABLE,
    );
    await using mutual = await startGrpc(server, {
      host: 'localhost',
      tls: { key, cert, ca, requestCert: true },
    });
    const known = await mutual.client({
      channel: credentials.createSsl(Buffer.from(ca), Buffer.from(key), Buffer.from(cert)),
    });
    expect(await failure(known.getTask({ tenant: '', id: 'none' }, ALICE))).toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
    const unknown = await mutual.client({ channel: credentials.createSsl(Buffer.from(ca)) });
    await expect(unknown.getTask({ tenant: '', id: 'none' }, ALICE)).rejects.toMatchObject({
      status: GRPC_STATUS_CODE.UNAVAILABLE,
    });
  });

  it('ends streams with UNAVAILABLE when it closes, gives calls in hand their time, and takes no more', async () => {
    await using server = await startA2AServer();
    const grpc = await startGrpc(server);
    const client = await grpc.client();
    const started = (await client.sendMessage(
      sendRequest('hold', { configuration: { returnImmediately: true } }),
      ALICE,
    )) as Task;
    const stream = client.resubscribeTask({ tenant: '', id: started.id }, ALICE);
    await stream.next();
    const next = stream.next();
    const waiting = client.sendMessage(sendRequest('hold'), ALICE);
    await server.workshop.whenBegun(2);
    const closed = grpc.serving.close({ drainMs: 5_000 });
    await expect(failure(next)).resolves.toMatchObject({ code: GRPC_STATUS_CODE.UNAVAILABLE });
    expect(((await waiting) as Task).status?.state).toBe(TaskState.TASK_STATE_WORKING);
    await closed;
    const { error } = await raw(grpc.serving.address, A2AService.getTask.path, Buffer.alloc(0));
    expect(error?.code).toBe(GRPC_STATUS_CODE.UNAVAILABLE);
    expect(server.workshop.turns.map(({ signal }) => signal.aborted)).toEqual([false, false]);
  });

  it('refuses to start where it is not guarded, naming field and value', async () => {
    await using server = await startA2AServer();
    const options = {
      service: server.service,
      admit: async () => ANONYMOUS,
      isGuarded: false,
      clock: systemSeams().clock,
      baseUrl: server.url,
    };
    await expect(serveGrpc({ ...options, host: '0.0.0.0' })).rejects.toThrow(/grpc\.host is "0\.0\.0\.0"/);
    await expect(serveGrpc({ ...options, port: 70_000 })).rejects.toThrow(/grpc\.port is 70000/);
    await expect(serveGrpc({ ...options, maxMessageBytes: 0 })).rejects.toThrow(/grpc\.maxMessageBytes is 0/);
    await expect(serveGrpc({ ...options, tls: { key: 'no', cert: 'no' } })).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
    });
    await using taken = await startGrpc(server);
    await expect(serveGrpc({ ...options, port: taken.serving.port })).rejects.toThrow(/grpc\.port/);
  });

  it.each([
    [{}, 100],
    [{ maxStreams: 7 }, 7],
  ])('lets a connection have so many calls at once: %o', async (options, most) => {
    await using server = await startA2AServer();
    await using grpc = await startGrpc(server, options);
    const session = connect(`http://${grpc.serving.address}`);
    const [settings] = (await once(session, 'remoteSettings')) as [Settings];
    session.destroy();
    expect(settings.maxConcurrentStreams).toBe(most);
  });
});
