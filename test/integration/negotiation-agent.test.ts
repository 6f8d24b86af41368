import { capability, considers, defineAgent, startSystem, takeOn, whenRefused } from 'orrery';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { negotiationAgent } from '../../actors/remote/negotiation-agent.ts';
import { NEGOTIATE } from '../../runtime/protocol/a2a-extension.ts';
import { systemSeams } from '../../runtime/protocol/system-seams.ts';
import { until } from '../fixtures/until.ts';

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
      if (ms >= 500) timers.push(ms);
      return seams.clock.setTimer(ms, fire);
    };
    const agent = negotiationAgent({ ...seams, clock: { ...seams.clock, setTimer } });
    await using system = await startSystem({ agents: [mars, agent], policies: { escalation: 'off' } });
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
    expect(Math.max(...asked)).toBeLessThanOrEqual(60_000);
    expect(asked).toHaveLength(1);
    expect(timers).toEqual([60_000]);
    expect(await say({ kind: 'renew', epoch: 1, leaseMs: longest.leaseMs })).toMatchObject({ kind: 'held' });
    expect(await say({ kind: 'renew', epoch: 1, leaseMs: 500 })).toMatchObject({ kind: 'held' });
    expect(timers).toEqual([60_000, 60_000, 500]);
  });

  it('asks several at once, others in the order in which they came, and renews meanwhile', async () => {
    const decide = new Map<string, () => void>();
    const begun: string[] = [];
    const team = ['m1', 'm2', 'm3'].map((id) =>
      defineAgent({ id, name: id, version: '1.0.0', description: 'Works', tier: 2 })
        .handle(work, () => null)
        .on(
          'task-proposal',
          considers(async ({ taskDescription }) => {
            begun.push(taskDescription);
            await new Promise<void>((resolve) => decide.set(taskDescription, resolve));
            return takeOn({ estimatedCompletionMs: 5 });
          }),
        ),
    );
    const agent = negotiationAgent(systemSeams(), { atOnce: 2 });
    await using system = await startSystem({ agents: [...team, agent], policies: { escalation: 'off' } });
    const say = (request: object): Promise<unknown> =>
      system.ask({ agent: 'orrery-negotiator', capability: negotiate }, request);
    const propose = (proposalId: string, agent: string): Promise<unknown> =>
      say({
        kind: 'propose',
        proposalId,
        agent,
        taskDescription: proposalId,
        requiredCapabilities: ['work'],
        estimatedComplexity: 'simple',
        deadlineMs: 30_000,
        leaseMs: 30_000,
      });
    const open = (proposalId: string) => ({ kind: 'open', proposalId });
    expect(await propose('p1', 'm1')).toEqual(open('p1'));
    expect(await propose('p2', 'm2')).toEqual(open('p2'));
    expect(await propose('p3', 'm3')).toEqual(open('p3'));
    await until('two are asked', () => begun.length === 2);
    expect(begun).toEqual(['p1', 'p2']);
    // Asked for again it asks nobody.
    expect(await propose('p1', 'm1')).toEqual(open('p1'));
    decide.get('p1')?.();
    await until(
      'it is decided',
      async () => ((await propose('p1', 'm1')) as { kind: string }).kind === 'accept',
    );
    await until('the third is asked', () => begun.length === 3);
    // While two are open.
    const renew = { kind: 'renew', proposalId: 'p1', epoch: 1, leaseMs: 30_000 };
    expect(await say(renew)).toEqual({ kind: 'held', proposalId: 'p1', epoch: 1 });
    // Withdrawn, it is nobody's, whatever is decided.
    expect(await say({ kind: 'release', proposalId: 'p2', reason: 'WITHDRAWN' })).toMatchObject({
      kind: 'released',
    });
    decide.get('p2')?.();
    decide.get('p3')?.();
    await until(
      'it is decided',
      async () => ((await propose('p3', 'm3')) as { kind: string }).kind === 'accept',
    );
    expect(await say({ ...renew, proposalId: 'p2' })).toMatchObject({ kind: 'reject', reason: 'NOT_HELD' });
    expect(begun).toEqual(['p1', 'p2', 'p3']);
  });

  it('gives back at once what it holds when it ends', async () => {
    const told: string[] = [];
    const mars = defineAgent({ id: 'mars', name: 'MARS', version: '1.0.0', description: 'Works', tier: 2 })
      .handle(work, () => null)
      .on(
        'task-proposal',
        considers(() => takeOn({ estimatedCompletionMs: 5 })),
      )
      .on(
        'task-reject',
        whenRefused(({ rejectionReason = '' }) => void told.push(rejectionReason)),
      );
    await using system = await startSystem({
      agents: [mars, negotiationAgent(systemSeams())],
      policies: { escalation: 'off' },
    });
    const proposal = {
      kind: 'propose',
      proposalId: 'p1',
      agent: 'mars',
      taskDescription: 'Work',
      requiredCapabilities: ['work'],
      estimatedComplexity: 'simple',
      deadlineMs: 30_000,
      leaseMs: 30_000,
    };
    const answer = await system.ask({ agent: 'orrery-negotiator', capability: negotiate }, proposal);
    expect(answer).toMatchObject({ kind: 'accept' });
    await system.stopAgent('orrery-negotiator');
    await until('it is told', () => told.length > 0);
    expect(told).toEqual(['AGENT_ENDED']);
  });
});
