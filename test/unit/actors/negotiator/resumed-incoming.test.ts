import { describe, expect, it } from 'vitest';
import { takeOn } from '../../../../actors/negotiator/decision.ts';
import { durableTeam, idOf } from './durable-team.ts';
import { proposalOf, silent, willing } from './negotiating-team.ts';

describe('A proposal at an agent that ends and is there again (F-02)', () => {
  it('is open for the time that it had left: it can be accepted, or rejected, by its id', async () => {
    const team = durableTeam('mars', 'venus');
    const mars = team.lives('mars', silent);
    const venus = team.lives('venus', silent);
    const proposer = team.negotiator('sun');
    const proposed = proposer.propose(proposalOf({ deadlineMs: 1_000 }));
    await team.clock.advanceAsync(300);
    const before = mars.current.listPending();
    for (const one of [mars, venus]) one.restart();
    expect(mars.current.listPending()).toEqual(before);
    await venus.current.reject(idOf(venus), 'NO');
    await team.clock.advanceAsync(699);
    await mars.current.accept(idOf(mars), 10);
    expect(await proposed).toMatchObject({ status: 'accepted', acceptedBy: 'mars' });
    expect(proposer.getRecord((await proposed).proposalId)?.answers).toMatchObject([
      { agentId: 'venus', reason: 'NO' },
      { agentId: 'mars' },
    ]);
  });

  it('expires there when that time is over, at once if it is', async () => {
    for (const jumpMs of [0, 600]) {
      const team = durableTeam('mars');
      const mars = team.lives('mars', silent);
      void team.negotiator('sun').propose(proposalOf({ deadlineMs: 1_000 }));
      await team.clock.advanceAsync(400);
      team.line.isCut = true;
      const proposalId = idOf(mars);
      mars.restart(() => team.clock.jump(jumpMs));
      if (jumpMs === 0) {
        await team.clock.advanceAsync(599);
        expect(mars.current.getProposal(proposalId)?.status).toBe('pending');
        await team.clock.advanceAsync(1);
      }
      expect(mars.current.getProposal(proposalId)).toMatchObject({
        status: 'timed-out',
        rejectionReason: 'TIMED_OUT',
      });
    }
  });

  it('is decided when its own envelope is handled again, or it is proposed again; once in each life', async () => {
    const team = durableTeam('mars');
    let considered = 0;
    const mars = team.lives('mars', {
      decide: () => {
        considered += 1;
        return undefined;
      },
    });
    void team.negotiator('sun').propose(proposalOf());
    await team.settle();
    const [own] = team.inbox('mars', 'task-proposal');
    if (own === undefined) throw new Error('mars was not asked');
    for (const envelope of [own, { ...own, id: 'another' }]) {
      mars.restart();
      const before = considered;
      await mars.current.consider(envelope);
      await mars.current.consider(own);
      await mars.current.consider({ ...own, id: 'a third' });
      expect(considered).toBe(before + 1);
    }
    mars.restart();
    await mars.current.consider(own, willing.decide);
    await team.settle();
    expect(
      mars.current.getProposal(idOf(mars) || (own.payload as { proposalId: string }).proposalId),
    ).toMatchObject({ status: 'accepted', isHeld: true });
  });

  it('which it took on goes on being said, with the estimate that it gave', async () => {
    const team = durableTeam('mars');
    const mars = team.lives('mars', silent);
    const proposed = team.negotiator('sun').propose(proposalOf({ deadlineMs: 10_000 }));
    await team.settle();
    const proposalId = idOf(mars);
    team.line.isCut = true;
    void mars.current.accept(proposalId, 77).catch(() => undefined);
    mars.restart(() => team.clock.jump(100));
    expect(mars.current.getProposal(proposalId)).toMatchObject({ isHeld: false, estimatedCompletionMs: 77 });
    team.line.isCut = false;
    await team.clock.advanceAsync(900);
    expect(await proposed).toMatchObject({
      status: 'accepted',
      acceptedBy: 'mars',
      estimatedCompletionMs: 77,
    });
    expect(mars.current.getProposal(proposalId)?.isHeld).toBe(true);
  });

  it.each([
    ['which it remembers', true],
    ['which it has forgotten', false],
  ])('gets nothing by an answer to what it said in a former life, %s', async (_, isDurable) => {
    const team = durableTeam('mars');
    const mars = team.lives('mars', { ...willing, ...(isDurable ? {} : { kept: undefined }) });
    const about = { proposalId: 'one', ...proposalOf({ deadlineMs: 60_000 }) };
    const fromSun = { sender: 'sun', recipient: 'mars' };
    const ask = () => team.say({ ...fromSun, type: 'task-proposal', payload: about });
    const assign = (round: unknown) => {
      const payload = { proposalId: 'one', acceptedBy: 'mars', epoch: 1, leaseMs: 3_000, round };
      return team.say({ ...fromSun, type: 'task-accept', payload });
    };
    const rounds = () =>
      team.inbox('sun', 'task-accept').map(({ payload }) => (payload as { round: number }).round);
    await ask();
    await team.settle();
    const [former] = rounds();
    mars.restart(() => team.clock.jump(2_500));
    if (!isDurable) await ask();
    await team.settle();
    await assign(former);
    expect(mars.current.getProposal('one')?.isHeld).toBe(false);
    await assign(rounds().at(-1));
    expect(mars.current.getProposal('one')?.isHeld).toBe(true);
  });

  it('which it has it goes on renewing; without an answer it has it for the lease that was left', async () => {
    const team = durableTeam('mars');
    const mars = team.lives('mars', { decide: () => takeOn({ estimatedCompletionMs: 60_000 }) });
    const proposer = team.negotiator('sun');
    const { proposalId } = await proposer.propose(proposalOf(), { leaseMs: 3_000 });
    const before = mars.current.getRecord(proposalId);
    mars.restart(() => team.clock.jump(500));
    expect(mars.current.getRecord(proposalId)).toEqual(before);
    await team.clock.advanceAsync(30_000);
    expect(proposer.getProposal(proposalId)?.isHeld).toBe(true);
    // It was renewed 500 ms ago.
    team.line.isCut = true;
    mars.restart(() => team.clock.jump(500));
    await team.clock.advanceAsync(1_900);
    expect(mars.current.getProposal(proposalId)?.isHeld).toBe(true);
    await team.clock.advanceAsync(100);
    expect(mars.current.getProposal(proposalId)).toMatchObject({ isHeld: false, rejectionReason: 'LAPSED' });
  });

  it('is given back when it takes far too long, however often the agent ends meanwhile', async () => {
    const team = durableTeam('mars');
    const mars = team.lives('mars', willing);
    const proposer = team.negotiator('sun');
    const { proposalId } = await proposer.propose(proposalOf());
    for (let times = 0; times < 6; times++) {
      await team.clock.advanceAsync(10_000);
      mars.restart();
    }
    expect(mars.current.getProposal(proposalId)?.isHeld).toBe(true);
    await team.clock.advanceAsync(1_000);
    for (const one of [mars.current, proposer])
      expect(one.getProposal(proposalId)).toMatchObject({ isHeld: false, rejectionReason: 'OVERDUE' });
    expect(team.clock.pending).toBe(0);
  });

  it('is declined when its handling was cut off; what had been decided by then, was', async () => {
    const team = durableTeam('mars', 'venus');
    const mars = team.lives('mars', silent);
    const venus = team.lives('venus', willing);
    const proposer = team.negotiator('sun');
    for (const one of [mars, venus]) {
      const proposed = proposer.propose(proposalOf(), { to: one.current.agentId });
      await team.settle();
      one.restart();
      const [own] = team.inbox(one.current.agentId, 'task-proposal');
      if (own === undefined) throw new Error('nobody was asked');
      one.current.lost({ ...own, id: 'another' }, 'ACTOR_DIED');
      one.current.lost(own, 'ACTOR_DIED');
      await team.settle();
      const { proposalId } = await proposed;
      const kept = proposer.getProposal(proposalId);
      if (one === mars) expect(kept).toMatchObject({ status: 'rejected', rejectionReason: 'ACTOR_DIED' });
      else expect(kept).toMatchObject({ status: 'accepted', isHeld: true });
    }
  });
});
