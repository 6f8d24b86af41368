import { describe, expect, it } from 'vitest';
import { defaultPolicies, type PolicyOptions } from '../../../policies/index.ts';
import { fromEnvelope } from '../../../runtime/mailbox/mail.ts';
import type { AgentCard } from '../../../runtime/protocol/agent-card.ts';
import type { AgentRow } from '../../../runtime/protocol/agent-row.ts';
import type { A2AEnvelope } from '../../../runtime/protocol/envelope.ts';
import { type Party, systemParty } from '../../../runtime/protocol/policy.ts';
import { AgentRegistry } from '../../../runtime/routing/agent-registry.ts';
import { READINESS } from '../../../runtime/routing/agent-status-memory.ts';
import { Grants } from '../../../runtime/routing/grants.ts';
import { MailJudge, Unrouted } from '../../../runtime/routing/mail-judge.ts';
import { FakeClock } from '../../fixtures/fake-clock.ts';
import { cardOf, envelopeOf, offers } from './standalone-team.ts';

/** The judge of agents that have no slots, all of which can be reached but for `outOfReach`. */
function judgeOf(
  cards: AgentCard[],
  { policies, outOfReach = [] }: { policies?: PolicyOptions; outOfReach?: readonly string[] } = {},
) {
  const registry = new AgentRegistry();
  for (const card of cards) registry.register(card);
  const clock = new FakeClock(1_000);
  const judge = new MailJudge({
    table: registry.table,
    policies: defaultPolicies(policies),
    grants: new Grants(clock),
    agentStatus: { readinessOf: () => READINESS.live },
    clock,
    reachable: (offering) => offering.filter(({ id }) => !outOfReach.includes(id)),
  });
  const row = (id: string) => registry.table.get(id) as AgentRow;
  const mannerOf = ({ recipient }: A2AEnvelope, expectsReply = false) => ({
    isBroadcast: recipient === '*',
    expectsReply,
  });
  /** The id of whom it goes to; or why it does not, and whom it would have been for. */
  const route = (sender: Party, envelope: A2AEnvelope, expectsReply?: boolean) => {
    const found = judge.route(sender, fromEnvelope(envelope), mannerOf(envelope, expectsReply), clock.now());
    if (!(found instanceof Unrouted)) return found.id;
    return { code: found.verdict.code, reason: found.verdict.reason, meant: found.row?.id };
  };
  const verdict = (sender: Party, recipient: AgentRow, envelope: A2AEnvelope) =>
    judge.judge(sender, recipient, fromEnvelope(envelope), mannerOf(envelope), clock.now());
  return { judge, row, route, verdict };
}

describe('MailJudge (N-4.1, N-4.2, N-4.3, N-E01, N-E02, C-06, C-27)', () => {
  const team = [
    cardOf('sun', { tier: 0 }),
    cardOf('earth', { tier: 1, ...offers('specs.write') }),
    cardOf('mars', { tier: 2, ...offers('types.check', 'specs.write') }),
    cardOf('boxed', { tier: 2, sandboxId: 'box', ...offers('types.check') }),
  ];

  it('decides for one agent, or says why not', () => {
    const { route, verdict, row } = judgeOf(team);
    const toMars = envelopeOf({ sender: 'sun', recipient: 'mars' });
    expect(route(row('sun').party, toMars)).toBe('mars');
    expect(verdict(row('sun').party, row('mars'), toMars)).toBeUndefined();
    expect(route(row('earth').party, toMars)).toMatchObject({ code: 'TIER_VIOLATION', meant: 'mars' });
    expect(verdict(row('earth').party, row('mars'), toMars)?.code).toBe('TIER_VIOLATION');
  });

  it('says who is unknown', () => {
    const { route, row } = judgeOf(team);
    const { party } = row('sun');
    expect(route(party, envelopeOf({ sender: 'sun', recipient: 'pluto' }))).toEqual({
      code: 'AGENT_NOT_FOUND',
      reason: expect.stringContaining('"pluto"'),
      meant: undefined,
    });
    const metadata = { tier: 0, routingHint: 'capability' } as const;
    expect(route(party, envelopeOf({ sender: 'sun', recipient: 'tea.make', metadata }))).toEqual({
      code: 'CAPABILITY_NOT_FOUND',
      reason: expect.stringContaining('"tea.make"'),
      meant: undefined,
    });
  });

  it('takes the first agent with the capability that it may write to, not the first of all', () => {
    const { route, row } = judgeOf(team);
    const metadata = { tier: 2, routingHint: 'capability' } as const;
    const wanted = envelopeOf({ sender: 'mars', recipient: 'specs.write', metadata });
    expect(route(row('mars').party, wanted)).toBe('mars');
    const justified = { ...wanted, metadata: { ...metadata, escalationJustification: 'needed' } };
    expect(route(row('mars').party, justified)).toBe('earth');
  });

  it('gives the refusal of the first when none may be written to', () => {
    const { route, row } = judgeOf([cardOf('earth', { tier: 1 }), ...team.slice(2)]);
    const metadata = { tier: 1, routingHint: 'capability' } as const;
    const wanted = envelopeOf({ sender: 'earth', recipient: 'types.check', metadata });
    expect(route(row('earth').party, wanted)).toMatchObject({ code: 'TIER_VIOLATION', meant: 'mars' });
  });

  it('asks of agents without slots those alone that can be reached', () => {
    const { route, row } = judgeOf(team, { outOfReach: ['mars'] });
    const metadata = { tier: 0, routingHint: 'capability' } as const;
    const wanted = envelopeOf({ sender: 'sun', recipient: 'types.check', metadata });
    expect(route(row('sun').party, wanted)).toBe('boxed');
    const fromEarth = envelopeOf({ sender: 'earth', recipient: 'types.check', metadata });
    expect(route(row('earth').party, fromEarth)).toMatchObject({ code: 'TIER_VIOLATION', meant: 'boxed' });
  });

  it('passes by an agent that already works on the capability further up the path (F-05)', () => {
    const { route, row } = judgeOf(team);
    const path = [{ agent: 'mars', capability: 'types.check', envelopeId: 'e' }];
    const metadata = { tier: 0, routingHint: 'capability', path } as const;
    const wanted = envelopeOf({
      sender: 'sun',
      recipient: 'types.check',
      type: 'request',
      metadata: { ...metadata, path },
    });
    expect(route(row('sun').party, wanted)).toBe('boxed');
    const disguised = {
      ...wanted,
      metadata: { ...wanted.metadata, tier: 0, capability: 'tea.make' },
    } as const;
    expect(route(row('sun').party, disguised)).toBe('boxed');
  });

  it('fails an ask at once whose answer the sandbox would not let back (C-34)', () => {
    const { route, row } = judgeOf(team);
    const ask = envelopeOf({ sender: 'sun', recipient: 'boxed', type: 'request' });
    expect(route(row('sun').party, ask)).toBe('boxed');
    expect(route(row('sun').party, ask, true)).toMatchObject({ code: 'SANDBOX_VIOLATION' });
    expect(route(systemParty('system/host'), ask, true)).toBe('boxed');
  });

  it('exempts a reply under a grant, once', () => {
    const { judge, verdict, row } = judgeOf(team);
    const asked = envelopeOf({ sender: 'mars', recipient: 'earth', type: 'request' });
    const metadata = { tier: 1, inReplyTo: asked.id } as const;
    const reply = envelopeOf({ sender: 'earth', recipient: 'mars', type: 'response', metadata });
    const code = () => verdict(row('earth').party, row('mars'), reply)?.code;
    expect(code()).toBe('TIER_VIOLATION');
    judge.holdGrant(fromEnvelope(asked), 'earth');
    expect(code()).toBeUndefined();
    judge.useGrant(fromEnvelope(reply), 'earth', 'mars');
    expect(code()).toBe('TIER_VIOLATION');
  });

  it('exempts no broadcast, not even towards the one who asked', () => {
    const { judge, verdict, row } = judgeOf(team);
    const asked = envelopeOf({ sender: 'mars', recipient: 'earth', type: 'request' });
    judge.holdGrant(fromEnvelope(asked), 'earth');
    const metadata = { tier: 1, inReplyTo: asked.id } as const;
    const toAll = envelopeOf({ sender: 'earth', recipient: '*', type: 'response', metadata });
    expect(verdict(row('earth').party, row('mars'), toAll)?.code).toBe('TIER_VIOLATION');
  });

  it('takes a proposal’s justification from its payload', () => {
    const { verdict, row } = judgeOf(team);
    const payload = { escalationJustification: 'blocked' };
    const proposal = envelopeOf({ sender: 'mars', recipient: 'sun', type: 'task-proposal', payload });
    expect(verdict(row('mars').party, row('sun'), proposal)).toBeUndefined();
    const request = { ...proposal, type: 'request' } as const;
    expect(verdict(row('mars').party, row('sun'), request)?.code).toBe('ESCALATION_REQUIRED');
    const odd = { ...proposal, payload: { escalationJustification: 1 } };
    expect(verdict(row('mars').party, row('sun'), odd)?.code).toBe('ESCALATION_REQUIRED');
  });

  it.each([1_000, 1, 0, -1])('judges by the time of its clock: %i has passed', (deadlineAtMs) => {
    const { verdict, row } = judgeOf(team);
    const late = envelopeOf({ sender: 'sun', recipient: 'mars', metadata: { tier: 0, deadlineAtMs } });
    expect(verdict(row('sun').party, row('mars'), late)?.code).toBe('DEADLINE_EXCEEDED');
  });

  it('knows the system and the registered; who else sends is of the lowest tier', () => {
    const { judge } = judgeOf(team);
    expect(judge.registeredParty('mars')).toMatchObject({ id: 'mars', tier: 2, isSystem: false });
    expect(judge.registeredParty('system/host')).toMatchObject({ isSystem: true });
    expect(judge.registeredParty('pluto')).toBeUndefined();
    expect(judge.partyOf('pluto')).toMatchObject({ id: 'pluto', tier: 3, isSystem: false });
  });
});
