import { afterEach, describe, expect, it } from 'vitest';
import { startSystem, type Team } from 'orrery';
import { modernRpc } from '../../fixtures/mcp/raw-mcp.ts';
import { agentsOfMcp } from '../../fixtures/mcp/team.ts';

const opened: Team[] = [];
const served = async (options: object = {}) => {
  const system = await startSystem({ agents: agentsOfMcp().agents, workers: 1, spareThread: false });
  opened.push(system);
  return system.serve({ mcp: options });
};
afterEach(async () => {
  for (const system of opened.splice(0)) await system.stop({ drainMs: 0 });
});

interface Paused {
  readonly result: {
    readonly resultType: string;
    readonly requestState: string;
    readonly inputRequests: Record<string, unknown>;
  };
}

const capabilities = { elicitation: {}, extensions: { 'io.modelcontextprotocol/tasks': {} } };
const ada = { who: { action: 'accept', content: { name: 'Ada' } } };

describe('A tool that asks (L-18)', () => {
  it('is suspended, and goes on with what the client brings back', async () => {
    const { url } = await served();
    const call = { name: 'clerk.sign', arguments: {} };
    const { json } = await modernRpc(url, 'tools/call', call, { capabilities });
    const { result } = json as Paused;
    expect(result).toMatchObject({
      resultType: 'input_required',
      inputRequests: { who: { method: 'elicitation/create', params: { message: 'Who signs?' } } },
    });
    const again = { ...call, requestState: result.requestState, inputResponses: ada };
    expect((await modernRpc(url, 'tools/call', again, { capabilities })).json).toMatchObject({
      result: { resultType: 'complete', structuredContent: { result: 'signed by Ada' } },
    });
    const declined = { ...again, inputResponses: { who: { action: 'decline' } } };
    expect((await modernRpc(url, 'tools/call', declined, { capabilities })).json).toMatchObject({
      result: { structuredContent: { result: 'not signed' } },
    });
  });

  it('takes no state that was changed, or was given out for something else', async () => {
    const { url } = await served();
    const call = { name: 'clerk.sign', arguments: {} };
    const { json } = await modernRpc(url, 'tools/call', call, { capabilities });
    const { requestState } = (json as Paused).result;
    const [body = '', signature = ''] = requestState.split('.');
    const forged = Buffer.from(Buffer.from(body, 'base64url').toString().replace('clerk.sign', 'clerk.add'));
    const states = [`${forged.toString('base64url')}.${signature}`, `${body}.`, 'nothing'];
    for (const state of states) {
      const answer = await modernRpc(url, 'tools/call', { ...call, requestState: state }, { capabilities });
      expect(answer.json).toMatchObject({ error: { code: -32602 } });
    }
    const elsewhere = { name: 'clerk.add', arguments: { a: 1, b: 1 }, requestState };
    expect((await modernRpc(url, 'tools/call', elsewhere, { capabilities })).json).toMatchObject({
      error: { code: -32602 },
    });
  });

  it('is refused to a client that cannot answer', async () => {
    const { url } = await served();
    const answer = await modernRpc(url, 'tools/call', { name: 'clerk.sign', arguments: {} });
    expect(answer.status).toBe(400);
    expect(answer.json).toMatchObject({
      error: { code: -32021, data: { requiredCapabilities: { elicitation: {} } } },
    });
  });
});

describe('A call that is a task (C-17)', () => {
  it('is kept, asks, and ends with what its tool answers', async () => {
    const { url } = await served({ tasks: 'preferred' });
    const begun = await modernRpc(url, 'tools/call', { name: 'clerk.sign', arguments: {} }, { capabilities });
    const { taskId } = (begun.json as { result: { taskId: string } }).result;
    const get = async () => {
      const { json } = await modernRpc(url, 'tasks/get', { taskId }, { capabilities });
      return (json as { result: { status: string; result?: object } }).result;
    };
    while ((await get()).status === 'working');
    expect(await get()).toMatchObject({ status: 'input_required', inputRequests: { who: {} } });
    await modernRpc(url, 'tasks/update', { taskId, inputResponses: ada }, { capabilities });
    while ((await get()).status === 'working');
    expect(await get()).toMatchObject({
      status: 'completed',
      result: { structuredContent: { result: 'signed by Ada' } },
    });
    const unknown = await modernRpc(url, 'tasks/get', { taskId: 'none' }, { capabilities });
    expect(unknown.json).toMatchObject({ error: { code: -32602 } });
  });

  it('is cancelled in its agent', async () => {
    const { agents, aborted, begun } = agentsOfMcp({ waiting: 1 });
    const system = await startSystem({ agents, workers: 1, spareThread: false });
    opened.push(system);
    const { url } = await system.serve({ mcp: { tasks: 'preferred' } });
    const call = { name: 'waiter-0.wait', arguments: {} };
    const { json } = await modernRpc(url, 'tools/call', call, { capabilities });
    const { taskId } = (json as { result: { taskId: string } }).result;
    const status = async () => {
      const answer = await modernRpc(url, 'tasks/get', { taskId }, { capabilities });
      return (answer.json as { result: { status: string } }).result.status;
    };
    while (begun.count === 0) expect(await status()).toBe('working');
    await modernRpc(url, 'tasks/cancel', { taskId }, { capabilities });
    while ((await status()) === 'working');
    expect(await status()).toBe('cancelled');
    while (aborted.count === 0) await status();
  });
});
