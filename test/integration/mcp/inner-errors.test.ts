import { afterEach, describe, expect, it } from 'vitest';
import { z } from 'zod';
import { serve } from 'orrery/gateway';
import { startSystem, type Team } from 'orrery';
import { storeFailed } from '../../../runtime/protocol/errors.ts';
import { capability, defineAgent, refused } from 'orrery';
import { internalFault } from '../../../gateway/a2a/wire/faults.ts';
import { modernRpc } from '../../fixtures/mcp/raw-mcp.ts';
import { begunSession } from '../../fixtures/mcp/raw-session.ts';

const opened: Team[] = [];
afterEach(async () => {
  for (const system of opened.splice(0)) await system.stop({ drainMs: 0 });
});

const SECRET = '/var/secret/journal.db';
const broken = () => storeFailed(SECRET, 'write', 'no space is left');
const SENTENCE = internalFault().message;

async function served() {
  const none = z.object({});
  const tool = (id: string) => capability({ id, description: 'Fails', input: none, output: z.string() });
  const clerk = defineAgent({ id: 'clerk', name: 'CLERK', version: '1.0.0', description: 'Fails', tier: 3 })
    .handle(tool('break'), () => {
      throw broken();
    })
    .handle(tool('trip'), () => {
      throw new Error('the printer is on fire');
    })
    .resource({ uri: 'notes://broken', name: 'Broken' }, () => {
      throw broken();
    })
    .resource({ uri: 'notes://refused', name: 'Refused' }, () => {
      throw refused('not today');
    })
    .prompt({ name: 'broken', arguments: [{ name: 'who' }] }, () => {
      throw broken();
    });
  const system = await startSystem({ agents: [clerk], workers: 1, spareThread: false });
  opened.push(system);
  const faults: unknown[] = [];
  const { url } = await serve(system, {
    mcp: { tasks: 'asked' },
    onFault: ({ error }) => {
      faults.push((error as { message: string }).message);
    },
  });
  return { url, faults };
}

type Told = { result?: { content: { text: string }[] }; error?: object };
const toldBy = ({ result }: Told): unknown => JSON.parse(result?.content[0]?.text ?? 'null');

describe('An error inside the system (C-26)', () => {
  it('is told to whoever calls a tool by its code alone, and to whoever runs it in full', async () => {
    const { url, faults } = await served();
    const { json } = await modernRpc(url, 'tools/call', { name: 'clerk.break', arguments: {} });
    const told = {
      code: 'STORE_FAILED',
      message: SENTENCE,
      agentId: 'clerk',
      id: expect.any(String) as string,
    };
    expect(toldBy(json as Told)).toEqual(told);
    const session = await begunSession(url);
    const again = await session.rpc('tools/call', { name: 'clerk.break', arguments: {} });
    expect(toldBy(again as Told)).toEqual(told);
    expect(faults).toEqual([expect.stringContaining(SECRET), expect.stringContaining(SECRET)]);
  });

  it('is not what an agent says itself: a refusal is told as it is, of what was thrown there is the code and an id (N-5.4)', async () => {
    const { url, faults } = await served();
    const { json } = await modernRpc(url, 'tools/call', { name: 'clerk.trip', arguments: {} });
    expect(toldBy(json as Told)).toEqual({
      code: 'HANDLER_FAILED',
      message: 'The agent failed at this',
      agentId: 'clerk',
      id: expect.any(String) as string,
    });
    const { json: refusal } = await modernRpc(url, 'resources/read', { uri: 'notes://refused' });
    expect(refusal).toMatchObject({
      error: { code: -32082, message: expect.stringContaining('not today') as string },
    });
    expect(faults).toEqual([expect.stringContaining('the printer is on fire')]);
  });

  it('is nothing but that to whoever reads a resource or gets a prompt', async () => {
    const { url, faults } = await served();
    const read = await modernRpc(url, 'resources/read', { uri: 'notes://broken' });
    expect((read.json as Told).error).toEqual({ code: -32603, message: SENTENCE });
    const got = await modernRpc(url, 'prompts/get', { name: 'clerk.broken', arguments: {} });
    expect((got.json as Told).error).toEqual({ code: -32603, message: SENTENCE });
    const session = await begunSession(url);
    expect((await session.rpc('resources/read', { uri: 'notes://broken' })).error).toEqual({
      code: -32603,
      message: SENTENCE,
    });
    expect(faults).toHaveLength(3);
    expect(new Set(faults)).toEqual(new Set([expect.stringContaining(SECRET)]));
  });

  it('is neither the outcome of a task nor what stands beside it', async () => {
    const { url } = await served();
    const session = await begunSession(url);
    const { result } = await session.rpc('tools/call', { name: 'clerk.break', arguments: {}, task: {} });
    const { taskId } = (result as { task: { taskId: string } }).task;
    const ended = await session.rpc('tasks/result', { taskId });
    const stands = await session.rpc('tasks/get', { taskId });
    expect(ended.error).toMatchObject({ code: -32603, message: SENTENCE });
    expect(stands.result).toMatchObject({ status: 'failed', statusMessage: SENTENCE });
    expect(JSON.stringify([ended, stands])).not.toContain(SECRET);
  });
});
