import fc from 'fast-check';
import { type AgentTier, startSystem, type SystemEvent } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDoubles } from '../fixtures/agents/asker.ts';
import { OFFERS, type SpeakerProfile, speak } from '../fixtures/agents/speaking.ts';
import { decisionOf, type Said, SpeakerTeam, speakerModule, type ToSay } from '../fixtures/speaker-team.ts';
import { agent } from '../fixtures/until.ts';
import { arbA2AEnvelope, arbMessageType } from '../property/arbitraries/envelope.ts';
import { arbJson } from '../property/arbitraries/json.ts';
import { arbSandboxConfig } from '../property/arbitraries/sandbox-config.ts';
import { arbTaskProposal } from '../property/arbitraries/task-proposal.ts';
import { arbTier, TIERS } from '../property/arbitraries/tier-pair.ts';

const BOXES = [undefined, 'box-a', 'box-b'];
const WORDS = Object.keys(OFFERS);
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
const SANDBOX = { enforced: true, crossSandboxAllowList: ['t1'], allow: { 'box-a': ['t3-box-b'] } };

/** Every tier in every sandbox, unsandboxed twice; each offers some of the words. */
const PROFILES: readonly SpeakerProfile[] = [...BOXES, undefined].flatMap((sandboxId, set) =>
  TIERS.map((tier) => ({
    id: `t${tier}${sandboxId === undefined ? '' : `-${sandboxId}`}${set === 3 ? '-too' : ''}`,
    tier,
    sandboxId,
    offers: WORDS.filter((_, at) => (set + tier + at) % 3 !== 0),
  })),
);
const IDS = PROFILES.map(({ id }) => id);

const profileOf = (id: string): SpeakerProfile =>
  PROFILES.find((profile) => profile.id === id) as SpeakerProfile;

let team: SpeakerTeam;

beforeAll(async () => {
  team = await SpeakerTeam.start(PROFILES, { sandbox: SANDBOX });
});
afterAll(() => team.system.stop());

/** Puts the tier table and the sandbox lists of the beginning back in force. */
async function restore(): Promise<void> {
  await team.system.configure({ tiers: { rules: seedRules() }, sandbox: SANDBOX });
  team.alone.router.setTierConfig({ rules: seedRules() });
  team.alone.router.setSandboxConfig(SANDBOX);
}

const arbId = fc.constantFrom(...IDS);
const arbWhy = fc.option(fc.constantFrom('', 'needed', 'urgent'), { nil: undefined });

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

const expectSame = ({ running, alone }: Said): void => expect(decisionOf(running)).toEqual(decisionOf(alone));

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
      { numRuns: 150 },
    );
    await fc.assert(
      fc.asyncProperty(arbToSay(arbId), async (toSay) => {
        const said = await team.say(toSay);
        expectSame(said);
        if (!said.running.delivered) return;
        const { sender, type, payload } = toSay;
        expect(said.heard).toMatchObject({ sender, type, payload });
      }),
      { numRuns: 150 },
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
      { numRuns: 100 },
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
      { numRuns: 150 },
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
      { numRuns: 100 },
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
            ({ type, correlationId, targetAgentId: target, latencyMs }) =>
              type === 'routing-decision' &&
              correlationId === said.correlationId &&
              latencyMs !== undefined &&
              target === targetAgentId,
          );
          expect(decisions).toHaveLength(1);
          expect(decisions[0]).toMatchObject({ ...about, routingPath: path, success: delivered });
          expect(decisions[0]?.errorCode).toBe(errorCode);
          expect(decisions[0]?.latencyMs).toBeGreaterThanOrEqual(0);
          if (said.heard !== undefined) expect(decisions[0]?.envelopeId).toBe(said.heard.id);
          expectSecurity(said, events);
        }
      }),
      { numRuns: 100 },
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
      { numRuns: 100 },
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

describe('Answers between tiers (C-06)', () => {
  it('pass where the seed lets nobody write, once, to whom was asked by, as the standalone router decides', async () => {
    const asking = { sender: 't2', recipient: 't1', payload: null, justification: 'needed' } as const;
    const answering = { sender: 't1', recipient: 't2', payload: null } as const;
    for (const type of ['request', 'stream-start'] as const) {
      const asked = await team.say({ ...asking, type });
      expect(asked.running.delivered).toBe(true);
      const unasked = await team.say({ ...answering, type: 'response' });
      const toAnother = await team.say({
        ...answering,
        recipient: 't2-too',
        type: 'response',
        replyTo: asked,
      });
      const byAnother = await team.say({ ...answering, sender: 't1-too', type: 'response', replyTo: asked });
      const meanwhile = await team.say({ ...answering, type: 'notification', replyTo: asked });
      const answer = await team.say({ ...answering, type: 'response', replyTo: asked });
      const again = await team.say({ ...answering, type: 'response', replyTo: asked });
      for (const said of [unasked, toAnother, byAnother, again])
        expect(said.running.errorCode).toBe('TIER_VIOLATION');
      for (const said of [meanwhile, answer]) expect(said.running.delivered).toBe(true);
      for (const said of [asked, unasked, toAnother, byAnother, meanwhile, answer, again]) expectSame(said);
    }
    expect(await team.unexpected()).toEqual([]);
  });

  it('to a proposal become leave to work on it when that is accepted, until it is given back', async () => {
    const payload = {
      taskDescription: 'x',
      requiredCapabilities: [],
      estimatedComplexity: 'simple',
      deadlineMs: 600_000,
    };
    const proposed = await team.say({
      sender: 't2',
      recipient: 't1',
      type: 'task-proposal',
      payload,
      justification: 'needed',
    });
    const answer = { sender: 't1', recipient: 't2', payload: null, replyTo: proposed } as const;
    const early = await team.say({ ...answer, type: 'response' });
    const accepted = await team.say({ ...answer, type: 'task-accept' });
    const renewed = await team.say({ ...answer, type: 'task-accept' });
    const working = [];
    for (const type of ['notification', 'response', 'stream-data', 'response'] as const)
      working.push(await team.say({ ...answer, type }));
    const givenBack = await team.say({ ...answer, type: 'task-reject' });
    const late = await team.say({ ...answer, type: 'response' });
    expect([early, late].map(({ running }) => running.errorCode)).toEqual([
      'TIER_VIOLATION',
      'TIER_VIOLATION',
    ]);
    const all = [accepted, renewed, ...working, givenBack];
    expect(all.map(({ running }) => running.delivered)).toEqual(all.map(() => true));
    for (const said of [early, ...all, late]) expectSame(said);
    expect(await team.unexpected()).toEqual([]);
  });

  it('never leave a sandbox', async () => {
    const asked = await team.say({ sender: 't0', recipient: 't2-box-a', type: 'request', payload: null });
    expect(asked.running.delivered).toBe(true);
    const answer = await team.say({
      sender: 't2-box-a',
      recipient: 't0',
      type: 'response',
      payload: null,
      replyTo: asked,
    });
    expect(answer.running.errorCode).toBe('SANDBOX_VIOLATION');
    expectSame(answer);
  });

  it('pass or not in any order of requests, proposals and answers, as the standalone router decides', async () => {
    const ids = ['t1', 't2', 't3', 't1-box-a', 't3-box-b'];
    const arbStep = fc.record({
      from: fc.nat(),
      to: fc.nat(),
      type: fc.constantFrom(
        'request',
        'task-proposal',
        'task-accept',
        'task-reject',
        'response',
        'notification',
        'error' as const,
      ),
      about: fc.option(fc.nat(), { nil: undefined }),
      why: arbWhy,
    });
    await fc.assert(
      fc.asyncProperty(fc.array(arbStep, { minLength: 2, maxLength: 12 }), async (steps) => {
        const before: Said[] = [];
        for (const { from, to, type, about, why } of steps) {
          const replyTo =
            about === undefined || before.length === 0 ? undefined : before[about % before.length];
          // An answer mostly goes from whom was asked to whom asked.
          const back = replyTo !== undefined && from % 4 !== 0;
          const said = await team.say({
            sender: back ? replyTo.envelope.recipient : (ids[from % ids.length] as string),
            recipient: back ? replyTo.envelope.sender : (ids[to % ids.length] as string),
            type,
            payload: { deadlineMs: 600_000 },
            justification: why,
            replyTo,
          });
          expectSame(said);
          before.push(said);
        }
      }),
      { numRuns: 100 },
    );
    expect(await team.unexpected()).toEqual([]);
  });
});

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

describe('An ask of a sandboxed agent (C-06, C-34)', () => {
  const sandboxed: SpeakerProfile = { id: 'boxed', tier: 2, sandboxId: 'box-a', offers: [] };

  it.each([
    ['fails at once where the answer could not come back', {}, 'SANDBOX_VIOLATION'],
    ['is answered where the asker is on the list of the sandbox', { 'box-a': ['asker'] }, undefined],
    ['is not where it is on the list of another', { 'box-b': ['asker'] }, 'SANDBOX_VIOLATION'],
  ])('%s', async (_, allow, code) => {
    await using system = await startSystem({
      agents: [agent('asker'), { module: speakerModule(sandboxed) }],
      policies: { sandbox: { enforced: true, crossSandboxAllowList: [], allow } },
    });
    const [outcome] = await system.ask(askDoubles, { agent: 'boxed', times: 1 });
    expect(outcome?.code).toBe(code);
    if (code === 'SANDBOX_VIOLATION')
      expect(outcome?.message).toContain('boxed in sandbox "box-a" could not answer asker');
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
