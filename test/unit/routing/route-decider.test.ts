import { describe, expect, it } from 'vitest';
import { defaultPolicies, type PolicyOptions } from '../../../policies/index.ts';
import type { AgentCard } from '../../../runtime/protocol/agent-card.ts';
import { systemParty } from '../../../runtime/protocol/policy.ts';
import { AgentRegistry } from '../../../runtime/routing/agent-registry.ts';
import { Grants } from '../../../runtime/routing/grants.ts';
import { RouteDecider } from '../../../runtime/routing/route-decider.ts';
import type { AgentRow } from '../../../runtime/protocol/agent-row.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { cardOf, envelopeOf, offers } from './standalone-team.ts';

function deciderOf(cards: AgentCard[], policies?: PolicyOptions) {
  const registry = new AgentRegistry();
  for (const card of cards) registry.register(card);
  const clock = new FakeClock(1_000);
  const grants = new Grants(clock);
  const decider = new RouteDecider(registry.table, defaultPolicies(policies), clock, { grants });
  const row = (id: string) => registry.table.get(id) as AgentRow;
  return { decider, grants, row };
}

describe('RouteDecider (N-4.1, N-4.2, N-4.3, N-E01, N-E02, C-06, C-27)', () => {
  const team = [
    cardOf('sun', { tier: 0 }),
    cardOf('earth', { tier: 1, ...offers('specs.write') }),
    cardOf('mars', { tier: 2, ...offers('types.check', 'specs.write') }),
    cardOf('boxed', { tier: 2, sandboxId: 'box', ...offers('types.check') }),
  ];

  it('decides for one agent, or says why not', () => {
    const { decider, row } = deciderOf(team);
    const toMars = envelopeOf({ sender: 'sun', recipient: 'mars' });
    expect(decider.decide(row('sun').party, toMars)).toEqual({ kind: 'one', row: row('mars') });
    expect(decider.judgeRow(row('sun').party, row('mars'), toMars)).toBeUndefined();
    const refused = decider.decide(row('earth').party, toMars);
    expect(refused).toMatchObject({ kind: 'refused', row: row('mars'), verdict: { code: 'TIER_VIOLATION' } });
    expect(decider.judgeRow(row('earth').party, row('mars'), toMars)?.code).toBe('TIER_VIOLATION');
  });

  it('says who is unknown', () => {
    const { decider, row } = deciderOf(team);
    const { party } = row('sun');
    expect(decider.decide(party, envelopeOf({ sender: 'sun', recipient: 'pluto' }))).toMatchObject({
      kind: 'unknown',
      verdict: { code: 'AGENT_NOT_FOUND', reason: expect.stringContaining('"pluto"') },
    });
    const metadata = { tier: 0, routingHint: 'capability' } as const;
    expect(
      decider.decide(party, envelopeOf({ sender: 'sun', recipient: 'tea.make', metadata })),
    ).toMatchObject({
      kind: 'unknown',
      verdict: { code: 'CAPABILITY_NOT_FOUND', reason: expect.stringContaining('"tea.make"') },
    });
  });

  it('takes the first agent with the capability that it may write to, not the first of all', () => {
    const { decider, row } = deciderOf(team);
    const metadata = { tier: 2, routingHint: 'capability' } as const;
    const wanted = envelopeOf({ sender: 'mars', recipient: 'specs.write', metadata });
    expect(decider.decide(row('mars').party, wanted)).toMatchObject({ kind: 'one', row: { id: 'mars' } });
    const justified = { ...wanted, metadata: { ...metadata, escalationJustification: 'needed' } };
    expect(decider.decide(row('mars').party, justified)).toMatchObject({ kind: 'one', row: { id: 'earth' } });
  });

  it('gives the refusal of the first when none may be written to', () => {
    const { decider, row } = deciderOf([cardOf('earth', { tier: 1 }), ...team.slice(2)]);
    const metadata = { tier: 1, routingHint: 'capability' } as const;
    const wanted = envelopeOf({ sender: 'earth', recipient: 'types.check', metadata });
    expect(decider.decide(row('earth').party, wanted)).toMatchObject({
      kind: 'refused',
      row: { id: 'mars' },
      verdict: { code: 'TIER_VIOLATION' },
    });
  });

  it('passes by an agent that already works on the capability further up the path (F-05)', () => {
    const { decider, row } = deciderOf(team);
    const path = [{ agent: 'mars', capability: 'types.check', envelopeId: 'e' }];
    const metadata = { tier: 0, routingHint: 'capability', path } as const;
    const wanted = envelopeOf({
      sender: 'sun',
      recipient: 'types.check',
      type: 'request',
      metadata: { ...metadata, path },
    });
    expect(decider.decide(row('sun').party, wanted)).toMatchObject({ kind: 'one', row: { id: 'boxed' } });
  });

  it('parts everybody into those in reach and those out of reach', () => {
    const { decider, row } = deciderOf(team);
    const route = decider.decide(row('earth').party, envelopeOf({ sender: 'earth', recipient: '*' }));
    if (route.kind !== 'everybody') throw new Error(route.kind);
    expect(route.permitted.map(({ id }) => id)).toEqual(['sun', 'earth']);
    expect(route.refused.map(({ row: { id }, verdict: { code } }) => [id, code])).toEqual([
      ['mars', 'TIER_VIOLATION'],
      ['boxed', 'TIER_VIOLATION'],
    ]);
  });

  it('fails an ask at once whose answer the sandbox would not let back (C-34)', () => {
    const { decider, row } = deciderOf(team);
    const ask = envelopeOf({ sender: 'sun', recipient: 'boxed', type: 'request' });
    expect(decider.decide(row('sun').party, ask)).toMatchObject({ kind: 'one' });
    expect(decider.decide(row('sun').party, ask, true)).toMatchObject({
      verdict: { code: 'SANDBOX_VIOLATION' },
    });
    expect(decider.decide(systemParty('system/host'), ask, true)).toMatchObject({ kind: 'one' });
  });

  it('exempts a reply under a grant, once', () => {
    const { decider, grants, row } = deciderOf(team);
    const asked = envelopeOf({ sender: 'mars', recipient: 'earth', type: 'request' });
    const metadata = { tier: 1, inReplyTo: asked.id } as const;
    const reply = envelopeOf({ sender: 'earth', recipient: 'mars', type: 'response', metadata });
    const code = () => decider.judgeRow(row('earth').party, row('mars'), reply)?.code;
    expect(code()).toBe('TIER_VIOLATION');
    grants.hold(asked, 'earth');
    expect(code()).toBeUndefined();
    grants.use({ inReplyTo: asked.id, sender: 'earth', recipient: 'mars', type: 'response' });
    expect(code()).toBe('TIER_VIOLATION');
  });

  it('exempts no broadcast, not even towards the one who asked', () => {
    const { decider, grants, row } = deciderOf(team);
    const asked = envelopeOf({ sender: 'mars', recipient: 'earth', type: 'request' });
    grants.hold(asked, 'earth');
    const metadata = { tier: 1, inReplyTo: asked.id } as const;
    const toAll = envelopeOf({ sender: 'earth', recipient: '*', type: 'response', metadata });
    expect(decider.judgeRow(row('earth').party, row('mars'), toAll)?.code).toBe('TIER_VIOLATION');
  });

  it('takes a proposal’s justification from its payload', () => {
    const { decider, row } = deciderOf(team);
    const payload = { escalationJustification: 'blocked' };
    const proposal = envelopeOf({ sender: 'mars', recipient: 'sun', type: 'task-proposal', payload });
    expect(decider.judgeRow(row('mars').party, row('sun'), proposal)).toBeUndefined();
    const request = { ...proposal, type: 'request' } as const;
    expect(decider.judgeRow(row('mars').party, row('sun'), request)?.code).toBe('ESCALATION_REQUIRED');
    const odd = { ...proposal, payload: { escalationJustification: 1 } };
    expect(decider.judgeRow(row('mars').party, row('sun'), odd)?.code).toBe('ESCALATION_REQUIRED');
  });

  it('judges by the time of its clock', () => {
    const { decider, row } = deciderOf(team);
    const late = envelopeOf({ sender: 'sun', recipient: 'mars', metadata: { tier: 0, deadlineAtMs: 1_000 } });
    expect(decider.judgeRow(row('sun').party, row('mars'), late)?.code).toBe('DEADLINE_EXCEEDED');
  });

  it('knows the system and the registered, nobody else', () => {
    const { decider } = deciderOf(team);
    expect(decider.partyOf('mars')).toMatchObject({ id: 'mars', tier: 2, isSystem: false });
    expect(decider.partyOf('system/host')).toMatchObject({ isSystem: true });
    expect(decider.partyOf('pluto')).toBeUndefined();
  });
});
