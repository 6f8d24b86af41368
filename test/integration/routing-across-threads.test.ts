import fc from 'fast-check';
import type { AgentTier, SystemEvent } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { type SpeakerProfile, speak } from '../fixtures/agents/speaking.ts';
import {
  arbWhy,
  expectSame,
  PROFILES,
  SANDBOX,
  startBoxedSpeakers,
  WORDS,
} from '../fixtures/boxed-speakers.ts';
import { times } from '../fixtures/effort.ts';
import { decisionOf, type Said, type SpeakerTeam, type ToSay } from '../fixtures/speaker-team.ts';
import { arbA2AEnvelope, arbMessageType } from '../property/arbitraries/envelope.ts';
import { arbJson } from '../property/arbitraries/json.ts';
import { arbSandboxConfig } from '../property/arbitraries/sandbox-config.ts';
import { arbTaskProposal } from '../property/arbitraries/task-proposal.ts';
import { arbTier, TIERS } from '../property/arbitraries/tier-pair.ts';

/** The same properties run a hundred times and more without threads (`test/property`). */
const [RUNS, MANY_RUNS] = [times(40, 100), times(60, 150)];

const SEED_REACH: Record<AgentTier, readonly AgentTier[]> = {
  0: [0, 1, 2, 3],
  1: [0, 1],
  2: [0, 1, 2],
  3: [0, 1, 2, 3],
};
const seedRules = () =>
  TIERS.map((sourceTier) => ({
    sourceTier,
    allowedTargetTiers: [...SEED_REACH[sourceTier]],
    requiresEscalationJustification: sourceTier >= 2,
  }));
const IDS = PROFILES.map(({ id }) => id);

const profileOf = (id: string): SpeakerProfile =>
  PROFILES.find((profile) => profile.id === id) as SpeakerProfile;

let team: SpeakerTeam;

beforeAll(async () => {
  team = await startBoxedSpeakers();
});
afterAll(() => team.system.stop());

/** Puts the tier table and the sandbox lists of the beginning back in force. */
async function restore(): Promise<void> {
  await team.system.configure({ tiers: { rules: seedRules() }, sandbox: SANDBOX });
  team.alone.router.setTierConfig({ rules: seedRules() });
  team.alone.router.setSandboxConfig(SANDBOX);
}

const arbId = fc.constantFrom(...IDS);

/** Anything an agent may say to anybody, a proposal with a payload that fits. */
const arbToSay = (recipient: fc.Arbitrary<string>): fc.Arbitrary<ToSay> =>
  fc
    .record({
      sender: arbId,
      recipient,
      type: arbMessageType(),
      payload: arbJson(),
      justification: arbWhy,
      proposal: arbTaskProposal(arbWhy),
    })
    .map(({ proposal, ...said }) =>
      // The grant for its answer must not run out before the test is through.
      said.type === 'task-proposal' ? { ...said, payload: { ...proposal, deadlineMs: 600_000 } } : said,
    );

async function eventsOf(...said: readonly Said[]): Promise<SystemEvent[]> {
  const ids = new Set(said.map(({ correlationId }) => correlationId));
  const events = await team.system.recentEvents(1_000_000);
  return events.filter(({ correlationId }) => correlationId !== undefined && ids.has(correlationId));
}

describe('Routing in a running system (N-P13, N-P14, N-P15, N-P16, N-P17, N-P29, N-4.1, N-4.2, N-4.3, N-4.5, N-4.6)', () => {
  it('has its agents in both workers', async () => {
    const places = (await team.system.roster()).map(({ place }) => place);
    expect(places.filter((place) => place === 'worker-1')).toHaveLength(8);
    expect(places.filter((place) => place === 'worker-2')).toHaveLength(8);
  });

  it('Feature: a2a-mcp-protocols, Property 13: Direct message routing (across threads)', async () => {
    const arbPlain = arbA2AEnvelope({ sender: fc.constantFrom('t0', 't0-too'), recipient: arbId });
    // What the envelope claims of its sender is replaced; what a newer peer adds is kept.
    const arbClaims = fc.record({
      tier: arbTier(),
      sandboxId: fc.constant('elsewhere'),
      fromANewerPeer: arbJson(),
    });
    const arbEnvelope = fc
      .tuple(arbPlain, arbClaims)
      .map(([envelope, metadata]) => ({ ...envelope, metadata }));
    await fc.assert(
      fc.asyncProperty(
        fc.uniqueArray(arbEnvelope, { minLength: 1, maxLength: 8, selector: ({ id }) => id }),
        async (envelopes) => {
          // All at once: they cross in one batch where they go to one thread.
          const all = envelopes.map(async (envelope) => {
            const said = await team.send(envelope);
            expectSame(said);
            expect(said.running).toMatchObject({
              delivered: true,
              path: 'local',
              targetAgentId: envelope.recipient,
            });
            const { recipient: _recipient, schemaVersion: _version, ...told } = envelope;
            const { fromANewerPeer } = envelope.metadata;
            const metadata = { tier: 0, fromANewerPeer };
            expect(said.heard).toEqual({ ...told, correlationId: said.correlationId, metadata });
          });
          await Promise.all(all);
        },
      ),
      { numRuns: MANY_RUNS },
    );
    await fc.assert(
      fc.asyncProperty(arbToSay(arbId), async (toSay) => {
        const said = await team.say(toSay);
        expectSame(said);
        if (!said.running.delivered) return;
        const { sender, type, payload } = toSay;
        expect(said.heard).toMatchObject({ sender, type, payload });
      }),
      { numRuns: MANY_RUNS },
    );
    expect(await team.unexpected()).toEqual([]);
  });

  it('Feature: a2a-mcp-protocols, Property 14: Broadcast delivery (across threads)', async () => {
    await fc.assert(
      fc.asyncProperty(arbToSay(fc.constant('*')), async (toSay) => {
        const said = await team.say(toSay);
        expectSame(said);
        const { tier, sandboxId } = profileOf(toSay.sender);
        if (tier === 0 && sandboxId === undefined) expect(said.running.recipients).toEqual(IDS);
      }),
      { numRuns: RUNS },
    );
    expect(await team.unexpected()).toEqual([]);
  });

  it('Feature: a2a-mcp-protocols, Property 15: Capability-based routing (across threads)', async () => {
    await fc.assert(
      fc.asyncProperty(arbToSay(fc.constantFrom(...WORDS)), async (toSay) => {
        const said = await team.say(toSay);
        expectSame(said);
        if (said.running.delivered)
          expect(profileOf(said.running.targetAgentId).offers).toContain(toSay.recipient);
      }),
      { numRuns: MANY_RUNS },
    );
    expect(await team.unexpected()).toEqual([]);
  });

  it('Feature: a2a-mcp-protocols, Property 16: Tier-based routing enforcement (across threads)', async () => {
    const arbRules = fc.tuple(...TIERS.map(() => fc.subarray([...TIERS]))).map((targets) =>
      TIERS.map((sourceTier, index) => ({
        sourceTier,
        allowedTargetTiers: targets[index] ?? [],
        requiresEscalationJustification: sourceTier >= 2,
      })),
    );
    const open = IDS.filter((id) => profileOf(id).sandboxId === undefined);
    const arbSays = fc.array(arbToSay(fc.constantFrom(...open)), { minLength: 1, maxLength: 6 });
    await fc.assert(
      fc.asyncProperty(arbRules, arbSays, async (rules, says) => {
        await team.system.configure({ tiers: { rules } });
        team.alone.router.setTierConfig({ rules });
        for (const toSay of says) {
          const said = await team.say({
            ...toSay,
            sender: open[IDS.indexOf(toSay.sender) % open.length] as string,
          });
          expectSame(said);
          const [source, target] = [profileOf(said.envelope.sender).tier, profileOf(toSay.recipient).tier];
          const mayReach = rules[source]?.allowedTargetTiers.includes(target) === true;
          const why =
            toSay.justification ??
            (said.envelope.payload as { escalationJustification?: string } | null)?.escalationJustification;
          const isJustified =
            toSay.justification === undefined && toSay.type !== 'task-proposal' ? false : (why ?? '') !== '';
          const mayPass = mayReach && (source < 2 || target >= 2 || isJustified);
          expect(said.running.delivered).toBe(mayPass);
          if (!mayPass)
            expect(said.running.errorCode).toBe(mayReach ? 'ESCALATION_REQUIRED' : 'TIER_VIOLATION');
        }
      }),
      { numRuns: RUNS },
    );
    await restore();
    expect(await team.unexpected()).toEqual([]);
  });

  it('Feature: a2a-mcp-protocols, Property 17: Routing event emission (across threads)', async () => {
    const arbAnywhere = fc.oneof(arbId, fc.constantFrom('*', 'nobody', ...WORDS));
    await fc.assert(
      fc.asyncProperty(fc.array(arbToSay(arbAnywhere), { minLength: 1, maxLength: 6 }), async (says) => {
        const all: Said[] = [];
        for (const toSay of says) all.push(await team.say(toSay));
        const events = await eventsOf(...all);
        for (const said of all) {
          expectSame(said);
          const { sender, recipient } = said.envelope;
          const { delivered, path, targetAgentId, errorCode } = said.running;
          const about = { correlationId: said.correlationId, sender, recipient };
          const decisions = events.filter(
            ({ type, correlationId, targetAgentId: target, security, success }) =>
              type === 'routing-decision' &&
              correlationId === said.correlationId &&
              // What was let from one tier to another is another event.
              !(security === true && success === true) &&
              target === targetAgentId,
          );
          expect(decisions).toHaveLength(1);
          expect(decisions[0]).toMatchObject({ ...about, routingPath: path, success: delivered });
          expect(decisions[0]?.errorCode).toBe(errorCode);
          expect(decisions[0]?.latencyMs ?? 0).toBeGreaterThanOrEqual(0);
          if (said.heard !== undefined) expect(decisions[0]?.envelopeId).toBe(said.heard.id);
          expectSecurity(said, events);
        }
      }),
      { numRuns: RUNS },
    );
    expect(await team.unexpected()).toEqual([]);
  });

  it('Feature: a2a-mcp-protocols, Property 29: Sandbox routing enforcement (across threads)', async () => {
    await fc.assert(
      fc.asyncProperty(
        arbSandboxConfig(IDS),
        fc.array(arbToSay(fc.oneof(arbId, fc.constantFrom('*', ...WORDS))), { minLength: 1, maxLength: 5 }),
        async (sandbox, says) => {
          await team.system.configure({ sandbox });
          team.alone.router.setSandboxConfig(sandbox);
          for (const toSay of says) {
            const said = await team.say(toSay);
            expectSame(said);
            if (said.running.errorCode !== 'SANDBOX_VIOLATION') continue;
            const [event] = (await eventsOf(said)).filter(({ security }) => security === true);
            expect(event).toMatchObject({
              errorCode: 'SANDBOX_VIOLATION',
              targetAgentId: said.running.targetAgentId,
            });
          }
        },
      ),
      { numRuns: RUNS },
    );
    await restore();
    expect(await team.unexpected()).toEqual([]);
  });
});

/** Each refusal by a rule, and each crossing from tier to tier, is one security event (N-10.2, N-E03, N-E04). */
function expectSecurity({ running, envelope, correlationId }: Said, events: readonly SystemEvent[]): void {
  const noted = events.filter((event) => event.security === true && event.correlationId === correlationId);
  const source = profileOf(envelope.sender).tier;
  const refused =
    running.refused ??
    (isRule(running.errorCode) ? [{ agentId: running.targetAgentId, code: running.errorCode }] : []);
  const reached = running.recipients ?? (running.delivered ? [running.targetAgentId] : []);
  const expected = [
    ...refused.map(({ agentId, code }) => `${agentId} ${code} ${source}-${profileOf(agentId).tier}`),
    ...reached
      .filter((id) => profileOf(id).tier !== source)
      .map((id) => `${id} undefined ${source}-${profileOf(id).tier}`),
  ];
  const seen = noted.map(
    ({ targetAgentId, errorCode, sourceTier, targetTier }) =>
      `${targetAgentId} ${errorCode} ${sourceTier}-${targetTier}`,
  );
  expect(seen.sort()).toEqual(expected.sort());
}

const isRule = (code: string | undefined): boolean => code !== undefined && !code.endsWith('_NOT_FOUND');

describe('Broadcasts (C-27)', () => {
  it('of tier 0 skip the tier rule and never the sandbox', async () => {
    const said = await team.say({ sender: 't0-box-b', recipient: '*', type: 'notification', payload: null });
    expectSame(said);
    expect(said.running.recipients).toEqual(IDS.filter((id) => id.includes('box-b') || id === 't1'));
    expect(new Set(said.running.refused?.map(({ code }) => code))).toEqual(new Set(['SANDBOX_VIOLATION']));
  });

  it('of other tiers reach who may be reached, themselves included, and name the rest', async () => {
    const said = await team.say({ sender: 't1', recipient: '*', type: 'notification', payload: null });
    expectSame(said);
    expect(said.running.recipients).toEqual(IDS.filter((id) => profileOf(id).tier <= 1));
    expect(said.running.refused?.every(({ code }) => code === 'TIER_VIOLATION')).toBe(true);
    expect(said.running.delivered).toBe(true);
  });
});

describe('Who is no agent (C-31)', () => {
  it('is bound by no tier and no sandbox: the host reaches everybody, and everybody answers it', async () => {
    for (const recipient of IDS) {
      const speech = {
        recipient: 'nobody',
        type: 'notification' as const,
        payload: 1,
        correlationId: 'to nobody',
      };
      const result = await team.system.ask({ agent: recipient, capability: speak }, speech);
      expect(result.errorCode).toBe('AGENT_NOT_FOUND');
      expect(team.system.tell(recipient, 'from the host', { correlationId: 'from-host' }).delivered).toBe(
        true,
      );
    }
    const { recipients, refused } = team.system.tell('*', 'to all', { correlationId: 'from-host-to-all' });
    expect([recipients, refused]).toEqual([IDS, []]);
  });

  it('is not listed, and cannot be written to', async () => {
    expect((await team.system.roster()).map(({ id }) => id)).toEqual(IDS);
    const said = await team.say({ sender: 't0', recipient: 'system/host', type: 'notification', payload: 1 });
    expect(said.running.errorCode).toBe('AGENT_NOT_FOUND');
    expectSame(said);
  });
});

describe('What is no envelope, or from nobody', () => {
  const good = {
    id: 'x',
    schemaVersion: 1,
    sender: 't0',
    recipient: 't3',
    type: 'notification' as const,
    timestamp: 1,
    payload: null,
  };

  it.each([
    ['of another schema version', { ...good, schemaVersion: 7 }, 'SCHEMA_VERSION_MISMATCH'],
    ['of an unknown type', { ...good, type: 'shout' as never }, 'INVALID_ENVELOPE'],
    ['without a recipient', { ...good, recipient: '' }, 'INVALID_ENVELOPE'],
    ['of an unknown sender', { ...good, sender: 'nobody' }, 'AGENT_NOT_FOUND'],
  ])('is refused in the result, as by the standalone router: %s', async (_, envelope, code) => {
    const [running, alone] = [await team.system.send(envelope), await team.alone.router.send(envelope)];
    expect(running).toMatchObject({ delivered: false, errorCode: code });
    expect(decisionOf(running)).toEqual(decisionOf(alone));
  });
});

describe('Replacing the rules of a running system', () => {
  it('is in force in every thread when it resolves, and a bad one changes nothing', async () => {
    const rules = TIERS.map((sourceTier) => ({
      sourceTier,
      allowedTargetTiers: [],
      requiresEscalationJustification: false,
    }));
    await team.system.configure({ tiers: { rules } });
    team.alone.router.setTierConfig({ rules });
    for (const sender of ['t0', 't0-too', 't3']) {
      const { running } = await team.say({
        sender,
        recipient: 't0',
        type: 'notification',
        payload: null,
        justification: 'x',
      });
      expect(running.errorCode).toBe('TIER_VIOLATION');
    }
    await expect(team.system.configure({ tiers: { rules: 'none' as never } })).rejects.toMatchObject({
      code: 'INVALID_OPTIONS',
      message: expect.stringContaining('config.tiers.rules is "none"') as string,
    });
    await restore();
    const { running } = await team.say({
      sender: 't0',
      recipient: 't3',
      type: 'notification',
      payload: null,
    });
    expect(running.delivered).toBe(true);
  });
});
