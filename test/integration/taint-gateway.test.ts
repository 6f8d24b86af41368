import { defineAgent, startSystem } from 'orrery';
import { apiKeys, newApiKey } from 'orrery/admission';
import type { ServeOptions } from 'orrery/gateway';
import { describe, expect, it } from 'vitest';
import { systemClock } from '../../runtime/protocol/system-seams.ts';
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
  const mars = defineAgent({ id: 'mars', name: 'MARS', version: '1', description: '', tier: 2 })
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
  }, 60_000);

  it('is tainted as the embedder decides', async () => {
    expect((await call({ trusts: () => true }, run.id)).given).toEqual([[]]);
    const known = { authenticators: [keys], trusts: () => false };
    expect((await call(known, run.id, service.key)).given).toEqual([[`a2a:key:${service.record.id}`]]);
  }, 60_000);

  it('reaches nothing privileged by their own word, and does by that of an approver', async () => {
    const refused = await call({}, danger.id);
    expect(refused.given).toEqual([]);
    expect(refused.said).toContain('TASK_STATE_FAILED');
    expect(refused.said).toMatch(/privileged.*a2a:anonymous/);
    const approved = await call({ approver: () => true }, danger.id);
    expect(approved.given).toEqual([['a2a:anonymous']]);
    expect(approved.said).toContain('TASK_STATE_COMPLETED');
  }, 60_000);
});
