import { StreamResponse, type Task, type TaskPushNotificationConfig } from '@a2a-js/sdk';
import { describe, expect, it } from 'vitest';
import { V1 } from '../../gateway/a2a/server/index.ts';
import { openPush } from '../../gateway/a2a/server/push/open-push.ts';
import { startA2AServer, type TestServer } from '../fixtures/a2a-server.ts';
import { PushReceiver } from '../fixtures/push-receiver.ts';
import { BINDINGS, sdkClient, sendRequest } from '../fixtures/sdk-client.ts';
import { until } from '../fixtures/until.ts';

const pushing = (): Promise<TestServer> =>
  startA2AServer({
    pushOf: async (tasks, seams) => {
      const options = {
        targets: { allowHttp: true, allowPrivate: (address: string) => address === '127.0.0.1' },
      };
      const { configs } = await openPush({
        tasks,
        seams,
        options,
        dialects: [V1],
        issuer: 'https://orrery.example',
      });
      return configs;
    },
  });

const configOf = (taskId: string, url: string, id = ''): TaskPushNotificationConfig => ({
  tenant: '',
  id,
  taskId,
  url,
  token: 'shown-with-each',
  authentication: { scheme: 'Bearer', credentials: 'secret' },
});

describe.each(BINDINGS)("push configs by the published SDK's own client over %s", (binding) => {
  it('are made, read, listed and deleted, by their owner alone', async () => {
    await using server = await pushing();
    const client = await sdkClient(server.url, binding, { by: 'alice' });
    const other = await sdkClient(server.url, binding, { by: 'bob' });
    const hold = sendRequest('hold', { configuration: { returnImmediately: true } });
    const { id: taskId } = (await client.sendMessage(hold)) as Task;
    const config = configOf(taskId, 'http://127.0.0.1:9/hook', 'mine');
    expect(await client.createTaskPushNotificationConfig(config)).toEqual(config);
    const wanted = { tenant: '', taskId, id: 'mine' };
    expect(await client.getTaskPushNotificationConfig(wanted)).toEqual(config);
    const all = { tenant: '', taskId, pageSize: 0, pageToken: '' };
    expect(await client.listTaskPushNotificationConfig(all)).toEqual({
      configs: [config],
      nextPageToken: '',
    });
    for (const work of [
      () => other.createTaskPushNotificationConfig(config),
      () => other.getTaskPushNotificationConfig(wanted),
      () => other.listTaskPushNotificationConfig(all),
      () => other.deleteTaskPushNotificationConfig(wanted),
    ])
      await expect(work()).rejects.toMatchObject({ reason: 'TASK_NOT_FOUND' });
    await client.deleteTaskPushNotificationConfig(wanted);
    await client.deleteTaskPushNotificationConfig(wanted);
    await expect(client.getTaskPushNotificationConfig(wanted)).rejects.toMatchObject({
      reason: 'TASK_NOT_FOUND',
    });
    expect((await client.listTaskPushNotificationConfig(all)).configs).toEqual([]);
    await server.workshop.release(taskId);
  });

  it('are refused by the address that they name, before any task is made of their message', async () => {
    await using server = await pushing();
    const client = await sdkClient(server.url, binding);
    for (const url of ['ftp://a.example', 'no url', 'http://10.0.0.1/hook', 'http://[::1]/hook']) {
      const taskPushNotificationConfig = configOf('', url);
      const request = sendRequest('echo x', { configuration: { taskPushNotificationConfig } });
      await expect(client.sendMessage(request)).rejects.toMatchObject({ reason: 'INVALID_PARAMS' });
    }
    expect(server.tasks.size).toBe(0);
  });

  it('that come with a message hear of everything, as the SDK reads it', async () => {
    const receiver = await PushReceiver.start();
    await using server = await pushing();
    const client = await sdkClient(server.url, binding);
    const taskPushNotificationConfig = configOf('', receiver.url);
    const request = sendRequest('chunks 3', { configuration: { taskPushNotificationConfig } });
    const { id } = (await client.sendMessage(request)) as Task;
    const said = () =>
      receiver.posts.map(({ body }) => StreamResponse.fromJSON(JSON.parse(body.toString())).payload);
    await until('the last news', () =>
      said().some((payload) => payload?.$case === 'statusUpdate' && payload.value.status?.state === 3),
    );
    // What was made in several pieces may be told in fewer.
    const made = said().flatMap((payload) =>
      payload?.$case === 'artifactUpdate' && payload.value.taskId === id ? payload.value.artifact?.parts : [],
    );
    expect(made.map((part) => part?.content)).toMatchObject([{ value: '0' }, { value: '1' }, { value: '2' }]);
    expect(receiver.posts[0]?.headers).toMatchObject({
      authorization: 'Bearer secret',
      'x-a2a-notification-token': 'shown-with-each',
    });
    await receiver.kill();
  });
});
