import { type StreamResponse, type Task, TaskState } from '@a2a-js/sdk';
import type { Client } from '@a2a-js/sdk/client';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { startA2AServer, type TestServer } from '../fixtures/a2a-server.ts';
import { BINDINGS, sdkClient, sendRequest } from '../fixtures/sdk-client.ts';

describe.each(BINDINGS)("A2A 1.0 to the published SDK's own client over %s", (binding) => {
  let server: TestServer;
  let client: Client;

  beforeAll(async () => {
    server = await startA2AServer({
      cards: { securitySchemes: { token: { type: 'http', scheme: 'bearer' } } },
    });
    client = await sdkClient(server.url, binding, { by: 'alice@acme' });
  });
  afterAll(() => server[Symbol.asyncDispose]());

  const send = async (...given: Parameters<typeof sendRequest>): Promise<Task> =>
    (await client.sendMessage(sendRequest(...given))) as Task;

  const held = (): Promise<Task> => send('hold', { configuration: { returnImmediately: true } });

  it('blocks until the task is over, and answers with what was made', async () => {
    const task = await send('echo hello');
    expect(task.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect(task.artifacts[0]?.parts[0]?.content).toEqual({ $case: 'text', value: 'hello' });
    expect(task.history.map(({ role }) => role)).toEqual([1]);
  });

  it('answers at once when that is asked for', async () => {
    const task = await held();
    expect([TaskState.TASK_STATE_SUBMITTED, TaskState.TASK_STATE_WORKING]).toContain(task.status?.state);
    await server.workshop.release(task.id);
  });

  it('C-11 waits for its owner, goes on with the answer, and stands as the dialect says', async () => {
    const asked = await send('ask');
    expect(asked.status?.state).toBe(TaskState.TASK_STATE_INPUT_REQUIRED);
    const { id: taskId, contextId } = asked;
    const done = await send('echo this one', { taskId, contextId });
    expect(done.id).toBe(taskId);
    expect(done.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
    expect((await send('login')).status?.state).toBe(TaskState.TASK_STATE_AUTH_REQUIRED);
    expect((await send('reject')).status?.state).toBe(TaskState.TASK_STATE_REJECTED);
    const failed = await send('crash');
    expect(failed.status?.state).toBe(TaskState.TASK_STATE_FAILED);
  });

  it('streams the task, then each change, and ends', async () => {
    const items = await all(client.sendMessageStream(sendRequest('chunks 20')));
    expect(kindOf(items[0])).toBe('task');
    expect(items.slice(1).map(kindOf)).not.toContain('task');
    expect(chunksOf(items)).toEqual([...Array(20).keys()].map(String));
    const last = items.at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('a stream ends where its owner is asked, and its answer streams on', async () => {
    const items = await all(client.sendMessageStream(sendRequest('ask')));
    const last = items.at(-1)?.payload;
    expect(last?.$case === 'statusUpdate' && last.value.status?.state).toBe(
      TaskState.TASK_STATE_INPUT_REQUIRED,
    );
    const first = items[0]?.payload;
    const taskId = first?.$case === 'task' ? first.value.id : '';
    const more = await all(client.sendMessageStream(sendRequest('echo yes', { taskId })));
    const end = more.at(-1)?.payload;
    expect(end?.$case === 'statusUpdate' && end.value.status?.state).toBe(TaskState.TASK_STATE_COMPLETED);
  });

  it('gets a task, with as much of its history as is wanted', async () => {
    const { id } = await send('ask');
    await send('echo yes', { taskId: id });
    const get = async (historyLength?: number) =>
      (await client.getTask({ tenant: '', id, ...(historyLength === undefined ? {} : { historyLength }) }))
        .history;
    expect((await get()).length).toBeGreaterThanOrEqual(2);
    expect(await get(1)).toHaveLength(1);
    expect(await get(0)).toEqual([]);
  });

  it('lists tasks, the newest first, a page at a time', async () => {
    const contextId = `list-${binding}`;
    const ids: string[] = [];
    for (const text of ['echo 1', 'echo 2', 'echo 3']) ids.push((await send(text, { contextId })).id);
    const list = (given: object) =>
      client.listTasks({
        tenant: '',
        contextId,
        status: TaskState.TASK_STATE_UNSPECIFIED,
        pageToken: '',
        statusTimestampAfter: undefined,
        ...given,
      });
    const first = await list({ pageSize: 2 });
    expect(first.tasks.map(({ id }) => id)).toEqual([ids[2], ids[1]]);
    expect({ ...first, tasks: 0, nextPageToken: 0 }).toMatchObject({ pageSize: 2, totalSize: 3 });
    expect(first.tasks[0]?.artifacts).toEqual([]);
    const second = await list({ pageToken: first.nextPageToken, includeArtifacts: true });
    expect(second).toMatchObject({ nextPageToken: '', pageSize: 50, totalSize: 3 });
    expect(second.tasks.map(({ id }) => id)).toEqual([ids[0]]);
    expect(second.tasks[0]?.artifacts).toHaveLength(1);
    expect((await list({ status: TaskState.TASK_STATE_FAILED })).totalSize).toBe(0);
    expect((await list({ statusTimestampAfter: '2100-01-01T00:00:00Z' })).totalSize).toBe(0);
  });

  it('cancels a task in mid-work, which ends the work', async () => {
    const { id } = await held();
    await server.workshop.whenBegun(1);
    const turn = server.workshop.turns.find(({ opening }) => opening.id === id);
    const canceled = await client.cancelTask({ tenant: '', id, metadata: undefined });
    expect(canceled.status?.state).toBe(TaskState.TASK_STATE_CANCELED);
    expect(turn?.signal.aborted ?? true).toBe(true);
    await expect(client.cancelTask({ tenant: '', id, metadata: undefined })).rejects.toThrow(
      expect.objectContaining({ reason: 'TASK_NOT_CANCELABLE' }),
    );
  });

  it('lets several subscribe, who all see the same', async () => {
    const { id } = await held();
    const readers = [1, 2, 3].map(() => client.resubscribeTask({ tenant: '', id }));
    const firsts = await Promise.all(readers.map((reader) => reader.next()));
    for (const { value } of firsts) expect(kindOf(value as StreamResponse)).toBe('task');
    await server.workshop.release(id);
    const [one = [], ...others] = await Promise.all(readers.map(all));
    expect(one.map(kindOf)).toEqual(['artifactUpdate', 'statusUpdate']);
    for (const other of others) expect(other).toEqual(one);
  });

  it('refuses what cannot be, by the error of the protocol', async () => {
    const done = await send('echo done');
    const reasonOf = async (work: Promise<unknown>) =>
      work.then(
        () => 'none',
        (error: { reason?: string; cause?: { reason?: string } }) => error.reason ?? error.cause?.reason,
      );
    expect(await reasonOf(client.getTask({ tenant: '', id: 'nobodys' }))).toBe('TASK_NOT_FOUND');
    expect(await reasonOf(send('more', { taskId: 'nobodys' }))).toBe('TASK_NOT_FOUND');
    expect(await reasonOf(send('more', { taskId: done.id }))).toBe('UNSUPPORTED_OPERATION');
    expect(await reasonOf(all(client.resubscribeTask({ tenant: '', id: done.id })))).toBe(
      'UNSUPPORTED_OPERATION',
    );
    const asked = await send('ask');
    await expect(send('more', { taskId: asked.id, contextId: 'another' })).rejects.toMatchObject({
      reason: 'INVALID_PARAMS',
      message: expect.stringContaining('message.contextId is "another"'),
    });
    expect(await reasonOf(send('echo', { configuration: { acceptedOutputModes: ['image/png'] } }))).toBe(
      'CONTENT_TYPE_NOT_SUPPORTED',
    );
  });

  it("takes somebody else's task for one that is not there, in the tenant or out of it", async () => {
    const { id } = await held();
    for (const by of ['bob@acme', 'alice@other', 'alice', undefined]) {
      const other = await sdkClient(server.url, binding, by === undefined ? {} : { by });
      for (const work of [
        () => other.getTask({ tenant: '', id }),
        () => other.cancelTask({ tenant: '', id, metadata: undefined }),
        () => all(other.resubscribeTask({ tenant: '', id })),
        () => other.sendMessage(sendRequest('echo mine', { taskId: id })),
      ])
        await expect(work()).rejects.toThrow(`There is no task "${id}"`);
    }
    await server.workshop.release(id);
  });

  it('takes a message that is sent twice for one message', async () => {
    const request = sendRequest('echo once', { messageId: `twice-${binding}` });
    const [one, two] = (await Promise.all([
      client.sendMessage(request),
      client.sendMessage(request),
    ])) as Task[];
    const three = (await client.sendMessage(request)) as Task;
    expect(two).toEqual(one);
    expect(three).toEqual(one);
    const streamed = await all(client.sendMessageStream(request));
    expect(streamed.map(kindOf)).toEqual(['task']);
    // Also one whose task waits for its owner since.
    const ask = sendRequest('ask', { messageId: `asked-twice-${binding}` });
    const asked = (await client.sendMessage(ask)) as Task;
    expect(await client.sendMessage(ask)).toEqual(asked);
    expect((await all(client.sendMessageStream(ask))).map(kindOf)).toEqual(['task']);
  });

  it('serves an agent of several by its own card and its tenant', async () => {
    const venus = await sdkClient(server.url, binding, {
      by: 'alice@acme',
      path: '/venus/.well-known/agent-card.json',
    });
    const task = (await venus.sendMessage(sendRequest('echo drawn'))) as Task;
    const turn = server.workshop.turns.find(({ opening }) => opening.id === task.id);
    expect(turn?.opening.agentId).toBe('venus');
    expect(await venus.getTask({ tenant: '', id: task.id })).toEqual(task);
    const mars = await sdkClient(server.url, binding, {
      by: 'alice@acme',
      path: '/mars/.well-known/agent-card.json',
    });
    await expect(mars.getTask({ tenant: '', id: task.id })).rejects.toThrow('There is no task');
    expect((await client.getTask({ tenant: '', id: task.id })).id).toBe(task.id);
  });

  it('shows more of itself to those who are known', async () => {
    const known = await client.getAgentCard();
    expect(known.skills.map(({ id }) => id)).toContain('secrets.rotate');
    const nobody = await sdkClient(server.url, binding);
    await expect(nobody.getAgentCard()).rejects.toThrow('for those who have proved who they are');
  });

  it('carries 200 KB and 20 MB', async () => {
    for (const length of [200_000, 20_000_000]) {
      const text = 'x'.repeat(length);
      const task = await send(`echo ${text}`, { configuration: { historyLength: 0 } });
      const content = task.artifacts[0]?.parts[0]?.content;
      expect(content?.$case === 'text' && content.value.length).toBe(length);
    }
  });
});

async function all(items: AsyncIterable<StreamResponse>): Promise<StreamResponse[]> {
  const taken: StreamResponse[] = [];
  for await (const item of items) taken.push(item);
  return taken;
}

/** The texts of what was made, of the task as it was first and of all that followed. */
function chunksOf(items: readonly StreamResponse[]): string[] {
  const parts = items.flatMap(({ payload }) => {
    if (payload?.$case === 'task') return payload.value.artifacts.flatMap((artifact) => artifact.parts);
    return payload?.$case === 'artifactUpdate' ? (payload.value.artifact?.parts ?? []) : [];
  });
  return parts.map(({ content }) => (content?.$case === 'text' ? content.value : ''));
}

const kindOf = (item: StreamResponse | undefined): string | undefined => item?.payload?.$case;
