import { capability, considers, defineAgent, startSystem, takeOn } from 'orrery';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { negotiationDesk } from '../../actors/remote/negotiation-desk.ts';
import { NEGOTIATE } from '../../runtime/protocol/a2a-extension.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';

const negotiate = capability({
  id: NEGOTIATE,
  description: 'Negotiates',
  input: z.unknown(),
  output: z.unknown(),
});
const work = capability({ id: 'work', description: 'Works', input: z.unknown(), output: z.unknown() });

describe('an agent that negotiates for other systems (N-7.1, N-7.2, F-02)', () => {
  it('waits for nobody, and lets nobody have a task unheard of, for longer than its bounds', async () => {
    const asked: number[] = [];
    const mars = defineAgent({ id: 'mars', name: 'MARS', version: '1.0.0', description: 'Works', tier: 2 })
      .handle(work, () => null)
      .on(
        'task-proposal',
        considers(({ deadlineMs }) => {
          asked.push(deadlineMs);
          return takeOn({ estimatedCompletionMs: 5 });
        }),
      );
    const seams = systemSeams();
    const timers: number[] = [];
    const setTimer: typeof seams.clock.setTimer = (ms, fire) => {
      timers.push(ms);
      return seams.clock.setTimer(ms, fire);
    };
    const desk = negotiationDesk({ ...seams, clock: { ...seams.clock, setTimer } });
    await using system = await startSystem({ agents: [mars, desk], policies: { escalation: 'off' } });
    const say = (request: object): Promise<unknown> =>
      system.ask({ agent: 'orrery-negotiator', capability: negotiate }, { proposalId: 'p1', ...request });
    const proposal = {
      kind: 'propose',
      agent: 'mars',
      taskDescription: 'Work',
      requiredCapabilities: ['work'],
      estimatedComplexity: 'simple',
    };
    const longest = { deadlineMs: 86_400_000, leaseMs: 86_400_000 };
    expect(await say({ ...proposal, ...longest })).toMatchObject({ kind: 'accept', epoch: 1 });
    // Less what has gone by since it was asked.
    expect(Math.max(...asked)).toBeLessThanOrEqual(10_000);
    expect(asked).toHaveLength(1);
    expect(timers).toEqual([60_000]);
    expect(await say({ kind: 'renew', epoch: 1, leaseMs: longest.leaseMs })).toMatchObject({ kind: 'held' });
    expect(await say({ kind: 'renew', epoch: 1, leaseMs: 500 })).toMatchObject({ kind: 'held' });
    expect(timers).toEqual([60_000, 60_000, 500]);
  });
});
