import { describe, expect, it, vi } from 'vitest';
import { type TeamExecutorDeps, teamExecutor } from '../../../../gateway/lango/server/team-executor.ts';
import type { Tool } from '../../../../runtime/protocol/tool.ts';
import type { ToolService } from '../../../../runtime/protocol/tool-service.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { asked } from '../../../fixtures/lango/bare-peer.ts';
import { langoHouse } from '../../../fixtures/lango/lango-house.ts';

const read: Tool = {
  name: 'mars.read',
  title: 'Read',
  description: 'Reads',
  inputSchema: { type: 'object' },
  outputSchema: {},
  agentId: 'mars',
  capability: 'read',
  annotations: {},
  streams: false,
  isContent: false,
};

describe('The tools of a team, for peers (L-18)', () => {
  const ask = async (
    call: ToolService['call'],
    {
      toolName = 'mars.read',
      tool = read,
      deps = {},
    }: { toolName?: string; tool?: Tool; deps?: Partial<TeamExecutorDeps> } = {},
  ) => {
    const clock = new FakeClock();
    // As the tools of a system, it finds a tool by its portable name too.
    const tools = { call, tool: () => tool };
    const house = langoHouse({ executor: teamExecutor(tools, { clock, ...deps }) });
    const payload = { toolName, params: { a: 1, input: 'x' } };
    const request = { type: 'tool_invoke', sessionToken: house.token, requestId: 'r', payload };
    const answer = await asked(house.streamOf().theirs, JSON.stringify(request));
    return { answer, clock, did: house.alice.did };
  };

  it('are called in the name of the peer, whose words are tainted', async () => {
    const call = vi.fn<ToolService['call']>(async () => ({ read: true }));
    const { answer, clock, did } = await ask(call);
    expect(answer).toContain('"status":"ok","result":{"read":true}');
    expect(call.mock.calls).toEqual([
      [
        'mars.read',
        { a: 1, input: 'x' },
        {
          as: { id: did, tier: 3, chargedAs: did, roles: [] },
          taint: [`lango:${did}`],
          deadlineAtMs: clock.now() + 30_000,
          signal: expect.any(AbortSignal),
        },
      ],
    ]);
  });

  it('are called in the sandbox that is granted, and untainted for who is trusted', async () => {
    const call = vi.fn<ToolService['call']>(async () => undefined);
    const { answer } = await ask(call, { deps: { trusts: () => true, sandboxOf: () => 'quarry' } });
    expect(answer).toContain('"result":{"result":null}');
    expect(call.mock.calls[0]?.[2]).toMatchObject({ as: { sandboxId: 'quarry' } });
    expect(call.mock.calls[0]?.[2]).not.toHaveProperty('taint');
  });

  it('get the field `input`, where they take no object', async () => {
    const call = vi.fn<ToolService['call']>(async () => 'y');
    const { answer } = await ask(call, { tool: { ...read, inputSchema: { type: 'string' } } });
    expect(answer).toContain('"result":{"result":"y"}');
    expect(call.mock.calls[0]?.[1]).toBe('x');
  });

  it.each([
    ['under another name, which the firewall has not judged', 'mars__read', {}],
    ['where they are not served', 'mars.read', { serves: () => false }],
  ])('are not there %s', async (_, toolName, deps) => {
    const call = vi.fn<ToolService['call']>();
    const { answer } = await ask(call, { toolName, deps });
    expect(answer).toContain(`"status":"error","error":"There is no tool \\"${toolName}\\""`);
    expect(call).not.toHaveBeenCalled();
  });
});
