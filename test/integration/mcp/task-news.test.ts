import { PassThrough } from 'node:stream';
import { createInterface } from 'node:readline';
import { setImmediate as turn } from 'node:timers/promises';
import { afterEach, describe, expect, it } from 'vitest';
import { serve, serveStdio } from 'orrery/gateway';
import { startSystem, type Team } from 'orrery';
import { apiKeys, newApiKey } from '../../../gateway/admit/api-keys.ts';
import { systemClock } from '../../../runtime/protocol/system-seams.ts';
import { modernFetch, modernMeta, modernRpc } from '../../fixtures/mcp/raw-mcp.ts';
import { begunSession, messages, type Said } from '../../fixtures/mcp/raw-session.ts';
import { agentsOfMcp } from '../../fixtures/mcp/team.ts';

const opened: Team[] = [];
const leaving = new AbortController();
const [alice, bob] = [newApiKey({ kind: 'user' }), newApiKey({ kind: 'user' })];
const authenticators = [apiKeys([alice.record, bob.record], { clock: systemClock })];
const keys = { alice: { 'x-api-key': alice.key }, bob: { 'x-api-key': bob.key } };

async function team(): Promise<Team> {
  const system = await startSystem({ agents: agentsOfMcp().agents, workers: 1, spareThread: false });
  opened.push(system);
  return system;
}
afterEach(async () => {
  for (const system of opened.splice(0)) await system.stop({ drainMs: 0 });
});

const capabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const listenTo = (notifications: object, can: object = capabilities) => ({
  jsonrpc: '2.0',
  id: 'l1',
  method: 'subscriptions/listen',
  params: { notifications, _meta: modernMeta(can) },
});
const sign = { name: 'clerk.sign', arguments: {} };
const ada = { who: { action: 'accept', content: { name: 'Ada' } } };
const SUBSCRIPTION = { 'io.modelcontextprotocol/subscriptionId': 'l1' };

const listen = (
  url: string,
  notifications: object,
  headers: Record<string, string>,
  can: object = capabilities,
) =>
  modernFetch(
    url,
    'subscriptions/listen',
    { notifications },
    { headers, capabilities: can, id: 'l1', signal: leaving.signal },
  );

/** The next that is told of a task in this state. */
async function next(told: AsyncGenerator<Said, void>, status: string): Promise<Said> {
  for (;;) {
    const { value: said, done } = await told.next();
    if (done === true) throw new Error('The stream has ended');
    expect(said.method).toBe('notifications/tasks');
    if (said.params?.['status'] === status) return said;
  }
}

describe('Tasks that are listened to (C-17), in 2026-07-28', () => {
  async function begun() {
    const { url } = await serve(await team(), { authenticators, mcp: { tasks: 'preferred' } });
    const asked = { capabilities, headers: keys.alice };
    const { json } = await modernRpc(url, 'tools/call', sign, asked);
    const { taskId } = (json as { result: { taskId: string } }).result;
    const get = async () => {
      const answer = await modernRpc(url, 'tasks/get', { taskId }, asked);
      const { resultType: _, _meta, ...task } = (answer.json as { result: Record<string, unknown> }).result;
      return task;
    };
    const update = () => modernRpc(url, 'tasks/update', { taskId, inputResponses: ada }, asked);
    return { url, taskId, get, update };
  }

  it('are told of as they stand, and whenever that changes, as tasks/get says it', async () => {
    const { url, taskId, get, update } = await begun();
    const told = messages(await listen(url, { taskIds: [taskId, 'none', taskId] }, keys.alice));
    expect((await told.next()).value).toMatchObject({
      method: 'notifications/subscriptions/acknowledged',
      params: { notifications: { taskIds: [taskId] }, _meta: SUBSCRIPTION },
    });
    const { params } = await next(told, 'input_required');
    expect(params).toEqual({ ...(await get()), _meta: SUBSCRIPTION });
    expect(params).toMatchObject({ inputRequests: { who: { method: 'elicitation/create' } } });
    await update();
    const ended = await next(told, 'completed');
    expect(ended.params).toEqual({ ...(await get()), _meta: SUBSCRIPTION });
    expect(ended.params).toMatchObject({ result: { structuredContent: { result: 'signed by Ada' } } });
  });

  it('are told of among other changes that are asked for, and those alone', async () => {
    const { url, taskId } = await begun();
    const wanted = { taskIds: [taskId], resourceSubscriptions: ['notes://today'] };
    const told = messages(await listen(url, wanted, keys.alice));
    expect((await told.next()).value).toMatchObject({ params: { notifications: wanted } });
    await next(told, 'input_required');
    await modernRpc(url, 'tools/call', { name: 'clerk.jot', arguments: {} }, { headers: keys.alice });
    expect((await told.next()).value).toMatchObject({ method: 'notifications/resources/updated' });
    // Who listens to tasks alone hears of no list that changes.
    const alone = messages(await listen(url, { taskIds: [taskId] }, keys.alice));
    expect((await alone.next()).value).toMatchObject({ params: { notifications: { taskIds: [taskId] } } });
    await next(alone, 'input_required');
    await modernRpc(url, 'tasks/cancel', { taskId }, { capabilities, headers: keys.alice });
    await opened[0]?.start([]);
    await next(alone, 'cancelled');
  });

  it('are nobody else’s to hear of', async () => {
    const { url, taskId } = await begun();
    const told: Said[] = [];
    const response = await listen(url, { taskIds: [taskId] }, keys.bob);
    for await (const said of messages(response)) told.push(said);
    expect(told).toMatchObject([
      { method: 'notifications/subscriptions/acknowledged', params: { notifications: {} } },
      { id: 'l1', result: {} },
    ]);
    expect(JSON.stringify(told)).not.toContain(taskId);
  });

  it('are refused to a client that can have none, and to one that names none', async () => {
    const { url, taskId } = await begun();
    const lacking = await listen(url, { taskIds: [taskId] }, keys.alice, {});
    expect(lacking.status).toBe(400);
    expect(await lacking.json()).toMatchObject({
      id: 'l1',
      error: {
        code: -32021,
        data: { requiredCapabilities: { extensions: { 'io.modelcontextprotocol/tasks': {} } } },
      },
    });
    const wrong = await listen(url, { taskIds: taskId }, keys.alice);
    expect(await wrong.json()).toMatchObject({ error: { code: -32602 } });
  });

  it('are told of over a pair of streams as well, until that is not wanted any more', async () => {
    const [input, output] = [new PassThrough(), new PassThrough()];
    await serveStdio(await team(), { input, output, mcp: { tasks: 'preferred' } });
    const lines = createInterface({ input: output })[Symbol.asyncIterator]();
    const say = (message: object) => void input.write(`${JSON.stringify(message)}\n`);
    const heard = async (): Promise<Said> => JSON.parse(String((await lines.next()).value)) as Said;
    const rpc = (id: number, method: string, params: object) =>
      say({ jsonrpc: '2.0', id, method, params: { ...params, _meta: modernMeta(capabilities) } });
    rpc(1, 'tools/call', sign);
    const taskId = (await heard()).result?.['taskId'] as string;
    say(listenTo({ taskIds: [taskId] }, {}));
    expect(await heard()).toMatchObject({ id: 'l1', error: { code: -32021 } });
    say(listenTo({ taskIds: [taskId, 'none'] }));
    expect(await heard()).toMatchObject({ params: { notifications: { taskIds: [taskId] } } });
    let said = await heard();
    while (said.params?.['status'] === 'working') said = await heard();
    expect(said).toMatchObject({
      method: 'notifications/tasks',
      params: { taskId, status: 'input_required', _meta: SUBSCRIPTION },
    });
    say({ jsonrpc: '2.0', method: 'notifications/cancelled', params: { requestId: 'l1' } });
    rpc(2, 'tasks/update', { taskId, inputResponses: ada });
    expect(await heard()).toMatchObject({ id: 2 });
    let status: unknown = 'working';
    for (let id = 3; status === 'working'; id += 1) {
      // Streams of one process leave nobody else a turn.
      await turn();
      rpc(id, 'tasks/get', { taskId });
      const answer = await heard();
      // Nothing else is heard any more.
      expect(answer.id).toBe(id);
      status = answer.result?.['status'];
    }
    expect(status).toBe('completed');
  });
});

describe('Tasks of 2025-11-25 (C-17)', () => {
  it('are told of to the session that has begun them, where it listens, and to no other', async () => {
    const { url } = await serve(await team(), {});
    const [own, other] = [await begunSession(url), await begunSession(url)];
    const [told, toldOther] = [
      messages(await own.listen(leaving.signal)),
      messages(await other.listen(leaving.signal)),
    ];
    const call = (a: number) => ({ name: 'clerk.add', arguments: { a, b: 1 }, task: {} });
    const taskOf = ({ result }: Said) => (result as { task: { taskId: string } }).task.taskId;
    const taskId = taskOf(await own.rpc('tools/call', call(1)));
    let said: Said | undefined;
    do said = (await told.next()).value as Said;
    while (said.params?.['status'] === 'working');
    expect(said).toMatchObject({
      method: 'notifications/tasks/status',
      params: { taskId, status: 'completed', ttl: null },
    });
    // The first that the other one hears is of its own.
    const otherId = taskOf(await other.rpc('tools/call', call(2)));
    expect((await toldOther.next()).value).toMatchObject({ params: { taskId: otherId } });
  });
});
