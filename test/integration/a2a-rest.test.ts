import { describe, expect, it } from 'vitest';
import { startA2AServer, type TestServer } from '../fixtures/a2a-server.ts';
import { allEvents } from '../fixtures/sse-reader.ts';

const V1 = { 'A2A-Version': '1.0' };
const A2A_JSON = { ...V1, 'Content-Type': 'application/a2a+json' };

let count = 0;
const messageOf = (text: string) => ({
  message: { messageId: `m-${++count}`, role: 'ROLE_USER', parts: [{ text }] },
});

const post = (server: TestServer, path: string, body: unknown, headers: Record<string, string> = A2A_JSON) =>
  server.fetch(path, {
    method: 'POST',
    headers,
    body: typeof body === 'string' ? body : JSON.stringify(body),
  });

const get = async (server: TestServer, path: string, headers: Record<string, string> = V1) =>
  (await server.fetch(path, { headers })).json() as Promise<never>;

const send = async (server: TestServer, text: string, path = '/message:send') =>
  ((await (await post(server, path, messageOf(text))).json()) as { task: { id: string; contextId: string } })
    .task;

describe('A2A 1.0 over HTTP+JSON', () => {
  it('answers as application/a2a+json, and takes application/json as well', async () => {
    await using server = await startA2AServer();
    for (const type of ['application/a2a+json', 'application/json', 'application/json; charset=utf-8']) {
      const response = await post(server, '/message:send', messageOf('echo x'), {
        ...V1,
        'Content-Type': type,
      });
      expect(response.status).toBe(200);
      expect(response.headers.get('Content-Type')).toBe('application/a2a+json');
    }
    const plain = await post(server, '/message:send', messageOf('echo x'), {
      ...V1,
      'Content-Type': 'text/plain',
    });
    expect(plain.status).toBe(415);
  });

  it('has an agent before every path, and takes none that is not there', async () => {
    await using server = await startA2AServer();
    const { id } = await send(server, 'echo drawn', '/venus/message:send');
    expect(server.workshop.turns[0]?.opening.agentId).toBe('venus');
    expect(await get(server, `/venus/tasks/${id}`)).toMatchObject({ id });
    expect(await get(server, '/venus/tasks')).toMatchObject({ totalSize: 1 });
    expect(await get(server, '/mars/tasks')).toMatchObject({ tasks: [], totalSize: 0, nextPageToken: '' });
    const wrong = await server.fetch(`/mars/tasks/${id}`, { headers: V1 });
    expect([wrong.status, await wrong.json()]).toMatchObject([404, { error: { status: 'NOT_FOUND' } }]);
    const none = await server.fetch('/pluto/tasks', { headers: V1 });
    expect([none.status, await none.json()]).toMatchObject([
      404,
      { error: { code: 404, status: 'NOT_FOUND', details: [{ reason: 'AGENT_NOT_FOUND' }] } },
    ]);
    const differs = await post(server, '/mars/message:send', { ...messageOf('echo'), tenant: 'venus' });
    expect(differs.status).toBe(400);
  });

  it('reads numbers, truth and moments of the query, in either spelling', async () => {
    await using server = await startA2AServer();
    const { id, contextId } = await send(server, 'echo one');
    await send(server, 'echo two');
    const page = (query: string) => get(server, `/tasks?${query}`);
    expect(await page(`contextId=${contextId}&includeArtifacts=true`)).toMatchObject({
      totalSize: 1,
      tasks: [{ id, artifacts: [{}] }],
    });
    expect(await page(`context_id=${contextId}&page_size=1`)).toMatchObject({ totalSize: 1, pageSize: 1 });
    const listed = (await page('historyLength=0')) as { tasks: object[] };
    for (const task of listed.tasks) expect(Object.keys(task)).toEqual(['id', 'contextId', 'status']);
    expect(await page('status=TASK_STATE_FAILED')).toMatchObject({ totalSize: 0 });
    expect(await page('statusTimestampAfter=2100-01-01T00:00:00Z')).toMatchObject({ totalSize: 0 });
    expect(await get(server, `/tasks/${id}?historyLength=0`)).not.toHaveProperty('history');
    for (const query of ['pageSize=many', 'pageSize=1.5', 'includeArtifacts=1', 'pageSize=0', 'pageSize=101'])
      expect(await page(query)).toMatchObject({
        error: { code: 400, status: 'INVALID_ARGUMENT', details: [{ reason: 'INVALID_PARAMS' }] },
      });
  });

  it('says what is wrong by status and google.rpc.Status', async () => {
    await using server = await startA2AServer();
    const done = await send(server, 'echo x');
    const said = async (work: Promise<Response>): Promise<unknown[]> => {
      const response = await work;
      const { error } = (await response.json()) as {
        error: { code: number; status: string; details: { reason: string; '@type': string }[] };
      };
      expect(error.code).toBe(response.status);
      expect(error.details[0]?.['@type']).toBe('type.googleapis.com/google.rpc.ErrorInfo');
      return [response.status, error.status, error.details[0]?.reason];
    };
    const fetched = (path: string, init: RequestInit = { headers: V1 }) => said(server.fetch(path, init));
    expect(await fetched('/tasks/none')).toEqual([404, 'NOT_FOUND', 'TASK_NOT_FOUND']);
    expect(await said(post(server, `/tasks/${done.id}:cancel`, {}))).toEqual([
      400,
      'FAILED_PRECONDITION',
      'TASK_NOT_CANCELABLE',
    ]);
    expect(await fetched(`/tasks/${done.id}:subscribe`)).toEqual([
      400,
      'FAILED_PRECONDITION',
      'UNSUPPORTED_OPERATION',
    ]);
    expect(await fetched(`/tasks/${done.id}/pushNotificationConfigs`)).toEqual([
      400,
      'FAILED_PRECONDITION',
      'PUSH_NOTIFICATION_NOT_SUPPORTED',
    ]);
    expect(await fetched('/extendedAgentCard')).toEqual([
      400,
      'FAILED_PRECONDITION',
      'UNSUPPORTED_OPERATION',
    ]);
    expect(await fetched('/tasks', { headers: { 'A2A-Version': '9.9' } })).toEqual([
      400,
      'FAILED_PRECONDITION',
      'VERSION_NOT_SUPPORTED',
    ]);
    expect(await fetched('/tasks', {})).toEqual([400, 'FAILED_PRECONDITION', 'VERSION_NOT_SUPPORTED']);
    expect(await said(post(server, '/message:send', '{'))).toEqual([400, 'INVALID_ARGUMENT', 'PARSE_ERROR']);
    expect(await said(post(server, '/message:send', '[]'))).toEqual([
      400,
      'INVALID_ARGUMENT',
      'INVALID_PARAMS',
    ]);
    expect(await said(post(server, '/message:send', ''))).toEqual([
      400,
      'INVALID_ARGUMENT',
      'INVALID_PARAMS',
    ]);
    const only = { ...messageOf('echo'), configuration: { acceptedOutputModes: ['image/png'] } };
    expect(await said(post(server, '/message:send', only))).toEqual([
      400,
      'INVALID_ARGUMENT',
      'CONTENT_TYPE_NOT_SUPPORTED',
    ]);
    expect(await fetched('/tasks', { headers: { ...V1, Authorization: 'Basic x' } })).toEqual([
      401,
      'UNAUTHENTICATED',
      'UNAUTHENTICATED',
    ]);
  });

  it('refuses a body that is too large by the protocol', async () => {
    await using server = await startA2AServer({ maxBodyBytes: 100 });
    const response = await post(server, '/message:send', messageOf('x'.repeat(200)));
    expect([response.status, await response.json()]).toMatchObject([
      413,
      { error: { code: 413, details: [{ reason: 'BODY_TOO_LARGE' }] } },
    ]);
  });

  it('subscribes by GET and by POST', async () => {
    await using server = await startA2AServer();
    const body = { ...messageOf('hold'), configuration: { returnImmediately: true } };
    const { task } = (await (await post(server, '/message:send', body)).json()) as { task: { id: string } };
    const both = await Promise.all([
      server.fetch(`/tasks/${task.id}:subscribe`, { headers: V1 }),
      server.fetch(`/tasks/${task.id}:subscribe`, { method: 'POST', headers: A2A_JSON, body: '{}' }),
      server.fetch(`/mars/tasks/${task.id}:subscribe`, { method: 'POST', headers: V1 }),
    ]);
    await server.workshop.release(task.id);
    const [one, ...others] = await Promise.all(both.map(allEvents));
    expect(one).toHaveLength(3);
    for (const other of others) expect(other).toEqual(one);
  });

  it('leaves paths that are none of it to others', async () => {
    await using server = await startA2AServer();
    for (const [method, path] of [
      ['GET', '/message:send'],
      ['POST', '/message:other'],
      ['DELETE', '/tasks/x'],
      ['GET', '/a/b/tasks'],
      ['POST', '/tasks/x:cancel:cancel/y'],
      ['GET', '/tasks/%E0%A4%A'],
    ] as const)
      expect((await server.fetch(path, { method, headers: V1 })).status).toBe(404);
  });

  it('takes ids as they are, whatever stands in them', async () => {
    await using server = await startA2AServer();
    for (const id of ['a:cancel', 'a/b', 'ü ?#', 'a%2Fb', ':subscribe'])
      expect(await get(server, `/tasks/${encodeURIComponent(id).replaceAll(':', '%3A')}`)).toMatchObject({
        error: { details: [{ reason: 'TASK_NOT_FOUND', metadata: { taskId: id } }] },
      });
  });
});
