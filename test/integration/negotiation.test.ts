import { describe, expect, it } from 'vitest';
import { bid, bidAndLeave, letGo, toil } from '../fixtures/agents/bidding.ts';
import {
  balanced,
  considering,
  eventsOf,
  knownBy,
  knows,
  placeOf,
  proposalOf,
  proposedBy,
} from '../fixtures/bidders.ts';
import { teamOf } from '../fixtures/bidding-team.ts';
import { rejection, until } from '../fixtures/until.ts';

describe('A proposal across threads (N-7.1, N-7.2, N-7.3, N-7.5, N-P24)', () => {
  it('goes to everybody with the capability; one gets it, and the others learn that it is taken', async () => {
    const ids = ['mars', 'venus', 'earth', 'pluto'];
    const system = await teamOf(...ids.map((id) => ({ id })), { id: 'sun', offers: [] });
    const record = await proposedBy(system, 'sun');
    const { proposalId, acceptedBy = '', status } = record.proposal;
    expect(status).toBe('accepted');
    expect(ids).toContain(acceptedBy);
    expect(record.asked).toEqual(ids);
    expect((await knownBy(system, acceptedBy, proposalId)).proposal).toMatchObject({
      isHeld: true,
      status: 'accepted',
    });
    for (const id of ids.filter((one) => one !== acceptedBy)) {
      await balanced(system);
      const { proposal } = await knownBy(system, id, proposalId);
      // Whose turn had not come yet when it was taken need not know of it.
      expect(proposal?.isHeld ?? false).toBe(false);
      if (proposal !== null) expect(proposal).toMatchObject({ status: 'rejected', rejectionReason: 'TAKEN' });
    }
  });

  it('of the embedder is answered as well, and shows in one thread: proposal, acceptance and what follows', async () => {
    const system = await teamOf(
      { id: 'mars', says: 'takes', isTold: true },
      { id: 'venus', says: 'declines' },
    );
    const record = await system.negotiator.propose(proposalOf(), { correlationId: 'talk' });
    expect(record).toMatchObject({ status: 'accepted', acceptedBy: 'mars', proposerAgentId: 'system/host' });
    const { proposalId } = record;
    await until('mars has given it back', () => system.negotiator.getProposal(proposalId)?.isHeld === false);
    expect(system.negotiator.getProposal(proposalId)).toMatchObject({
      status: 'accepted',
      rejectionReason: 'COMPLETED',
    });
    const said = (await system.thread('talk')).map(
      ({ type, sender, recipient }) => `${type} ${sender} ${recipient}`,
    );
    expect(said.filter((one) => one.startsWith('task-proposal')).sort()).toEqual([
      'task-proposal system/host mars',
      'task-proposal system/host venus',
    ]);
    expect(said.indexOf('task-accept mars system/host')).toBeGreaterThan(
      said.indexOf('task-proposal system/host mars'),
    );
    expect(said).toContain('task-accept system/host mars');
    expect(said).toContain('notification mars system/host');
    expect(said).toContain('task-reject mars system/host');
    expect((await system.thread('talk')).every(({ correlationId }) => correlationId === 'talk')).toBe(true);
  });

  it('is answered while its proposer waits for it with a full mailbox, and by agents that are busy', async () => {
    const system = await teamOf({ id: 'mars' }, { id: 'sun', offers: [], mailboxCapacity: 5 });
    const proposed = proposedBy(system, 'sun');
    const waiting = Array.from({ length: 4 }, () =>
      system.ask({ agent: 'sun', capability: toil }, { ms: 1 }),
    );
    expect((await proposed).proposal).toMatchObject({ status: 'accepted', acceptedBy: 'mars' });
    await Promise.all(waiting);
  });

  it('leaves a lease that is renewed while its holder is at something else', async () => {
    const system = await teamOf({ id: 'mars' });
    const stop = new AbortController();
    const { correlationId } = await system.negotiator.propose(proposalOf(), { leaseMs: 3_000 });
    const busy = rejection(
      system.ask({ agent: 'mars', capability: toil }, { ms: 20_000 }, { signal: stop.signal }),
    );
    await until('mars has said three times that it takes it', async () => {
      const said = (await system.thread(correlationId)).filter(({ sender }) => sender === 'mars');
      return said.length >= 3;
    });
    stop.abort();
    expect((await busy).code).toBe('CANCELLED');
  });

  it('goes to an alternative in the other thread', async () => {
    const system = await teamOf(
      { id: 'mars', says: 'declines', names: 'venus' },
      { id: 'venus', says: 'takes' },
    );
    const record = await system.negotiator.propose(proposalOf(), { to: 'mars' });
    expect(record).toMatchObject({ status: 'accepted', acceptedBy: 'venus' });
    expect(system.negotiator.getRecord(record.proposalId)).toMatchObject({
      asked: ['mars', 'venus'],
      answers: [{ agentId: 'mars', reason: 'NOT_MINE', alternative: 'venus' }, { agentId: 'venus' }],
    });
  });

  it('is told to whoever is to do it, and to whoever does not get it', async () => {
    const system = await teamOf(
      { id: 'mars', says: 'waits', isTold: true },
      { id: 'venus', says: 'takes', isTold: true },
      { id: 'sun', offers: [] },
    );
    const { proposal } = await proposedBy(system, 'sun');
    expect(proposal.acceptedBy).toBe('venus');
    const told = async (id: string) => (await knownBy(system, id, proposal.proposalId)).told;
    expect(
      await until('venus was told', async () => (await told('venus')).length > 0 && told('venus')),
    ).toEqual(['assigned Do it']);
    expect(await until('mars was told', async () => (await told('mars')).length > 0 && told('mars'))).toEqual(
      ['refused Do it TAKEN'],
    );
    await balanced(system);
  });
});

describe('The deadline of a proposal across threads (N-7.4, N-E11)', () => {
  it('makes it timed-out, notifies the proposer, and releases those who were asked', async () => {
    const system = await teamOf({ id: 'mars', says: 'waits' }, { id: 'sun', offers: [] });
    const heard: string[] = [];
    system.negotiator.onEvent(({ type, errorCode }) => heard.push(`${type} ${errorCode ?? ''}`));
    const own = await system.negotiator.propose(proposalOf({ deadlineMs: 200 }));
    expect(own).toMatchObject({ status: 'timed-out' });
    expect(heard).toEqual(['proposed ', 'timed-out PROPOSAL_TIMEOUT']);
    const { proposal } = await proposedBy(system, 'sun', { deadlineMs: 200 });
    expect(proposal).toMatchObject({ status: 'timed-out', rejectionReason: 'TIMED_OUT' });
    for (const { correlationId, proposerAgentId: agentId } of [own, proposal]) {
      // The envelope of whoever is still considering it has the same deadline: at that moment it is released, or expires.
      const errors = (await eventsOf(system, correlationId, 'error')).filter(
        ({ outcome }) => outcome !== 'expired',
      );
      expect(errors).toMatchObject([{ errorCode: 'PROPOSAL_TIMEOUT', agentId, success: false }]);
    }
    // Who never decides is not taken for one that hangs.
    expect((await system.roster()).map(({ restarts }) => restarts)).toEqual([0, 0]);
    await knows(system, 'mars', own.proposalId, { status: 'timed-out' });
  });

  it('is never later than that of the work in which it is made, and goes with it', async () => {
    const system = await teamOf({ id: 'mars', says: 'waits' }, { id: 'sun', offers: [] });
    const stop = new AbortController();
    const { estimatedComplexity: _simple, ...input } = proposalOf({ deadlineMs: 15_000 });
    const asked = rejection(
      system.ask({ agent: 'sun', capability: bid }, input, { signal: stop.signal, correlationId: 'cut' }),
    );
    await until('mars was asked', async () =>
      (await system.thread('cut')).some(({ type }) => type === 'task-proposal'),
    );
    stop.abort();
    expect((await asked).code).toBe('CANCELLED');
    await until('mars was told', async () =>
      (await system.thread('cut')).some(({ type }) => type === 'task-reject'),
    );
    const [withdrawn] = (await system.thread('cut')).filter(({ type }) => type === 'task-reject');
    expect(withdrawn).toMatchObject({
      sender: 'sun',
      recipient: 'mars',
      payload: { rejectionReason: 'WITHDRAWN' },
    });
  });
});

describe('Rules for proposals (C-06, C-31)', () => {
  it('want a justification from tier 2 to tier 1; the answer needs none, nor does what follows', async () => {
    const system = await teamOf(
      { id: 'mars', tier: 2, offers: [] },
      { id: 'earth', tier: 1, says: 'takes', isTold: true },
    );
    const refused = await proposedBy(system, 'mars');
    expect(refused.proposal).toMatchObject({ status: 'rejected', rejectionReason: 'ESCALATION_REQUIRED' });
    const named = await proposedBy(system, 'mars', { to: 'earth' });
    expect(named.proposal).toMatchObject({ status: 'rejected', rejectionReason: 'ESCALATION_REQUIRED' });
    const { proposal } = await proposedBy(system, 'mars', {
      escalationJustification: 'It blocks the release',
    });
    expect(proposal).toMatchObject({ status: 'accepted', acceptedBy: 'earth' });
    await knows(system, 'mars', proposal.proposalId, { isHeld: false, rejectionReason: 'COMPLETED' });
    const refusals = (await eventsOf(system, proposal.correlationId, 'routing-decision')).filter(
      ({ success }) => success === false,
    );
    // Its own notification names no envelope that it answers.
    expect(refusals.map(({ messageType, errorCode }) => `${messageType} ${errorCode}`)).toEqual([
      'notification TIER_VIOLATION',
    ]);
  });

  it('keep them in their sandbox, and from those who could not answer', async () => {
    const system = await teamOf(
      { id: 'mars', sandboxId: 'box' },
      { id: 'venus', sandboxId: 'box', offers: [] },
      { id: 'sun', offers: [] },
    );
    expect((await proposedBy(system, 'sun')).proposal).toMatchObject({
      rejectionReason: 'SANDBOX_VIOLATION',
    });
    expect((await proposedBy(system, 'sun', { to: 'mars' })).proposal).toMatchObject({
      rejectionReason: 'SANDBOX_VIOLATION',
    });
    expect((await proposedBy(system, 'venus', { to: 'sun' })).proposal).toMatchObject({
      rejectionReason: 'SANDBOX_VIOLATION',
    });
    expect((await proposedBy(system, 'venus')).proposal).toMatchObject({
      status: 'accepted',
      acceptedBy: 'mars',
    });
    // Rules bind agents; the system reaches everybody, and is answered.
    expect(await system.negotiator.propose(proposalOf())).toMatchObject({
      status: 'accepted',
      acceptedBy: 'mars',
    });
  });

  it('hold for tiers that may not be reached at all', async () => {
    const system = await teamOf({ id: 'mars', tier: 2 }, { id: 'earth', tier: 1, offers: [] });
    expect((await proposedBy(system, 'earth')).proposal).toMatchObject({ rejectionReason: 'TIER_VIOLATION' });
    expect((await knownBy(system, 'mars', 'none')).considered).toEqual([]);
  });
});

describe('Negotiation and deaths (F-07)', () => {
  it('a responder whose thread ends while it considers declines by that', async () => {
    const system = await teamOf({ id: 'mars', says: 'waits' }, { id: 'sun', offers: [] });
    const proposed = proposedBy(system, 'sun');
    await considering(system, 'mars');
    await system.terminate(await placeOf(system, 'mars'));
    expect((await proposed).proposal).toMatchObject({ status: 'rejected', rejectionReason: 'ACTOR_DIED' });
    await balanced(system);
  });

  it('a winner whose thread ends has the task no more, and its proposer learns it', async () => {
    const system = await teamOf({ id: 'mars', says: 'takes' }, { id: 'sun', offers: [] });
    const { proposal } = await proposedBy(system, 'sun', { leaseMs: 600 });
    expect(proposal.acceptedBy).toBe('mars');
    await system.terminate(await placeOf(system, 'mars'));
    await knows(system, 'sun', proposal.proposalId, { isHeld: false, status: 'accepted' });
    expect((await knownBy(system, 'mars', proposal.proposalId)).proposal).toBe(null);
  });

  it('a proposer whose thread ends leaves nobody behind who believes that it has the task', async () => {
    const system = await teamOf({ id: 'mars', says: 'takes' }, { id: 'sun', offers: [], tier: 2 });
    // The lease outlasts the start of the thread in which the proposer lives next.
    const { proposal } = await proposedBy(system, 'sun', {
      leaseMs: 9_000,
      escalationJustification: 'needed',
    });
    expect((await knownBy(system, 'mars', proposal.proposalId)).proposal?.isHeld).toBe(true);
    await system.terminate(await placeOf(system, 'sun'));
    await knows(system, 'mars', proposal.proposalId, { isHeld: false });
    const { proposal: ended } = await knownBy(system, 'mars', proposal.proposalId);
    // The next life of the proposer knows nothing of it, and says so when the lease is to be renewed.
    expect(ended).toMatchObject({ status: 'accepted', rejectionReason: 'NOT_OPEN' });
  });

  it('a responder that breaks over a proposal declines by that, and one that refuses says why', async () => {
    const system = await teamOf(
      { id: 'mars', says: 'throws' },
      { id: 'venus', says: 'refuses' },
      { id: 'sun', offers: [] },
    );
    expect((await proposedBy(system, 'sun', { to: 'mars' })).proposal.rejectionReason).toBe('AGENT_ENDED');
    expect((await proposedBy(system, 'sun', { to: 'venus' })).proposal.rejectionReason).toBe('REFUSED');
  });

  it('a proposer whose actor ends withdraws what is open and takes back what it gave', async () => {
    const system = await teamOf(
      { id: 'mars', says: 'takes' },
      { id: 'venus', says: 'waits' },
      { id: 'sun', offers: [] },
    );
    const { proposal } = await proposedBy(system, 'sun', { to: 'mars' });
    const { estimatedComplexity: _simple, ...input } = proposalOf();
    await system.ask(
      { agent: 'sun', capability: bidAndLeave },
      { ...input, to: ['venus'] },
      { correlationId: 'left' },
    );
    await until('venus was asked', async () =>
      (await system.thread('left')).some(({ type }) => type === 'task-proposal'),
    );
    await system.stopAgent('sun');
    await knows(system, 'mars', proposal.proposalId, { isHeld: false, rejectionReason: 'AGENT_ENDED' });
    await until('venus was told', async () =>
      (await system.thread('left')).some(({ type }) => type === 'task-reject'),
    );
  });

  it('either side may end the assignment, the other learns it', async () => {
    const system = await teamOf({ id: 'mars', says: 'takes' }, { id: 'sun', offers: [] });
    const one = await proposedBy(system, 'sun');
    await system.ask({ agent: 'mars', capability: letGo }, { proposalId: one.proposal.proposalId });
    await knows(system, 'sun', one.proposal.proposalId, { isHeld: false });
    const other = await proposedBy(system, 'sun');
    await system.ask({ agent: 'sun', capability: letGo }, { proposalId: other.proposal.proposalId });
    await knows(system, 'mars', other.proposal.proposalId, { isHeld: false, rejectionReason: 'COMPLETED' });
  });
});

describe('A negotiator', () => {
  it('is an actor of its agent in the roster, with its proposals that are not over and where each stands', async () => {
    const system = await teamOf(
      { id: 'mars', says: 'takes' },
      { id: 'venus', says: 'waits' },
      { id: 'sun', offers: [] },
      { id: 'pluto', offers: [] },
    );
    const rowsOf = async (id: string) =>
      (await system.roster({ actors: true })).find((row) => row.id === id)?.actors;
    const { proposal } = await proposedBy(system, 'sun', { to: 'mars', leaseMs: 60_000 });
    const { proposalId } = proposal;
    const { estimatedComplexity: _simple, ...input } = proposalOf();
    await system.ask({ agent: 'sun', capability: bidAndLeave }, { ...input, to: ['venus'] });
    const actor = { id: 'negotiator', machine: 'negotiator', state: 'active' };
    await until('venus considers', async () => (await rowsOf('venus'))?.[0]?.children?.length === 1);
    const [open] = (await rowsOf('venus'))?.[0]?.children ?? [];
    expect(open).toMatchObject({
      machine: 'responder',
      state: 'considering',
      nextTimer: { event: expect.any(String) as string },
      facts: { proposer: 'sun' },
    });
    expect(await rowsOf('mars')).toMatchObject([
      { ...actor, children: [{ id: proposalId, machine: 'responder', state: 'assigned' }] },
    ]);
    expect(await rowsOf('sun')).toMatchObject([
      {
        ...actor,
        children: [
          { id: proposalId, machine: 'proposer', state: 'assigned', facts: { holder: 'mars', asked: 1 } },
          { id: open?.id, machine: 'proposer', state: 'pending.open' },
        ],
      },
    ]);
    expect(await rowsOf('pluto')).toBe(undefined);
    expect((await system.roster()).map((row) => row.actors)).toEqual([
      undefined,
      undefined,
      undefined,
      undefined,
    ]);
    await system.ask({ agent: 'mars', capability: letGo }, { proposalId });
    expect(await rowsOf('mars')).toEqual([{ ...actor, children: [] }]);
    expect((await rejection(system.roster({ actor: true } as object))).message).toContain('options.actor');
  });
});
