import { describe, expect, it } from 'vitest';
import type { AgentPort } from '../../../../actors/agent-port/agent-port.ts';
import { routerPort } from '../../../../actors/agent-port/router-port.ts';
import { takeOn } from '../../../../actors/negotiator/decision.ts';
import { InMemoryProposalStore } from '../../../../actors/negotiator/proposal-store.ts';
import type { A2AEnvelope } from '../../../../runtime/protocol/envelope.ts';
import { rejection } from '../../../fixtures/until.ts';
import { negotiatingTeam, proposalOf, silent, sun, willing, worker } from './negotiating-team.ts';

/** A port that hears and says nothing any more once it is stopped, as of an agent that is gone. */
function deafPort({ router, registry, seams }: ReturnType<typeof negotiatingTeam>, agentId: string) {
  const inner = routerPort({ agentId, router, registry, seams });
  const life = { isOver: false };
  const port: AgentPort = {
    ...inner,
    send: async (message) => {
      const { recipient } = message;
      if (!life.isOver) return inner.send(message);
      return { delivered: true, path: 'local', targetAgentId: recipient, latencyMs: 0, envelopeId: 'lost' };
    },
    listen: (listener) => inner.listen((envelope) => (life.isOver ? undefined : listener(envelope))),
  };
  const stop = (): void => {
    life.isOver = true;
  };
  return { port, stop };
}

describe('An assignment', () => {
  it('is renewed by itself, for as long as the work was estimated to take', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const mars = team.negotiator('mars', { decide: () => takeOn({ estimatedCompletionMs: 30_000 }) });
    const proposer = team.negotiator('sun');
    const { proposalId } = await proposer.propose(proposalOf(), { leaseMs: 3_000 });
    await team.clock.advanceAsync(100_000);
    expect([mars, proposer].map((one) => one.getProposal(proposalId)?.isHeld)).toEqual([true, true]);
    await mars.accept(proposalId, 60_000);
    await team.clock.advanceAsync(100_000);
    expect(mars.getProposal(proposalId)?.isHeld).toBe(true);
    await team.clock.advanceAsync(80_000);
    for (const one of [mars, proposer])
      expect(one.getProposal(proposalId)).toMatchObject({
        isHeld: false,
        rejectionReason: 'OVERDUE',
        status: 'accepted',
      });
    expect(team.clock.pending).toBe(0);
  });

  it('is given back when the work takes far longer than was estimated', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const mars = team.negotiator('mars', willing);
    const proposer = team.negotiator('sun');
    const { proposalId } = await proposer.propose(proposalOf());
    await team.clock.advanceAsync(60_999);
    expect(mars.getProposal(proposalId)?.isHeld).toBe(true);
    await team.clock.advanceAsync(1);
    for (const one of [mars, proposer])
      expect(one.getProposal(proposalId)).toMatchObject({ isHeld: false, rejectionReason: 'OVERDUE' });
  });

  it('lapses at both ends when they hear no more of each other', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const mars = team.negotiator('mars', willing);
    const proposer = team.negotiator('sun');
    const { proposalId } = await proposer.propose(proposalOf(), { leaseMs: 3_000 });
    team.line.isCut = true;
    await team.clock.advanceAsync(2_999);
    expect(mars.getProposal(proposalId)?.isHeld).toBe(true);
    await team.clock.advanceAsync(3_001);
    for (const one of [mars, proposer])
      expect(one.getProposal(proposalId)).toMatchObject({ isHeld: false, rejectionReason: 'LAPSED' });
    expect(team.clock.pending).toBe(0);
  });

  it('is nobody else’s before its lease is over, though it cannot be said to its holder once more', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('venus')]);
    const inner = team.portOf('sun');
    const told: string[] = [];
    const port: AgentPort = {
      ...inner,
      send: (message) => {
        const { type, recipient, payload } = message;
        if (type !== 'task-accept') return inner.send(message);
        const isAgain = told.includes(recipient);
        told.push(recipient);
        if (!isAgain || recipient !== 'mars') return inner.send(message);
        const error = `${(payload as { acceptedBy: string }).acceptedBy} may not be written to any more`;
        const refused = { delivered: false, errorCode: 'TIER_VIOLATION', error } as const;
        return Promise.resolve({
          ...refused,
          path: 'local',
          targetAgentId: recipient,
          envelopeId: 'refused',
        });
      },
    };
    const proposer = team.negotiator('sun', { port });
    const deciding = proposer.propose(proposalOf({ deadlineMs: 10_000 }), { leaseMs: 3_000 });
    const accept = async (agentId: string, answer: { round: number; epoch?: number }): Promise<void> => {
      const [proposal] = team.inbox(agentId, 'task-proposal') as [A2AEnvelope];
      const { proposalId } = proposal.payload as { proposalId: string };
      const metadata = { tier: 0, inReplyTo: proposal.id } as const;
      const payload = { proposalId, estimatedCompletionMs: 500, ...answer };
      await team.say({ sender: agentId, recipient: 'sun', type: 'task-accept', payload, metadata });
      await team.settle();
    };
    await team.settle();
    await accept('mars', { round: 1 });
    await accept('venus', { round: 1 });
    await accept('mars', { round: 2 });
    await team.clock.advanceAsync(2_999);
    expect(told).toEqual(['mars', 'mars']);
    await team.clock.advanceAsync(1);
    expect(told).toEqual(['mars', 'mars', 'venus']);
    await accept('venus', { round: 1, epoch: 2 });
    expect(await deciding).toMatchObject({ acceptedBy: 'venus', epoch: 2 });
  });

  it('ends by the word of either side, which the other learns', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const mars = team.negotiator('mars', willing);
    const proposer = team.negotiator('sun');
    for (const [ending, other, reason] of [
      [mars, proposer, 'COMPLETED'],
      [proposer, mars, 'NOT_WANTED'],
    ] as const) {
      const { proposalId } = await proposer.propose(proposalOf());
      await ending.release(proposalId, reason);
      await team.settle();
      expect(other.getProposal(proposalId)).toMatchObject({
        status: 'accepted',
        isHeld: false,
        rejectionReason: reason,
      });
      await ending.release(proposalId, 'AGAIN');
      expect(ending.getProposal(proposalId)?.rejectionReason).toBe(reason);
    }
    expect(team.clock.pending).toBe(0);
  });

  it('goes to the next in line when nothing is heard of the first', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('venus')]);
    const venus = team.negotiator('venus', silent);
    const proposer = team.negotiator('sun');
    const proposed = proposer.propose(proposalOf({ deadlineMs: 60_000 }), { leaseMs: 2_000 });
    await team.settle();
    const [{ proposalId } = { proposalId: '' }] = proposer.listPending();
    await team.say({
      sender: 'mars',
      recipient: 'sun',
      type: 'task-accept',
      payload: { proposalId, acceptedBy: 'mars', estimatedCompletionMs: 1, round: 0 },
    });
    const accepted = venus.accept(proposalId, 10);
    await team.settle();
    expect(proposer.getProposal(proposalId)?.status).toBe('pending');
    await team.clock.advanceAsync(2_000);
    await team.clock.advanceAsync(1_000);
    await accepted;
    expect(await proposed).toMatchObject({ status: 'accepted', acceptedBy: 'venus', epoch: 2 });
  });
});

describe('The end of a negotiator', () => {
  it('withdraws, declines and gives back everything, and leaves no timer', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('venus')]);
    const mars = team.negotiator('mars', willing);
    const venus = team.negotiator('venus', silent);
    const proposer = team.negotiator('sun');
    const held = await proposer.propose(proposalOf(), { to: 'mars' });
    const open = proposer.propose(proposalOf(), { to: 'venus' });
    await team.settle();
    await proposer.close();
    expect(await open).toMatchObject({ status: 'rejected', rejectionReason: 'AGENT_ENDED' });
    await team.settle();
    expect(mars.getProposal(held.proposalId)).toMatchObject({
      isHeld: false,
      rejectionReason: 'AGENT_ENDED',
    });
    expect(venus.listPending()).toEqual([]);
    expect(team.clock.pending).toBe(0);
  });

  it('is noticed by a proposer whose agent it was', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('venus')]);
    const mars = team.negotiator('mars', willing);
    const venus = team.negotiator('venus', silent);
    const proposer = team.negotiator('sun');
    const held = await proposer.propose(proposalOf(), { to: 'mars' });
    const open = proposer.propose(proposalOf(), { to: 'venus' });
    await team.settle();
    await mars.close();
    await venus.close();
    expect(await open).toMatchObject({ status: 'rejected', rejectionReason: 'AGENT_ENDED' });
    expect(proposer.getProposal(held.proposalId)).toMatchObject({
      isHeld: false,
      rejectionReason: 'AGENT_ENDED',
    });
    expect(team.clock.pending).toBe(0);
  });

  it('leaves what it knew to the next one of its agent, as ended', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('venus')]);
    const store = new InMemoryProposalStore();
    const mars = team.negotiator('mars', willing);
    team.negotiator('venus', silent);
    const { port, stop } = deafPort(team, 'sun');
    const before = team.negotiator('sun', { store, port });
    const held = await before.propose(proposalOf(), { to: 'mars', leaseMs: 3_000 });
    void before.propose(proposalOf(), { to: 'venus' });
    await team.settle();
    stop();
    const after = team.negotiator('sun', { store });
    expect(after.listPending()).toEqual([]);
    expect(after.getProposal(held.proposalId)).toMatchObject({ status: 'accepted', isHeld: false });
    await team.clock.advanceAsync(1_000);
    expect(mars.getProposal(held.proposalId)).toMatchObject({
      isHeld: false,
      rejectionReason: 'AGENT_ENDED',
    });
  });

  it('comes when a signal says so: the proposal is withdrawn, and whoever waits gets CANCELLED', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const mars = team.negotiator('mars', silent);
    const proposer = team.negotiator('sun');
    const stop = new AbortController();
    const proposed = rejection(proposer.propose(proposalOf(), { signal: stop.signal }));
    await team.settle();
    const [{ proposalId } = { proposalId: '' }] = proposer.listPending();
    stop.abort();
    expect((await proposed).code).toBe('CANCELLED');
    await team.settle();
    expect(proposer.getProposal(proposalId)).toMatchObject({
      status: 'rejected',
      rejectionReason: 'WITHDRAWN',
    });
    expect((await rejection(mars.accept(proposalId, 1))).code).toBe('REFUSED');
    expect((await rejection(proposer.propose(proposalOf(), { signal: stop.signal }))).code).toBe('CANCELLED');
  });
});
