import { once } from 'node:events';
import { connect, type Settings } from 'node:http2';
import { type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import {
  decodeErrorInfo,
  decodeStatus,
  GRPC_STATUS_CODE,
  GRPC_STATUS_DETAILS_BIN,
} from '@a2a-js/sdk/errors/grpc';
import { A2AService } from '@a2a-js/sdk/server/grpc';
import { Client, credentials, Metadata, type ServiceError } from '@grpc/grpc-js';
import { describe, expect, it } from 'vitest';
import type { EdgeRequest } from '../../../runtime/protocol/admission.ts';
import { ANONYMOUS } from '../../../runtime/protocol/principal.ts';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { serveGrpc } from '../../../gateway/a2a/server/grpc/serve-grpc.ts';
import { startGrpc } from '../../fixtures/a2a-grpc.ts';
import { startA2AServer } from '../../fixtures/a2a-server.ts';
import { newCertificates } from '../../fixtures/certificate.ts';
import { ALICE, all, failure, textOf } from '../../fixtures/grpc-outcomes.ts';
import { sendRequest } from '../../fixtures/sdk-client.ts';
import { until } from '../../fixtures/until.ts';

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
