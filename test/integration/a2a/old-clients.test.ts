import { type AgentCard, type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import {
  type Client,
  ClientFactory,
  JsonRpcTransportFactory,
  RestTransportFactory,
} from '@a2a-js/sdk/client';
import { legacyPushNotificationToV1StreamResponse } from '@a2a-js/sdk/compat/v0_3';
import { parseLegacyAgentCard } from '@a2a-js/sdk/compat/v0_3/client';
import { TaskNotCancelableError, TaskNotFoundError, UnsupportedOperationError } from '@a2a-js/sdk/errors';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemSeams } from '../../../runtime/protocol/system-seams.ts';
import { createV01 } from '../../../gateway/a2a/wire/v01/dialect.ts';
import { V03, V03_REST } from '../../../gateway/a2a/wire/v03/dialect.ts';
import { restBindingOf, V1 } from '../../../gateway/a2a/wire/v1/dialect.ts';
import { startA2AServer, type TestServer } from '../../fixtures/a2a-server.ts';
import { LatePush } from '../../fixtures/late-push.ts';
import { PushReceiver, type Received } from '../../fixtures/push-receiver.ts';
import { BINDINGS, type Binding, sendRequest } from '../../fixtures/sdk-client.ts';
import { until } from '../../fixtures/until.ts';

let server: TestServer;
let receiver: PushReceiver;
const push = new LatePush();

beforeAll(async () => {
  const v01 = createV01({ newId: systemSeams().newId });
  const dialects = [V1, V03, v01.rpc] as const;
  server = await startA2AServer({
    dialects,
    rest: [V03_REST, v01.rest, restBindingOf(V1)],
    push: push.configs,
    cards: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
  });
  await push.open(server, dialects);
  receiver = await PushReceiver.start();
});
afterAll(async () => {
  await push[Symbol.asyncDispose]();
  await server[Symbol.asyncDispose]();
  await receiver.kill();
});

const all = async (items: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> => {
  const read: StreamResponse[] = [];
  for await (const item of items) read.push(item);
  return read;
};

/** The first notification of this kind. */
const received = (isIt: (one: Received) => boolean): Promise<Received> =>
  until('the notification', () => receiver.posts.find(isIt));

/** The published client for 0.3, by the card as it stands there for 0.3. */
async function client03(binding: Binding, path = '/.well-known/agent.json'): Promise<Client> {
  const fetchImpl: typeof fetch = (input, init) => {
    const headers = new Headers(init?.headers);
    headers.set('Authorization', 'Bearer alice@acme');
    return fetch(input, { ...init, headers });
  };
  const options = { fetchImpl, legacyCompat: { enabled: true } };
  const factory = new ClientFactory({
    transports: [new JsonRpcTransportFactory(options), new RestTransportFactory(options)],
    preferredTransports: [binding],
  });
  const card = parseLegacyAgentCard(await (await server.fetch(path)).json());
  return factory.createFromAgentCard(card);
}

describe.each(BINDINGS)("A2A 0.3 to the published SDK's own client over %s", (binding) => {
  let client: Client;
  beforeAll(async () => {
    client = await client03(binding);
  });

  const send = async (...given: Parameters<typeof sendRequest>): Promise<Task> =>
    (await client.sendMessage(sendRequest(...given))) as Task;
  const held = (): Promise<Task> => send('hold', { configuration: { returnImmediately: true } });
  const stateOf = ({ status }: Task): TaskState | undefined => status?.state;

  it('speaks 0.3, by what the card says', () => {
    expect(client.transport.protocolVersion).toBe('0.3');
    expect(client.transport.protocolName).toBe(binding);
  });

  it('blocks until the task is over, and asks and is answered in one task', async () => {
    const task = await send('echo hello');
    expect(stateOf(task)).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts[0]?.parts[0]?.content).toEqual({ $case: 'text', value: 'hello' });
    const asked = await send('ask');
    expect(stateOf(asked)).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const done = await send('echo this', { taskId: asked.id, contextId: asked.contextId });
    expect([done.id, stateOf(done)]).toEqual([asked.id, TaskState.TASK_STATE_COMPLETED]);
  });

  it('shows rejected and auth-required as they are (C-11)', async () => {
    expect(stateOf(await send('reject'))).toBe(TaskState.TASK_STATE_REJECTED);
    expect(stateOf(await send('login'))).toBe(TaskState.TASK_STATE_AUTH_REQUIRED);
  });

  it('gets a task with as much of its history as is wanted, and cancels it', async () => {
    const { id } = await send('ask');
    await send('echo yes', { taskId: id });
    expect((await client.getTask({ tenant: '', id })).history).toHaveLength(3);
    expect((await client.getTask({ tenant: '', id, historyLength: 1 })).history).toHaveLength(1);
    const working = await held();
    const canceled = await client.cancelTask({ tenant: '', id: working.id, metadata: undefined });
    expect(stateOf(canceled)).toBe(TaskState.TASK_STATE_CANCELED);
  });

  it('streams chunks, and comes back to a task that goes on', async () => {
    const items = await all(client.sendMessageStream(sendRequest('chunks 12')));
    const { artifacts } = await client.getTask({ tenant: '', id: taskIdOf(items[0]) });
    expect(artifacts[0]?.parts).toHaveLength(12);
    expect(endOf(items)).toBe(TaskState.TASK_STATE_COMPLETED);
    const { id } = await held();
    const stream = client.resubscribeTask({ tenant: '', id });
    const first = await stream.next();
    expect(taskIdOf(first.value as StreamResponse)).toBe(id);
    await server.workshop.release(id);
    expect(endOf(await all(stream))).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('says by the right error what cannot be', async () => {
    const { id } = await send('echo done');
    const cancel = { tenant: '', id, metadata: undefined };
    await expect(client.getTask({ tenant: '', id: 'none' })).rejects.toBeInstanceOf(TaskNotFoundError);
    await expect(client.cancelTask(cancel)).rejects.toBeInstanceOf(TaskNotCancelableError);
    await expect(send('more', { taskId: id })).rejects.toBeInstanceOf(UnsupportedOperationError);
    await expect(all(client.resubscribeTask({ tenant: '', id }))).rejects.toBeInstanceOf(
      UnsupportedOperationError,
    );
  });

  it('keeps push configs, the one without an id by that of its task, and tells them in 0.3', async () => {
    const { id } = await held();
    const url = `http://127.0.0.1:${receiver.port}/${binding}`;
    const config = { tenant: '', taskId: id, id: '', url, token: 'secret', authentication: undefined };
    expect(await client.createTaskPushNotificationConfig(config)).toMatchObject({ taskId: id, id, url });
    const other = { ...config, id: 'mine', authentication: { scheme: 'Bearer', credentials: 'abc' } };
    expect(await client.createTaskPushNotificationConfig(other)).toMatchObject({
      id: 'mine',
      authentication: other.authentication,
    });
    expect(await client.getTaskPushNotificationConfig({ tenant: '', taskId: id, id: 'mine' })).toMatchObject({
      url,
    });
    const listed = async () => {
      const { configs } = await client.listTaskPushNotificationConfig({
        tenant: '',
        taskId: id,
        pageSize: 0,
        pageToken: '',
      });
      return configs.map((one) => one.id).sort();
    };
    expect(await listed()).toEqual([id, 'mine'].sort());
    await client.deleteTaskPushNotificationConfig({ tenant: '', taskId: id, id: 'mine' });
    expect(await listed()).toEqual([id]);
    await server.workshop.release(id);
    const post = await received(
      ({ path, json }) => path.endsWith(binding) && json.status?.state === 'completed',
    );
    const { payload } = legacyPushNotificationToV1StreamResponse(post.json);
    expect(payload?.$case === 'task' && payload.value.id).toBe(id);
  });

  it('shows the extended card', async () => {
    const mars = await client03(binding, '/mars/.well-known/agent.json');
    const card: AgentCard = await mars.transport.getExtendedAgentCard({ tenant: '' });
    expect(card.skills.map(({ id }) => id)).toEqual(['types.check', 'secrets.rotate']);
  });

  it('reaches an agent by the address on its card', async () => {
    const venus = await client03(binding, '/venus/.well-known/agent.json');
    const { id } = (await venus.sendMessage(sendRequest('echo hi'))) as Task;
    expect(server.tasks.agentOf({ principalId: 'key:alice', tenant: 'acme' }, id)).toBe('venus');
  });
});

const taskIdOf = (item: StreamResponse | undefined): string =>
  item?.payload?.$case === 'task' ? item.payload.value.id : '';

function endOf(items: readonly StreamResponse[]): TaskState | undefined {
  const last = items.at(-1)?.payload;
  return last?.$case === 'statusUpdate' ? last.value.status?.state : undefined;
}

describe('0.3 as its clients of other languages speak it', () => {
  const headers = { 'Content-Type': 'application/json' };
  const rpc = async (method: string, params: unknown, more: Record<string, string> = {}) => {
    const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method, params });
    return (await (
      await server.fetch('/rpc', { method: 'POST', headers: { ...headers, ...more }, body }, 'alice@acme')
    ).json()) as {
      // biome-ignore lint/suspicious/noExplicitAny: what stands in an answer is what the tests are about
      readonly result?: any;
      readonly error?: { readonly code: number };
    };
  };
  const say = (text: string) => ({
    message: { messageId: `s-${text}`, role: 'user', parts: [{ kind: 'text', text }] },
  });

  it('names no version, and is answered in 0.3', async () => {
    const { result } = await rpc('message/send', { ...say('echo one'), configuration: { blocking: true } });
    expect(result).toMatchObject({ kind: 'task', artifacts: [{ parts: [{ kind: 'text', text: 'one' }] }] });
    expect((await rpc('tasks/get', { id: result.id })).result).toMatchObject({ kind: 'task', id: result.id });
    expect((await rpc('tasks/get', { id: result.id }, { 'A2A-Version': '0.3.0' })).result.kind).toBe('task');
    expect((await rpc('ListTasks', {})).error?.code).toBe(-32_601);
  });

  it('X-28 shows a task that 0.1 began in the words of 0.1 to who names no version, and of 0.3 to who does', async () => {
    const begun = await rpc('tasks/send', {
      id: 'by-0.1',
      message: { role: 'user', parts: [{ type: 'text', text: 'echo a' }] },
    });
    expect(begun.result).toMatchObject({
      id: 'by-0.1',
      status: { state: 'completed' },
      artifacts: [{ index: 0 }],
    });
    expect((await rpc('tasks/get', { id: 'by-0.1' })).result).not.toHaveProperty('kind');
    const { result } = await rpc('tasks/get', { id: 'by-0.1' }, { 'A2A-Version': '0.3' });
    expect(result.kind).toBe('task');
  });

  it('keeps one push config for a task of 0.1, by no id', async () => {
    await rpc('tasks/send', {
      id: 'pushed',
      message: { role: 'user', parts: [{ type: 'text', text: 'ask' }] },
    });
    const pushNotificationConfig = {
      url: `http://127.0.0.1:${receiver.port}/old`,
      token: 't',
      authentication: { schemes: ['Bearer'] },
    };
    const set = await rpc('tasks/pushNotification/set', { id: 'pushed', pushNotificationConfig });
    expect(set.result).toEqual({ id: 'pushed', pushNotificationConfig });
    expect((await rpc('tasks/pushNotification/get', { id: 'pushed' })).result).toEqual(set.result);
    await rpc('tasks/send', {
      id: 'pushed',
      message: { role: 'user', parts: [{ type: 'text', text: 'echo z' }] },
    });
    const post = await received(({ path, json }) => path === '/old' && json.status?.state === 'completed');
    expect(post.json).toMatchObject({
      id: 'pushed',
      artifacts: [{ parts: [{ type: 'text', text: 'z' }], index: 0 }],
    });
  });

  it('POSTs null where there is nothing to say, and is understood with underscores', async () => {
    const { result } = await rpc('message/send', say('hold'));
    const cancel = await server.fetch(
      `/v1/tasks/${result.id}:cancel`,
      { method: 'POST', headers, body: 'null' },
      'alice@acme',
    );
    expect(await cancel.json()).toMatchObject({ status: { state: 'TASK_STATE_CANCELLED' } });
    const request = {
      request: {
        message_id: 'u1',
        role: 'ROLE_USER',
        content: [
          { text: 'echo ' },
          { data: { data: { is: 'data' } } },
          { file: { file_with_uri: 'https://a.example/b', mime_type: 'text/plain' } },
        ],
      },
      configuration: { blocking: true, history_length: 5 },
    };
    const sent = await server.fetch(
      '/v1/message:send',
      { method: 'POST', headers, body: JSON.stringify(request) },
      'alice@acme',
    );
    const { task } = (await sent.json()) as { readonly task: { readonly history: readonly unknown[] } };
    expect(task.history[0]).toMatchObject({
      role: 'ROLE_USER',
      content: [
        { text: 'echo ' },
        { data: { data: { is: 'data' } } },
        { file: { fileWithUri: 'https://a.example/b', mimeType: 'text/plain' } },
      ],
    });
  });

  it('stands on the same card as 1.0 and 0.1, at both addresses (C-01, C-02, X-02, A-01, A-02, A-03)', async () => {
    const [old, current] = await Promise.all(
      ['agent.json', 'agent-card.json'].map(async (name) =>
        (await server.fetch(`/.well-known/${name}`)).text(),
      ),
    );
    expect(old).toBe(current);
    const card = JSON.parse(old as string) as Record<string, unknown>;
    expect(card).toMatchObject({
      protocolVersion: '0.3.0',
      url: `${server.url}/rpc`,
      preferredTransport: 'JSONRPC',
      additionalInterfaces: [
        { transport: 'JSONRPC', url: `${server.url}/rpc` },
        { transport: 'HTTP+JSON', url: server.url },
      ],
      capabilities: { streaming: true, pushNotifications: true, stateTransitionHistory: false },
      authentication: { schemes: ['bearer'] },
      security: [{ token: [] }],
      defaultInputModes: expect.any(Array),
    });
    const interfaces = card['supportedInterfaces'] as readonly { readonly protocolVersion: string }[];
    expect(interfaces.map(({ protocolVersion }) => protocolVersion)).toEqual(['1.0', '1.0', '0.3', '0.3']);
  });
});
