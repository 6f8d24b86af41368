import { describe, expect, it } from 'vitest';
import { takeOn } from '../../../../actors/negotiator/decision.ts';
import type { ProposalRecord } from '../../../../actors/negotiator/proposal.ts';
import { InMemoryProposalStore } from '../../../../actors/negotiator/proposal-store.ts';
import { rejection } from '../../../fixtures/until.ts';
import { cardOf } from '../../routing/standalone-team.ts';
import { negotiatingTeam, proposalOf, silent, sun, unwilling, willing, worker } from './negotiating-team.ts';

describe('A proposal (N-7.1, N-7.2, N-7.3, N-7.5, N-D12)', () => {
  it('goes to everybody with all the capabilities, and to nobody else', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('venus'), cardOf('pluto', { tier: 0 })]);
    for (const id of ['mars', 'venus', 'pluto']) team.negotiator(id, unwilling('NO'));
    const record = await team.negotiator('sun').propose(proposalOf());
    expect(record).toMatchObject({ status: 'rejected', rejectionReason: 'NO', proposerAgentId: 'sun' });
    expect(['mars', 'venus', 'pluto'].map((id) => team.inbox(id, 'task-proposal').length)).toEqual([1, 1, 0]);
  });

  it('goes to whom it names alone, also without the capability', async () => {
    const team = negotiatingTeam([sun, worker('mars'), cardOf('pluto', { tier: 0 })]);
    for (const id of ['mars', 'pluto']) team.negotiator(id, willing);
    const record = await team.negotiator('sun').propose(proposalOf(), { to: 'pluto' });
    expect(record).toMatchObject({ status: 'accepted', acceptedBy: 'pluto', estimatedCompletionMs: 500 });
    expect(team.inbox('mars')).toEqual([]);
  });

  it('is accepted when the winner has confirmed that it has the task, and both say so', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const mars = team.negotiator('mars', willing);
    const proposer = team.negotiator('sun');
    const record = await proposer.propose(proposalOf());
    expect(record).toMatchObject({ status: 'accepted', acceptedBy: 'mars', epoch: 1, isHeld: true });
    const { proposalId, correlationId } = record;
    expect(mars.getProposal(proposalId)).toMatchObject({
      status: 'accepted',
      acceptedBy: 'mars',
      isHeld: true,
      correlationId,
    });
    expect(proposer.listPending()).toEqual([]);
    expect(team.router.thread(correlationId).map(({ type, sender }) => `${type} ${sender}`)).toEqual([
      'task-proposal sun',
      'task-accept mars',
      'task-accept sun',
      'task-accept mars',
    ]);
  });

  it('is given to the first who accepts; the others are told TAKEN', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('venus'), worker('pluto')]);
    const [mars, venus, pluto] = ['mars', 'venus', 'pluto'].map((id) => team.negotiator(id, silent));
    const proposed = team.negotiator('sun').propose(proposalOf());
    await team.settle();
    const [{ proposalId } = { proposalId: '' }] = venus?.listPending() ?? [];
    const second = venus?.accept(proposalId, 10);
    const late = rejection(mars?.accept(proposalId, 20) ?? Promise.resolve());
    await second;
    expect(await proposed).toMatchObject({ status: 'accepted', acceptedBy: 'venus' });
    expect(await late).toMatchObject({ code: 'TAKEN' });
    await team.settle();
    expect((await rejection(pluto?.accept(proposalId, 30) ?? Promise.resolve())).code).toBe('TAKEN');
    for (const one of [mars, pluto])
      expect(one?.getProposal(proposalId)).toMatchObject({
        status: 'rejected',
        rejectionReason: 'TAKEN',
        isHeld: false,
      });
    const told = team.inbox('mars', 'task-reject').map(({ payload }) => payload);
    expect(told).toEqual([{ proposalId, rejectionReason: 'TAKEN' }]);
  });

  it('is rejected when nobody with the capabilities is there, or may be asked', async () => {
    const team = negotiatingTeam([sun, worker('mars', { tier: 2 }), cardOf('earth', { tier: 1 })]);
    const earth = team.negotiator('earth');
    const nobody = await team.negotiator('sun').propose(proposalOf({ requiredCapabilities: ['work.never'] }));
    expect(nobody).toMatchObject({ status: 'rejected', rejectionReason: 'CAPABILITY_NOT_FOUND' });
    expect(await earth.propose(proposalOf())).toMatchObject({
      status: 'rejected',
      rejectionReason: 'TIER_VIOLATION',
    });
    expect(await earth.propose(proposalOf(), { to: 'mars' })).toMatchObject({
      rejectionReason: 'TIER_VIOLATION',
    });
    expect(await earth.propose(proposalOf(), { to: 'nobody' })).toMatchObject({
      rejectionReason: 'AGENT_NOT_FOUND',
    });
    expect(team.inbox('mars')).toEqual([]);
  });

  it('is asked of permitted agents only, without a security event for the others', async () => {
    const team = negotiatingTeam([
      cardOf('earth', { tier: 1 }),
      worker('mars', { tier: 2 }),
      worker('jupiter', { tier: 1 }),
    ]);
    for (const id of ['mars', 'jupiter']) team.negotiator(id, willing);
    const record = await team.negotiator('earth').propose(proposalOf());
    expect(record).toMatchObject({ status: 'accepted', acceptedBy: 'jupiter' });
    expect(team.inbox('mars')).toEqual([]);
    expect(team.observability.getRecentEvents().filter(({ errorCode }) => errorCode !== undefined)).toEqual(
      [],
    );
  });

  it('of a lower tier is answered by a higher one under its grant, as long as the task is held', async () => {
    const team = negotiatingTeam([cardOf('mars', { tier: 2 }), worker('earth', { tier: 1 })]);
    const earth = team.negotiator('earth', willing);
    const mars = team.negotiator('mars');
    expect(await mars.propose(proposalOf())).toMatchObject({ rejectionReason: 'ESCALATION_REQUIRED' });
    const record = await mars.propose(proposalOf(), { escalationJustification: 'It blocks the release' });
    expect(record).toMatchObject({ status: 'accepted', acceptedBy: 'earth' });
    const [asked] = team.inbox('earth', 'task-proposal');
    expect(asked?.payload).toMatchObject({ escalationJustification: 'It blocks the release' });
    const work = { sender: 'earth', recipient: 'mars', type: 'notification' as const };
    const metadata = { tier: 1 as const, inReplyTo: asked?.id ?? '' };
    expect((await team.say({ ...work, metadata })).delivered).toBe(true);
    await earth.release(record.proposalId);
    await team.settle();
    expect((await team.say({ ...work, metadata })).errorCode).toBe('TIER_VIOLATION');
    expect(mars.getProposal(record.proposalId)).toMatchObject({
      isHeld: false,
      rejectionReason: 'COMPLETED',
    });
  });

  it('never crosses a sandbox, nor asks whom the sandbox would not let answer', async () => {
    const team = negotiatingTeam([
      sun,
      worker('mars', { sandboxId: 'box' }),
      worker('venus', { sandboxId: 'box' }),
    ]);
    for (const id of ['venus']) team.negotiator(id, willing);
    const outside = await team.negotiator('sun').propose(proposalOf());
    expect(outside).toMatchObject({ status: 'rejected', rejectionReason: 'SANDBOX_VIOLATION' });
    const mars = team.negotiator('mars');
    expect(await mars.propose(proposalOf(), { to: 'sun' })).toMatchObject({
      rejectionReason: 'SANDBOX_VIOLATION',
    });
    expect(await mars.propose(proposalOf())).toMatchObject({ status: 'accepted', acceptedBy: 'venus' });
  });
});

describe('The deadline of a proposal (N-7.4, N-T03, N-E11)', () => {
  it('unit case 7.4: makes it timed-out, and notifies the proposer', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const mars = team.negotiator('mars', silent);
    const proposer = team.negotiator('sun');
    const heard: string[] = [];
    proposer.onEvent(({ type, errorCode }) => heard.push(`${type} ${errorCode}`));
    const proposed = proposer.propose(proposalOf({ deadlineMs: 1_000 }));
    await team.clock.advanceAsync(999);
    expect(proposer.listPending()).toHaveLength(1);
    await team.clock.advanceAsync(1);
    expect(await proposed).toMatchObject({
      status: 'timed-out',
      isHeld: false,
      rejectionReason: 'TIMED_OUT',
    });
    expect(proposer.listPending()).toEqual([]);
    expect(heard).toEqual(['proposed undefined', 'timed-out PROPOSAL_TIMEOUT']);
    await team.settle();
    expect(mars.listPending()).toEqual([]);
    expect(team.inbox('mars', 'task-reject')[0]?.payload).toMatchObject({ rejectionReason: 'TIMED_OUT' });
    expect(team.clock.pending).toBe(0);
  });

  it('ends with an acceptance that comes too late: it is told so, written down, and changes nothing', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const proposer = team.negotiator('sun');
    const proposed = proposer.propose(proposalOf(), { to: 'mars' });
    await team.clock.advanceAsync(1_000);
    const { proposalId, correlationId } = await proposed;
    const payload = { proposalId, acceptedBy: 'mars', estimatedCompletionMs: 1, round: 0 };
    await team.say({ sender: 'mars', recipient: 'sun', type: 'task-accept', correlationId, payload });
    await team.settle();
    expect(proposer.getProposal(proposalId)?.status).toBe('timed-out');
    expect(proposer.getRecord(proposalId)?.answers).toMatchObject([{ agentId: 'mars', effect: 'late' }]);
    expect(team.inbox('mars', 'task-reject').at(-1)?.payload).toMatchObject({ rejectionReason: 'TIMED_OUT' });
  });

  it('is never later than that of the work it is proposed in', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    team.negotiator('mars', silent);
    const work = {
      envelopeId: undefined,
      correlationId: 'talk',
      deadlineAtMs: team.clock.now() + 300,
      signal: undefined,
      isTriedAgain: false,
      isOver: false,
    };
    const proposed = team
      .negotiator('sun')
      .within({ ...team.portOf('sun'), work })
      .propose(proposalOf({ deadlineMs: 1_000 }));
    await team.clock.advanceAsync(300);
    expect(await proposed).toMatchObject({ status: 'timed-out', deadlineMs: 300, correlationId: 'talk' });
  });
});

describe('What is given to a negotiator', () => {
  it.each([
    ['proposal.deadlineMs is 0', { deadlineMs: 0 }],
    ['proposal.deadlineMs is 3000000000', { deadlineMs: 3_000_000_000 }],
    ['proposal.estimatedComplexity is "huge"', { estimatedComplexity: 'huge' as 'simple' }],
    ['proposal.requiredCapabilities[0] is ""', { requiredCapabilities: [''] }],
    ['proposal.proposerAgentId is "mars"', { proposerAgentId: 'mars' }],
  ])('is refused, naming field and value: %s', async (message, fields) => {
    const { code, message: said } = await rejection(
      negotiatingTeam([sun]).negotiator('sun').propose(proposalOf(fields)),
    );
    expect(code).toBe('INVALID_OPTIONS');
    expect(said).toContain(message);
  });

  it.each([
    ['options.to is "sun"', { to: 'sun' }],
    ['options.alternatives is -1', { alternatives: -1 }],
    ['options.leaseMs is 0', { leaseMs: 0 }],
    ['options.wait is 1', { wait: 1 }],
  ])('is refused among its options: %s', async (message, options) => {
    const { code, message: said } = await rejection(
      negotiatingTeam([sun])
        .negotiator('sun')
        .propose(proposalOf(), options as object),
    );
    expect(code).toBe('INVALID_OPTIONS');
    expect(said).toContain(message);
  });

  it('is refused of a decision on what did not come in, and of one that says nothing', async () => {
    const sunny = negotiatingTeam([sun]).negotiator('sun');
    expect((await rejection(sunny.accept('never', 1))).code).toBe('REFUSED');
    expect((await rejection(sunny.reject('never', 'NO'))).code).toBe('REFUSED');
    expect((await rejection(sunny.accept('never', -1))).message).toContain(
      'takeOn.estimatedCompletionMs is -1',
    );
    expect((await rejection(sunny.reject('never', ''))).message).toContain('decline.reason is ""');
  });
});

describe('A store of proposals that throws', () => {
  function breaking() {
    const memory = new InMemoryProposalStore();
    const store = {
      isBroken: false,
      get: (id: string) => memory.get(id),
      list: () => memory.list(),
      put: (record: ProposalRecord) => {
        if (store.isBroken) throw new Error('no room');
        memory.put(record);
      },
    };
    return store;
  }

  it.each(['proposer', 'responder'])('at the %s ends no negotiation, and is told of', async (side) => {
    const store = breaking();
    const team = negotiatingTeam([sun, worker('mars')]);
    const noted: unknown[] = [];
    const options = (agentId: string, isIts: boolean) => ({
      ...(isIts && { store }),
      port: { ...team.portOf(agentId), note: (event: unknown) => void noted.push(event) },
    });
    team.negotiator('mars', {
      ...options('mars', side === 'responder'),
      decide: () => {
        store.isBroken = true;
        return takeOn({ estimatedCompletionMs: 500 });
      },
    });
    const proposer = team.negotiator('sun', options('sun', side === 'proposer'));
    const { status, acceptedBy, proposalId } = await proposer.propose(proposalOf());
    expect([status, acceptedBy]).toEqual(['accepted', 'mars']);
    await team.clock.advanceAsync(300_000);
    expect(noted).toContainEqual({
      type: 'error',
      agentId: side === 'proposer' ? 'sun' : 'mars',
      proposalId,
      errorCode: 'STORE_FAILED',
      reason: expect.stringContaining('no room'),
      success: false,
    });
    expect(proposer.getRecord(proposalId)).toMatchObject({ proposal: { acceptedBy: 'mars' }, isOver: true });
  });

  it('refuses a proposal that is new', async () => {
    const store = breaking();
    store.isBroken = true;
    const team = negotiatingTeam([sun, worker('mars')]);
    team.negotiator('mars', willing);
    await expect(team.negotiator('sun', { store }).propose(proposalOf())).rejects.toThrow('no room');
    expect(team.inbox('mars', 'task-proposal')).toEqual([]);
  });
});
