import fc from 'fast-check';
import { startSystem } from 'orrery';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { askDoubles } from '../fixtures/agents/asker.ts';
import type { SpeakerProfile } from '../fixtures/agents/speaking.ts';
import { arbWhy, expectSame, startBoxedSpeakers } from '../fixtures/boxed-speakers.ts';
import { type Said, type SpeakerTeam, speakerModule } from '../fixtures/speaker-team.ts';
import { agent } from '../fixtures/until.ts';

let team: SpeakerTeam;

beforeAll(async () => {
  team = await startBoxedSpeakers();
});
afterAll(() => team.system.stop());

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
