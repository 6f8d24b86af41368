import { describe, expect, it } from 'vitest';
import { OrreryError } from '../../runtime/protocol/errors.ts';
import { V1 as DIALECT, V1_1_DRAFT } from '../../gateway/a2a/server/index.ts';
import { restBindingOf } from '../../gateway/a2a/wire/v1/dialect.ts';
import { bound, type RpcAnswer, startA2AServer, type TestServer } from '../fixtures/a2a-server.ts';

const JSON_TYPE = { 'Content-Type': 'application/json' };
const V1 = { ...JSON_TYPE, 'A2A-Version': '1.0' };

const post = (server: TestServer, body: string, headers: Record<string, string> = V1, path = '/rpc') =>
  server.fetch(path, { method: 'POST', headers, body });

const messageOf = (text: string, more: object = {}) => ({
  message: { messageId: `m-${text}`, role: 'ROLE_USER', parts: [{ text }], ...more },
});

const call = (method: string, params: unknown, id: unknown = 1) => ({ jsonrpc: '2.0', id, method, params });

const answer = async (server: TestServer, body: unknown, headers?: Record<string, string>, path?: string) =>
  (await (await post(server, JSON.stringify(body), headers, path)).json()) as RpcAnswer;

describe('A2A 1.0 over JSON-RPC', () => {
  it('X-33 says -32700 to what is no JSON, with no id', async () => {
    await using server = await startA2AServer();
    for (const body of ['', '{"jsonrpc": "2.0", "id": 4, "method"', 'null null', '\u{fffe}'])
      expect(await (await post(server, body)).json()).toMatchObject({
        jsonrpc: '2.0',
        id: null,
        error: { code: -32_700 },
      });
    const bytes = new Uint8Array([0x22, 0xff, 0xfe, 0x22]);
    const response = await server.fetch('/rpc', { method: 'POST', headers: V1, body: bytes });
    expect(await response.json()).toMatchObject({ id: null, error: { code: -32_700 } });
  });

  it('X-34 says -32600 to JSON that is no call, with the id where there is one', async () => {
    await using server = await startA2AServer();
    const cases: [unknown, unknown][] = [
      [null, null],
      ['x', null],
      [4, null],
      [{}, null],
      [{ jsonrpc: '1.0', id: 3, method: 'GetTask' }, 3],
      [{ jsonrpc: '2.0', id: 'a' }, 'a'],
      [{ jsonrpc: '2.0', id: 5, method: 5 }, 5],
      [{ jsonrpc: '2.0', id: {}, method: 'GetTask' }, null],
      [{ jsonrpc: '2.0', id: 6, method: 'GetTask', params: 'x' }, 6],
    ];
    for (const [body, id] of cases)
      expect(await answer(server, body)).toMatchObject({ id, error: { code: -32_600 } });
  });

  it('X-35 says -32601 to a method that is none, also to the names that objects have', async () => {
    await using server = await startA2AServer();
    for (const method of ['Nothing', 'message/send', 'toString', '__proto__', 'constructor', ''])
      expect(await answer(server, call(method, {}))).toMatchObject({ id: 1, error: { code: -32_601 } });
  });

  it('X-36 says -32602 to bad parameters, naming field and value', async () => {
    await using server = await startA2AServer();
    const said = async (method: string, params: unknown): Promise<string> => {
      const { error } = await answer(server, call(method, params));
      expect(error?.code).toBe(-32_602);
      expect(error?.data).toMatchObject([{ reason: 'INVALID_PARAMS', domain: 'a2a-protocol.org' }]);
      return error?.message ?? '';
    };
    expect(await said('GetTask', {})).toContain('id');
    expect(await said('GetTask', { id: 17 })).toMatch(/id is 17, expected a text/);
    expect(await said('GetTask', { id: 'x', historyLength: -3 })).toMatch(/historyLength is -3, /);
    expect(await said('GetTask', ['x'])).toContain('params');
    expect(await said('ListTasks', { pageSize: 101 })).toMatch(/pageSize is 101, /);
    expect(await said('ListTasks', { pageSize: 0 })).toMatch(/pageSize is 0, /);
    expect(await said('ListTasks', { status: 'DONE' })).toMatch(/status is "DONE", /);
    expect(await said('ListTasks', { statusTimestampAfter: 'soon' })).toMatch(
      /statusTimestampAfter is "soon", /,
    );
    expect(await said('ListTasks', { pageToken: 'NONE' })).toMatch(/pageToken.*NONE/);
    expect(await said('SendMessage', {})).toContain('message');
    const parts = (given: unknown) => ({ message: { messageId: 'm', role: 'ROLE_USER', parts: given } });
    expect(await said('SendMessage', parts([]))).toContain('message.parts');
    expect(await said('SendMessage', parts(undefined))).toContain('message.parts');
    expect(await said('SendMessage', parts([{}]))).toContain('message.parts[0]');
    expect(await said('SendMessage', parts([{ text: 'a', url: 'https://a.example' }]))).toContain(
      'exactly one',
    );
    expect(await said('SendMessage', messageOf('x', { role: 'ROLE_ADMIN' }))).toContain('"ROLE_ADMIN"');
    expect(await said('SendMessage', messageOf('x', { role: 'ROLE_AGENT' }))).toContain('role');
    expect(await said('SendMessage', messageOf('x', { messageId: '' }))).toContain('messageId');
    expect(await said('SubscribeToTask', {})).toContain('id');
    expect(server.workshop.turns).toEqual([]);
  });

  it('X-37 says -32603 to what fails inside, and tells what it was to the operator alone', async () => {
    const failure = new OrreryError('STORE_FAILED', 'The store /secret/place failed');
    await using server = await startA2AServer({
      through: (tasks) => ({
        ...bound(tasks),
        get: () => {
          throw failure;
        },
      }),
    });
    const { error } = await answer(server, call('GetTask', { id: 'x' }));
    expect(error?.code).toBe(-32_603);
    expect(JSON.stringify(error)).not.toContain('secret');
    expect(server.faults).toEqual([failure]);
  });

  it('answers with the id that it was asked with, whatever JSON-RPC allows', async () => {
    await using server = await startA2AServer();
    for (const id of [0, -1, 1.5, 2 ** 53, '', '7', 'ü', null])
      expect(await answer(server, call('ListTasks', {}, id))).toMatchObject({
        jsonrpc: '2.0',
        id,
        result: {},
      });
  });

  it('answers an id that no number can hold, and what is no notification without one, with -32600', async () => {
    await using server = await startA2AServer();
    for (const body of [
      '{"jsonrpc":"2.0","id":1e400,"method":"ListTasks"}',
      '{"jsonrpc":"aaa","method":"ListTasks"}',
      '{"method":"ListTasks"}',
      '{"jsonrpc":"2.0","method":5}',
      '{"jsonrpc":"2.0","method":"ListTasks","params":5}',
      '{}',
    ]) {
      const response = await post(server, body);
      expect([body, await response.json()]).toMatchObject([body, { id: null, error: { code: -32_600 } }]);
    }
  });

  it('takes a path with a slash at its end for the one without', async () => {
    await using server = await startA2AServer();
    for (const path of ['/rpc/', '/venus/rpc/'])
      expect(await answer(server, call('ListTasks', {}), V1, path)).toMatchObject({ result: {} });
  });

  it('takes no id of a caller that is longer than 256 characters, naming it', async () => {
    await using server = await startA2AServer();
    const { message } = messageOf('echo x');
    for (const field of ['messageId', 'contextId', 'taskId']) {
      const named = (length: number) => ({ message: { ...message, [field]: 'i'.repeat(length) } });
      const { error } = await answer(server, call('SendMessage', named(257)));
      expect(error).toMatchObject({ code: -32_602 });
      expect(error?.message).toContain(`message.${field} is "iii`);
      if (field !== 'taskId')
        expect(await answer(server, call('SendMessage', named(256)))).toMatchObject({ result: {} });
    }
  });

  it('answers a batch call by call, and nothing to its notifications', async () => {
    await using server = await startA2AServer();
    const answers = (await answer(server, [
      call('SendMessage', messageOf('echo one'), 'a'),
      { jsonrpc: '2.0', method: 'SendMessage', params: messageOf('echo two') },
      call('Nothing', {}, 'b'),
      5,
      call('SendStreamingMessage', messageOf('echo three'), 'c'),
    ])) as unknown as RpcAnswer[];
    expect(answers.map(({ id, error }) => [id, error?.code])).toEqual([
      ['a', undefined],
      ['b', -32_601],
      [null, -32_600],
      ['c', -32_004],
    ]);
    expect(server.tasks.size).toBe(2);
    expect(await answer(server, [])).toMatchObject({ id: null, error: { code: -32_600 } });
    const many = Array.from({ length: 51 }, (_none, id) => call('ListTasks', {}, id));
    expect(await answer(server, many)).toMatchObject({ id: null, error: { code: -32_600 } });
    const silent = await post(server, JSON.stringify([{ jsonrpc: '2.0', method: 'ListTasks' }]));
    expect([silent.status, await silent.text()]).toEqual([204, '']);
  });

  it('does what a notification says, and answers nothing, right or wrong', async () => {
    await using server = await startA2AServer();
    for (const method of ['SendMessage', 'SendStreamingMessage', 'Nothing']) {
      const body = { jsonrpc: '2.0', method, params: messageOf(`hold ${method}`) };
      const response = await post(server, JSON.stringify(body));
      expect([response.status, await response.text()]).toEqual([204, '']);
    }
    expect(server.tasks.size).toBe(2);
  });

  it('is served at /rpc, at / and for an agent at /{agentId}/rpc', async () => {
    await using server = await startA2AServer();
    for (const [path, agent] of [
      ['/rpc', 'mars'],
      ['/', 'mars'],
      ['/venus/rpc', 'venus'],
    ] as const) {
      const { result } = await answer(server, call('SendMessage', messageOf(`echo ${path}`)), V1, path);
      const turn = server.workshop.turns.find(({ opening }) => opening.id === result.task.id);
      expect(turn?.opening.agentId).toBe(agent);
    }
  });

  it('speaks the version that is said in the header or the query, without its patch number', async () => {
    await using server = await startA2AServer();
    const ok = { result: { nextPageToken: '' } };
    const list = call('ListTasks', {});
    for (const version of ['1.0', '1.0.0', '1.0.1', ' 1.0 '])
      expect(await answer(server, list, { ...JSON_TYPE, 'A2A-Version': version })).toMatchObject(ok);
    expect(await answer(server, list, JSON_TYPE, '/rpc?A2A-Version=1.0')).toMatchObject(ok);
    for (const version of ['0.9', '2.0', '1', '1.0.x', 'one', '0.1'])
      expect(await answer(server, list, { ...JSON_TYPE, 'A2A-Version': version })).toMatchObject({
        error: {
          code: -32_009,
          data: [{ reason: 'VERSION_NOT_SUPPORTED', metadata: { versions: '["1.0"]' } }],
        },
      });
    // Nothing said means 0.3, which this one does not speak.
    expect(await answer(server, list, JSON_TYPE)).toMatchObject({ error: { code: -32_009 } });
  });

  it('refuses bodies that are no JSON by their type, are too large, or of somebody unproven', async () => {
    await using server = await startA2AServer({ maxBodyBytes: 1_000 });
    const body = JSON.stringify(call('ListTasks', {}));
    const plain = await post(server, body, { 'Content-Type': 'text/plain' });
    expect([plain.status, await plain.json()]).toMatchObject([415, { error: { code: -32_005 } }]);
    const large = await post(server, JSON.stringify(call('SendMessage', messageOf('x'.repeat(2_000)))));
    expect([large.status, await large.json()]).toMatchObject([
      413,
      { id: null, error: { code: -32_600, data: [{ reason: 'BODY_TOO_LARGE' }] } },
    ]);
    const unproven = await server.fetch('/rpc', {
      method: 'POST',
      headers: { ...V1, Authorization: 'Bearer ???' },
      body,
    });
    expect([unproven.status, await unproven.json()]).toMatchObject([
      401,
      { error: { data: [{ reason: 'UNAUTHENTICATED' }] } },
    ]);
    const typed = await post(server, body, { ...V1, 'Content-Type': 'application/a2a+json; charset=utf-8' });
    expect(typed.status).toBe(200);
  });

  it('takes the tenant for the agent, which is to be that of the URL, and to be there', async () => {
    await using server = await startA2AServer();
    const send = (tenant: unknown, path?: string) =>
      answer(server, call('SendMessage', { ...messageOf(`echo ${tenant}${path}`), tenant }), V1, path);
    const { result } = await send('venus');
    expect(server.workshop.turns.at(-1)?.opening.agentId).toBe('venus');
    expect((await send('venus', '/venus/rpc')).error).toBeUndefined();
    expect((await send('', '/venus/rpc')).error).toBeUndefined();
    expect((await send('mars', '/venus/rpc')).error?.message).toContain('"mars"');
    expect((await send(5)).error?.message).toContain('tenant is 5');
    expect((await send('pluto')).error).toMatchObject({
      code: -32_602,
      data: [{ reason: 'AGENT_NOT_FOUND' }],
    });
    for (const method of ['GetTask', 'CancelTask', 'SubscribeToTask'])
      expect(await answer(server, call(method, { id: result.task.id, tenant: 'mars' }))).toMatchObject({
        error: { code: -32_001 },
      });
    const listed = await answer(server, call('ListTasks', { tenant: 'mars' }));
    expect(listed.result.totalSize).toBe(0);
  });

  it('C-38 finds the agent by the tool that a data part names, else by the entry, else names the choices', async () => {
    await using server = await startA2AServer();
    const use = (tool: unknown) =>
      answer(
        server,
        call('SendMessage', {
          message: { messageId: `m-${tool}`, role: 'ROLE_USER', parts: [{ data: { tool, arguments: {} } }] },
        }),
      );
    await use('ui.render');
    expect(server.workshop.turns.at(-1)?.opening.agentId).toBe('venus');
    await use('types.check');
    expect(server.workshop.turns.at(-1)?.opening.agentId).toBe('mars');
    expect((await use('none')).error?.message).toMatch(/"none".*types\.check.*ui\.render/);
    server.team.entry = undefined;
    const { error } = await answer(server, call('SendMessage', messageOf('echo whom')));
    expect(error?.message).toMatch(/tenant: .*mars, venus/);
  });

  it('activates the extensions that are asked for, says which, and refuses who leaves out a required one', async () => {
    const uri = 'https://orrery.example/ext';
    const extension = {
      uri,
      description: 'Deadlines',
      required: true,
      terms: () => ({ deadlineAtMs: 4e12 }),
    };
    await using server = await startA2AServer({ extensions: [extension] });
    const list = JSON.stringify(call('ListTasks', {}));
    expect(await (await post(server, list)).json()).toMatchObject({
      error: { code: -32_008, data: [{ metadata: { extension: uri } }] },
    });
    const asked = { ...V1, 'A2A-Extensions': `https://other.example, ${uri}` };
    const response = await post(server, list, asked);
    expect(response.headers.get('A2A-Extensions')).toBe(uri);
    await answer(server, call('SendMessage', messageOf('echo soon')), asked);
    expect(server.workshop.turns.at(-1)?.terms).toMatchObject({ deadlineAtMs: 4e12, tier: 3 });
  });

  it('1.1: is spoken by those who ask for it, over either binding, where it is served', async () => {
    await using server = await startA2AServer({
      dialects: [DIALECT, V1_1_DRAFT],
      rest: [restBindingOf(DIALECT, V1_1_DRAFT)],
    });
    const { id } = (await answer(server, call('SendMessage', messageOf('echo x')))).result.task;
    const both = async (version: string) => {
      const headers = { ...JSON_TYPE, 'A2A-Version': version };
      const rpc = await answer(server, call('GetTask', { id }), headers);
      const rest = await (await server.fetch(`/tasks/${id}`, { headers })).json();
      return [rpc.result, rest];
    };
    for (const task of await both('1.0')) expect(task).not.toHaveProperty('generation');
    for (const task of await both('1.1')) expect(task.generation).toMatch(/^\d+$/);
  });

  it('1.1: answers a long poll when the task has changed, and refuses what was said to an older one', async () => {
    await using server = await startA2AServer();
    const asked = await answer(server, call('SendMessage', messageOf('ask')));
    const { id, contextId } = asked.result.task;
    const { generation } = server.tasks.get({ principalId: 'anonymous' }, id);
    const said = (messageId: string, ifGenerationMatch: number) => ({
      message: { ...messageOf('hold').message, messageId, taskId: id, contextId },
      configuration: { ifGenerationMatch, returnImmediately: true },
    });
    expect(await answer(server, call('SendMessage', said('late', generation - 1)))).toMatchObject({
      error: { code: -32_010 },
    });
    const polled = answer(server, call('GetTask', { id, currentGeneration: generation }));
    expect(await answer(server, call('SendMessage', said('now', generation)))).toHaveProperty('result');
    expect((await polled).result.history.length).toBeGreaterThan(asked.result.task.history.length);
    // The same message again is the same message, though the task has changed since.
    expect(await answer(server, call('SendMessage', said('now', generation)))).toHaveProperty('result');
    const done = server.workshop.release(id);
    await done;
    expect((await answer(server, call('GetTask', { id, currentGeneration: 1 }))).result.id).toBe(id);
  });
});
