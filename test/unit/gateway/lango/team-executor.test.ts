import { describe, expect, it, vi } from 'vitest';
import { teamExecutor } from '../../../../gateway/lango/server/team-executor.ts';
import { OrreryError } from '../../../../runtime/protocol/errors.ts';
import type { ToolService } from '../../../../runtime/protocol/tool-service.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { asked } from '../../../fixtures/lango/bare-peer.ts';
import { langoHouse } from '../../../fixtures/lango/lango-house.ts';

describe('The tools of a team, for peers (L-18)', () => {
  const ask = async (call: ToolService['call']) => {
    const clock = new FakeClock();
    const house = langoHouse({ executor: teamExecutor({ call }, { clock }) });
    const payload = { toolName: 'mars.read', params: { a: 1 } };
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
        { a: 1 },
        {
          as: { id: did, tier: 3, chargedAs: did },
          taint: [`a2a:${did}`],
          deadlineAtMs: clock.now() + 30_000,
          signal: expect.any(AbortSignal),
        },
      ],
    ]);
  });

  it('are not there, as the team says', async () => {
    const { answer } = await ask(() =>
      Promise.reject(new OrreryError('TOOL_NOT_FOUND', 'No tool "mars.read"')),
    );
    expect(answer).toContain('"status":"error","error":"No tool \\"mars.read\\""');
  });
});
