import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import { capability, defineAgent, startSystem } from 'orrery';
import { apiKeys, newApiKey } from 'orrery/admission';
import { type ServeOptions, serveStdio, type StdioOptions } from 'orrery/gateway';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
import { z } from 'zod';
import { danger, Doing, run } from '../fixtures/agents/graph.ts';

const service = newApiKey({ kind: 'service' });
const peer = newApiKey({ kind: 'agent' });
const keys = apiKeys([service.record, peer.record], { clock: systemClock });

/** What the agent was given, and what its caller was told. */
async function call(options: ServeOptions, tool: string, key?: string) {
  const given: (readonly string[])[] = [];
  const note = (_: unknown, ctx: ConstructorParameters<typeof Doing>[0]) => {
    given.push(ctx.taint ?? []);
    return new Doing(ctx).seen;
  };
  const mars = defineAgent({ id: 'mars', name: 'MARS', version: '1.0.0', description: '', tier: 2 })
    .handle(run, note)
    .handle(danger, note);
  const system = await startSystem({ agents: [mars], workers: 1, spareThread: false });
  const { url } = await system.serve({ entry: 'mars', ...options });
  const parts = [{ data: { tool, arguments: { steps: [], approve: true } } }];
  const response = await fetch(`${url}/mars/rpc`, {
    method: 'POST',
    headers: {
      'content-type': 'application/json',
      'a2a-version': '1.0',
      ...(key === undefined ? {} : { 'x-api-key': key }),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: 1,
      method: 'SendMessage',
      params: { message: { messageId: 'm1', role: 'ROLE_USER', parts } },
    }),
  });
  const said = await response.text();
  await system.stop({ drainMs: 0 });
  return { given, said };
}

describe('what callers say through a gateway (F-09)', () => {
  it('is tainted by who they are, unless they are users or services that have proved it', async () => {
    expect((await call({}, run.id)).given).toEqual([['a2a:anonymous']]);
    const known = { authenticators: [keys] };
    expect((await call(known, run.id, service.key)).given).toEqual([[]]);
    expect((await call(known, run.id, peer.key)).given).toEqual([[`a2a:key:${peer.record.id}`]]);
  });

  it('is tainted as the embedder decides', async () => {
    expect((await call({ trusts: () => true }, run.id)).given).toEqual([[]]);
    const known = { authenticators: [keys], trusts: () => false };
    expect((await call(known, run.id, service.key)).given).toEqual([[`a2a:key:${service.record.id}`]]);
  });

  it('reaches nothing privileged by their own word, and does by that of an approver', async () => {
    const refused = await call({}, danger.id);
    expect(refused.given).toEqual([]);
    expect(refused.said).toContain('TASK_STATE_FAILED');
    expect(refused.said).toMatch(/privileged.*a2a:anonymous/);
    const approved = await call({ approver: () => true }, danger.id);
    expect(approved.given).toEqual([['a2a:anonymous']]);
    expect(approved.said).toContain('TASK_STATE_COMPLETED');
  });
});

const silent = capability({
  id: 'words.say',
  description: 'Says',
  input: z.object({}),
  output: z.array(z.string()),
});
const tame = capability({ ...silent, id: 'words.whisper', destructive: false, openWorld: false });
const act = capability({ ...silent, id: 'words.shout', privileged: true });

interface Answer {
  readonly id?: number;
  readonly result?: {
    readonly structuredContent?: unknown;
    readonly isError?: boolean;
    readonly tools?: unknown;
  };
}

/** What a program is answered over a pair of streams. */
async function overStdio(options: StdioOptions, requests: readonly { method: string; params: object }[]) {
  const mars = defineAgent({ id: 'mars', name: 'MARS', version: '1.0.0', description: '', tier: 2 })
    .handle(silent, (_, ctx) => [...(ctx.taint ?? [])])
    .handle(tame, () => [])
    .handle(act, () => ['done']);
  await using system = await startSystem({ agents: [mars], workers: 1, spareThread: false });
  const [input, output] = [new PassThrough(), new PassThrough()];
  await using _ = await serveStdio(system, { input, output, ...options });
  const answers = new Map<number, Answer['result']>();
  const say = (message: object): void =>
    void input.write(`${JSON.stringify({ jsonrpc: '2.0', ...message })}\n`);
  const clientInfo = { name: 'a program', version: '1' };
  const opening = { protocolVersion: '2025-11-25', capabilities: {}, clientInfo };
  say({ id: 0, method: 'initialize', params: opening });
  for await (const line of createInterface({ input: output })) {
    const { id, result } = JSON.parse(line) as Answer;
    if (id === undefined) continue;
    answers.set(id, result);
    if (id === 0) {
      say({ method: 'notifications/initialized' });
      for (const [at, request] of requests.entries()) say({ id: at + 1, ...request });
    }
    if (answers.size > requests.length) break;
  }
  return requests.map((_request, at) => answers.get(at + 1));
}
const calls = (name: string) => ({ method: 'tools/call', params: { name: `mars.${name}`, arguments: {} } });

describe('what a program says over standard input (F-09)', () => {
  it('is as foreign as what comes over HTTP, and gets nothing privileged done, unless it is trusted', async () => {
    const [said, done] = await overStdio({}, [calls(silent.id), calls(act.id)]);
    expect(said?.structuredContent).toEqual({ result: ['mcp:stdio'] });
    expect(done?.isError).toBe(true);
    expect(JSON.stringify(done)).toMatch(/privileged.*mcp:stdio/);
    const trusting = await overStdio({ trusts: ({ id }) => id === 'stdio' }, [
      calls(silent.id),
      calls(act.id),
    ]);
    expect(trusting.map((one) => one?.structuredContent)).toEqual([{ result: [] }, { result: ['done'] }]);
  });

  it('is told of a tool that says nothing of itself what MCP takes for granted', async () => {
    const [list] = await overStdio({}, [{ method: 'tools/list', params: {} }]);
    const { tools } = list as { tools: { name: string; annotations: object }[] };
    const said = new Map(tools.map(({ name, annotations }) => [name, annotations]));
    expect(said.get('mars.words.say')).toMatchObject({ destructiveHint: true, openWorldHint: true });
    expect(said.get('mars.words.whisper')).toMatchObject({ destructiveHint: false, openWorldHint: false });
  });
});
