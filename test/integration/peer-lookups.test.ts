import {
  defineAgent,
  type FoundPeer,
  type RemoteQuery,
  startSystem,
  type System,
  type TierRule,
} from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { A2ALogEvent } from '../../runtime/protocol/log-event.ts';
import { askDoubles } from '../fixtures/agents/asker.ts';
import { double } from '../fixtures/agents/answers.ts';
import { agent } from '../fixtures/until.ts';

const there = (id: string) =>
  defineAgent({
    id,
    name: 'FAR',
    version: '1.0.0',
    description: 'Lives on another node',
    tier: 0,
  }).handle(double, ({ n }) => n * 2);
const found: Readonly<Record<string, FoundPeer>> = {
  far: { agent: there('far'), grant: { nodeId: 'b', grantedTier: 2 } },
  farther: { agent: there('farther'), grant: { nodeId: 'b', grantedTier: 3 } },
};

/** The types of events that the log of the first seed has, too. */
const SEED_EVENTS: readonly string[] = A2ALogEvent.shape.type.options;

const asked: RemoteQuery[] = [];
let system: System;

beforeAll(async () => {
  system = await startSystem({
    agents: [agent('asker'), agent('asker', { isolation: 'process', instances: ['apart'] } as const)],
    policies: {
      sandbox: { enforced: true, crossSandboxAllowList: [], allow: { 'b/': ['asker', 'apart'] } },
    },
    peers: {
      // Nobody is looked up again, however long the asks take.
      missMs: 600_000,
      lookup: async (query) => {
        asked.push(query);
        const peer = found[query.id];
        return peer === undefined ? [] : [peer];
      },
    },
  });
});
afterAll(() => system.stop());

describe('A system of threads and processes that asks other nodes (N-4.4, N-V02)', () => {
  it('finds an agent there once for all who ask for it at the same time', async () => {
    const by = (agentId: string, whom: string) =>
      system.ask({ agent: agentId, capability: askDoubles }, { agent: whom, times: 3 });
    const [inThread, inProcess, here] = await Promise.all([
      by('asker', 'far'),
      by('apart', 'far'),
      system.ask({ agent: 'far', capability: double }, { n: 4 }),
    ]);
    const doubles = [{ value: 0 }, { value: 2 }, { value: 4 }];
    expect({ inThread, inProcess, here }).toEqual({ inThread: doubles, inProcess: doubles, here: 8 });
    const missing = [...(await by('asker', 'nowhere')), ...(await by('apart', 'nowhere'))];
    expect(new Set(missing.map(({ code }) => code))).toEqual(new Set(['AGENT_NOT_FOUND']));
    expect(asked).toEqual([
      { kind: 'agent', id: 'far' },
      { kind: 'agent', id: 'nowhere' },
    ]);
    expect(await system.conservation()).toMatchObject({ inFlight: 0, holds: true });
  });

  it('writes down as remote what went there, crossed to there, or was refused on its way (N-D25)', async () => {
    const talk = (correlationId: string) => ({ correlationId });
    const decisions = async (correlationId: string) => {
      const events = (await system.recentEvents(10_000)).filter(
        (event) => event.correlationId === correlationId,
      );
      for (const event of events)
        if (SEED_EVENTS.includes(event.type))
          expect(A2ALogEvent.parse(event)).toMatchObject({ type: event.type });
      return events
        .filter(({ type }) => type === 'routing-decision')
        .map(({ routingPath, targetAgentId, success, security = false }) => ({
          routingPath,
          targetAgentId,
          success,
          security,
        }));
    };
    const local = { routingPath: 'local', targetAgentId: 'asker', success: true, security: false };
    const remote = { ...local, routingPath: 'remote', targetAgentId: 'far' };
    await system.ask({ agent: 'far', capability: double }, { n: 1 }, talk('from-here'));
    expect(await decisions('from-here')).toEqual([remote]);
    const asks = (agentId: string, correlationId: string) =>
      system.ask(
        { agent: 'asker', capability: askDoubles },
        { agent: agentId, times: 1 },
        talk(correlationId),
      );
    await asks('far', 'from-a-thread');
    expect(await decisions('from-a-thread')).toEqual(expect.arrayContaining([local, remote]));
    const audited = { ...remote, targetAgentId: 'farther', security: true };
    expect(await asks('farther', 'refused')).toMatchObject([{ code: 'TIER_VIOLATION' }]);
    expect(await decisions('refused')).toContainEqual({ ...audited, success: false });
    const rule: TierRule = {
      sourceTier: 2,
      allowedTargetTiers: [2, 3],
      requiresEscalationJustification: false,
    };
    await system.configure({ tiers: { rules: [rule] } });
    expect(await asks('farther', 'crossing')).toEqual([{ value: 0 }]);
    expect(await decisions('crossing')).toContainEqual(audited);
  });
});
