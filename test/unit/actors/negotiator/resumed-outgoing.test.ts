import { describe, expect, it } from 'vitest';
import { takeOn } from '../../../../actors/negotiator/decision.ts';
import { durableTeam, idOf } from './durable-team.ts';
import { proposalOf, silent, unwilling, willing } from './negotiating-team.ts';

describe('A proposal whose proposer ends and is there again (F-02, N-7.4)', () => {
  it('has the time that it had left, and is then timed-out', async () => {
    const team = durableTeam('mars');
    team.negotiator('mars', silent);
    const sunny = team.lives('sun');
    void sunny.current.propose(proposalOf({ deadlineMs: 1_000 }));
    await team.clock.advanceAsync(400);
    const before = sunny.current.getProposal(idOf(sunny));
    sunny.restart(() => team.clock.jump(300));
    const proposalId = idOf(sunny);
    expect(sunny.current.getProposal(proposalId)).toEqual(before);
    await team.clock.advanceAsync(299);
    expect(sunny.current.getProposal(proposalId)?.status).toBe('pending');
    await team.clock.advanceAsync(1);
    expect(sunny.current.getProposal(proposalId)).toMatchObject({
      status: 'timed-out',
      rejectionReason: 'TIMED_OUT',
      deadlineMs: 1_000,
    });
    expect(team.events.filter(({ errorCode }) => errorCode === 'PROPOSAL_TIMEOUT')).toHaveLength(1);
    await team.settle();
    expect(team.clock.pending).toBe(0);
  });

  it('is timed-out at once when its time is over, and says so to everybody', async () => {
    const team = durableTeam('mars');
    const mars = team.negotiator('mars', silent);
    const sunny = team.lives('sun');
    void sunny.current.propose(proposalOf({ deadlineMs: 1_000 }));
    await team.settle();
    const proposalId = idOf(sunny);
    sunny.restart(() => team.clock.jump(1_000));
    expect(sunny.current.getProposal(proposalId)?.status).toBe('timed-out');
    await team.settle();
    expect(team.events).toContainEqual(
      expect.objectContaining({ type: 'timed-out', errorCode: 'PROPOSAL_TIMEOUT' }),
    );
    expect(team.inbox('mars', 'task-reject').at(-1)?.payload).toMatchObject({ rejectionReason: 'TIMED_OUT' });
    expect(mars.listPending()).toEqual([]);
  });

  it('is proposed again under its id to those who have not answered; they consider it once', async () => {
    const team = durableTeam('mars', 'venus');
    team.negotiator('mars', unwilling('NO'));
    let considered = 0;
    const venus = team.negotiator('venus', {
      decide: () => {
        considered += 1;
        return undefined;
      },
    });
    const sunny = team.lives('sun');
    void sunny.current.propose(proposalOf({ deadlineMs: 1_000 }));
    await team.clock.advanceAsync(100);
    const proposalId = idOf(sunny);
    sunny.restart();
    sunny.restart();
    await team.settle();
    expect(team.inbox('mars', 'task-proposal')).toHaveLength(1);
    const asked = team.inbox('venus', 'task-proposal');
    expect(asked).toHaveLength(3);
    expect(new Set(asked.map(({ payload }) => (payload as { proposalId: string }).proposalId))).toEqual(
      new Set([proposalId]),
    );
    expect(new Set(asked.map(({ metadata }) => metadata?.deadlineAtMs)).size).toBe(1);
    expect(considered).toBe(1);
    await venus.accept(proposalId, 10);
    expect(sunny.current.getProposal(proposalId)).toMatchObject({ status: 'accepted', acceptedBy: 'venus' });
  });

  it('counts the answers that there were', async () => {
    const team = durableTeam('mars', 'venus');
    team.negotiator('mars', unwilling('NO'));
    const venus = team.negotiator('venus', silent);
    const sunny = team.lives('sun');
    void sunny.current.propose(proposalOf());
    await team.settle();
    const proposalId = idOf(sunny);
    sunny.restart();
    await team.settle();
    await venus.reject(proposalId, 'NOR_I');
    await team.settle();
    expect(sunny.current.getProposal(proposalId)).toMatchObject({
      status: 'rejected',
      rejectionReason: 'NOR_I',
    });
    expect(sunny.current.getRecord(proposalId)?.answers).toMatchObject([
      { agentId: 'mars', reason: 'NO' },
      { agentId: 'venus', reason: 'NOR_I' },
    ]);
  });

  it('gets the answer again of an agent whose answer was lost', async () => {
    const team = durableTeam('mars');
    const mars = team.negotiator('mars', silent);
    const sunny = team.lives('sun');
    void sunny.current.propose(proposalOf());
    await team.settle();
    const proposalId = idOf(sunny);
    team.line.isCut = true;
    await mars.reject(proposalId, 'NO');
    team.line.isCut = false;
    sunny.restart();
    await team.settle();
    expect(sunny.current.getProposal(proposalId)).toMatchObject({
      status: 'rejected',
      rejectionReason: 'NO',
    });
  });

  it('which was about to be confirmed is confirmed, or goes to the next when the lease is over', async () => {
    const team = durableTeam('mars', 'venus');
    const sunny = team.lives('sun');
    const round = { estimatedCompletionMs: 1, round: 0 };
    const say = (sender: string, proposalId: string, fields: object) =>
      team.say({
        sender,
        recipient: 'sun',
        type: 'task-accept',
        payload: { proposalId, acceptedBy: sender, ...round, ...fields },
      });
    const confirmed = sunny.current.propose(proposalOf({ deadlineMs: 60_000 }), { leaseMs: 3_000 });
    await team.settle();
    const first = idOf(sunny);
    await say('mars', first, {});
    sunny.restart();
    await say('mars', first, { epoch: 1 });
    expect(sunny.current.getProposal(first)).toMatchObject({
      status: 'accepted',
      acceptedBy: 'mars',
      epoch: 1,
    });
    void confirmed;

    void sunny.current.propose(proposalOf({ deadlineMs: 60_000 }), { leaseMs: 3_000 });
    await team.settle();
    const second = idOf(sunny);
    await say('mars', second, {});
    await say('venus', second, {});
    sunny.restart(() => team.clock.jump(1_000));
    await team.clock.advanceAsync(1_999);
    expect(team.inbox('venus', 'task-accept')).toHaveLength(0);
    await team.clock.advanceAsync(2);
    expect(team.inbox('venus', 'task-accept').at(-1)?.payload).toMatchObject({
      acceptedBy: 'venus',
      epoch: 2,
    });
    await say('venus', second, { epoch: 2 });
    expect(sunny.current.getProposal(second)).toMatchObject({ status: 'accepted', acceptedBy: 'venus' });
  });

  it('which was accepted stays with whoever has it, who goes on renewing it', async () => {
    const team = durableTeam('mars');
    const mars = team.negotiator('mars', { decide: () => takeOn({ estimatedCompletionMs: 30_000 }) });
    const sunny = team.lives('sun');
    const { proposalId } = await sunny.current.propose(proposalOf(), { leaseMs: 3_000 });
    const before = sunny.current.getRecord(proposalId);
    sunny.restart(() => team.clock.jump(500));
    expect(sunny.current.getRecord(proposalId)).toEqual(before);
    await team.clock.advanceAsync(60_000);
    expect([mars, sunny.current].map((one) => one.getProposal(proposalId)?.isHeld)).toEqual([true, true]);
    await mars.release(proposalId);
    await team.settle();
    expect(sunny.current.getProposal(proposalId)).toMatchObject({
      isHeld: false,
      rejectionReason: 'COMPLETED',
    });
    expect(team.clock.pending).toBe(0);
  });

  it('which was accepted lapses when the lease that it had left is over', async () => {
    const team = durableTeam('mars');
    team.negotiator('mars', willing);
    const sunny = team.lives('sun');
    const { proposalId } = await sunny.current.propose(proposalOf(), { leaseMs: 3_000 });
    team.line.isCut = true;
    await team.clock.advanceAsync(900);
    sunny.restart(() => team.clock.jump(600));
    await team.clock.advanceAsync(1_499);
    expect(sunny.current.getProposal(proposalId)?.isHeld).toBe(true);
    await team.clock.advanceAsync(2);
    expect(sunny.current.getProposal(proposalId)).toMatchObject({ isHeld: false, rejectionReason: 'LAPSED' });
  });

  it('comes back at once from an agent that has forgotten that it has it', async () => {
    const team = durableTeam('mars');
    const mars = team.lives('mars', { kept: undefined, ...willing });
    const sunny = team.lives('sun');
    const { proposalId } = await sunny.current.propose(proposalOf());
    mars.restart();
    sunny.restart();
    await team.settle();
    expect(sunny.current.getProposal(proposalId)).toMatchObject({
      status: 'accepted',
      isHeld: false,
      rejectionReason: 'NOT_HELD',
    });
    expect(team.clock.pending).toBe(0);
  });
});
