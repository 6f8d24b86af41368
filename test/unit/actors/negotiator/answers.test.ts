import { describe, expect, it } from 'vitest';
import type { FakeClock } from '../../../fixtures/fake-clock.ts';
import { cardOf } from '../../routing/standalone-team.ts';
import { negotiatingTeam, proposalOf, silent, sun, unwilling, willing, worker } from './negotiating-team.ts';

describe('Answers without effect (F-07)', () => {
  const answer = (team: ReturnType<typeof negotiatingTeam>, sender: string, proposalId: string) => ({
    accept: (round: number) =>
      team.say({
        sender,
        recipient: 'sun',
        type: 'task-accept',
        payload: { proposalId, acceptedBy: sender, estimatedCompletionMs: 1, round },
      }),
    reject: (rejectionReason: string) =>
      team.say({ sender, recipient: 'sun', type: 'task-reject', payload: { proposalId, rejectionReason } }),
  });

  async function proposedTo(...ids: string[]) {
    const team = negotiatingTeam([sun, ...ids.map((id) => worker(id)), worker('stranger')]);
    const proposer = team.negotiator('sun');
    const proposed = proposer.propose(proposalOf(), { to: ids });
    await team.settle();
    const [{ proposalId } = { proposalId: '' }] = proposer.listPending();
    const effects = () =>
      proposer.getRecord(proposalId)?.answers.map(({ agentId, effect }) => `${agentId} ${effect}`);
    return {
      team,
      proposer,
      proposed,
      proposalId,
      effects,
      of: (id: string) => answer(team, id, proposalId),
    };
  }

  it('are those of an agent that was not asked', async () => {
    const { team, proposer, proposalId, effects, of } = await proposedTo('mars');
    await of('stranger').accept(0);
    await of('stranger').reject('NO');
    await team.settle();
    expect(effects()).toEqual(['stranger foreign', 'stranger foreign']);
    expect(proposer.getProposal(proposalId)?.status).toBe('pending');
    expect(team.inbox('stranger', 'task-reject')[0]?.payload).toMatchObject({ rejectionReason: 'NOT_OPEN' });
  });

  it('are those that say it again, or the opposite of what was said', async () => {
    const { team, proposer, proposalId, effects, of } = await proposedTo('mars', 'venus');
    await of('mars').reject('NO');
    await of('mars').reject('NO');
    await of('mars').accept(0);
    await team.settle();
    expect(effects()).toEqual(['mars counted', 'mars double', 'mars contradictory']);
    expect(proposer.getProposal(proposalId)?.status).toBe('pending');
    await of('venus').accept(0);
    await of('venus').accept(1);
    await team.settle();
    expect(effects()?.slice(3)).toEqual(['venus counted', 'venus double']);
    expect(proposer.getProposal(proposalId)?.status).toBe('pending');
  });

  it('are those after the decision', async () => {
    const { team, proposer, proposed, proposalId, effects, of } = await proposedTo('mars', 'venus');
    await of('mars').accept(0);
    await team.settle();
    await team.say({
      sender: 'mars',
      recipient: 'sun',
      type: 'task-accept',
      payload: { proposalId, acceptedBy: 'mars', round: 1, epoch: 1, estimatedCompletionMs: 1 },
    });
    expect(await proposed).toMatchObject({ acceptedBy: 'mars' });
    await of('venus').accept(0);
    await of('venus').reject('NO');
    await team.settle();
    expect(effects()).toEqual(['mars counted', 'venus late', 'venus late']);
    expect(proposer.getProposal(proposalId)).toMatchObject({ status: 'accepted', acceptedBy: 'mars' });
    expect(team.inbox('venus', 'task-reject').at(-1)?.payload).toMatchObject({ rejectionReason: 'TAKEN' });
  });

  it('are an assignment, or a refusal, of somebody who has not proposed it', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('stranger')]);
    const mars = team.negotiator('mars', willing);
    const { proposalId } = await team.negotiator('sun').propose(proposalOf(), { to: 'mars' });
    const forged = { sender: 'stranger', recipient: 'mars' };
    await team.say({ ...forged, type: 'task-reject', payload: { proposalId, rejectionReason: 'COMPLETED' } });
    const payload = { proposalId, acceptedBy: 'mars', epoch: 9, leaseMs: 1, round: 0 };
    await team.say({ ...forged, type: 'task-accept', payload });
    await team.settle();
    expect(mars.getProposal(proposalId)).toMatchObject({ isHeld: true, epoch: 1 });
    expect(team.inbox('stranger', 'task-reject')[0]?.payload).toMatchObject({ rejectionReason: 'NOT_HELD' });
  });

  it('are a refusal, before the proposal has come, of somebody who has not proposed it', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('stranger')]);
    team.negotiator('mars', willing);
    const refuse = (sender: string, proposalId: string) => {
      const payload = { proposalId, rejectionReason: 'WITHDRAWN' };
      return team.say({ sender, recipient: 'mars', type: 'task-reject', payload });
    };
    await refuse('stranger', 'wanted');
    await refuse('sun', 'withdrawn');
    for (let at = 0; at < 300; at += 1) await refuse('stranger', `made-up-${at}`);
    const propose = (proposalId: string) =>
      team.say({
        sender: 'sun',
        recipient: 'mars',
        type: 'task-proposal',
        payload: { ...proposalOf(), proposalId },
      });
    await propose('withdrawn');
    await propose('wanted');
    await team.settle();
    const accepted = team.inbox('sun', 'task-accept').map(({ payload }) => payload);
    expect(accepted).toMatchObject([{ proposalId: 'wanted' }]);
  });

  it('are none of its own: a proposal whose id another agent has used is declined at once', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('stranger')]);
    team.negotiator('mars', willing);
    const payload = { ...proposalOf(), proposalId: 'one' };
    for (const sender of ['stranger', 'sun'])
      await team.say({ sender, recipient: 'mars', type: 'task-proposal', payload });
    await team.settle();
    expect(team.inbox('stranger', 'task-accept')).toHaveLength(1);
    expect(team.inbox('sun').map(({ type }) => type)).toEqual(['task-reject']);
  });

  it('push out what the same agent said before, and nothing that another one said', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('stranger')]);
    team.negotiator('mars', willing);
    const proposer = team.negotiator('sun');
    const { proposalId } = await proposer.propose(proposalOf(), { to: 'mars' });
    for (let at = 0; at < 200; at += 1) {
      const payload = { proposalId, rejectionReason: `no ${at}` };
      await team.say({ sender: 'stranger', recipient: 'sun', type: 'task-reject', payload });
    }
    await team.settle();
    const answers = proposer.getRecord(proposalId)?.answers ?? [];
    const of = (id: string) => answers.filter(({ agentId }) => agentId === id);
    expect(of('mars')).toMatchObject([{ type: 'task-accept', effect: 'counted' }]);
    expect([of('stranger').length < 50, of('stranger').at(-1)?.reason]).toEqual([true, 'no 199']);
  });

  it('are the second copies of an envelope', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const mars = team.negotiator('mars', willing);
    let seen = 0;
    mars.onEvent(({ type }) => {
      if (type === 'received' || type === 'assigned') seen += 1;
    });
    const record = await team.negotiator('sun').propose(proposalOf());
    for (const envelope of team.router.thread(record.correlationId)) await team.router.send(envelope);
    await team.settle();
    expect(seen).toBe(2);
    expect(mars.getProposal(record.proposalId)?.isHeld).toBe(true);
  });
});

describe('An alternative (N-7.3)', () => {
  it('is asked when it has the capabilities and was not asked yet', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('venus')]);
    team.negotiator('mars', unwilling('BUSY', 'venus'));
    team.negotiator('venus', willing);
    const proposer = team.negotiator('sun');
    const record = await proposer.propose(proposalOf(), { to: 'mars' });
    expect(record).toMatchObject({ status: 'accepted', acceptedBy: 'venus' });
    expect(proposer.getRecord(record.proposalId)?.asked).toEqual(['mars', 'venus']);
    expect(team.inbox('venus', 'task-proposal')[0]?.correlationId).toBe(record.correlationId);
  });

  it.each([
    ['it lacks the capability', 'pluto'],
    ['it does not exist', 'nobody'],
    ['it is the proposer', 'sun'],
    ['it may not be asked', 'boxed'],
    ['it was asked already', 'mars'],
  ])('is not asked when %s', async (_why, alternative) => {
    const team = negotiatingTeam([
      sun,
      worker('mars'),
      cardOf('pluto', { tier: 0 }),
      worker('boxed', { sandboxId: 'box' }),
    ]);
    team.negotiator('mars', unwilling('BUSY', alternative));
    for (const id of ['pluto', 'boxed']) team.negotiator(id, willing);
    const record = await team.negotiator('sun').propose(proposalOf(), { to: 'mars' });
    expect(record).toMatchObject({
      status: 'rejected',
      rejectionReason: 'BUSY',
      alternativeSuggestion: alternative,
    });
    expect(record.acceptedBy).toBeUndefined();
  });

  it('is asked as often as the proposer lets it be', async () => {
    const ids = ['a', 'b', 'c', 'd', 'e'];
    const team = negotiatingTeam([sun, ...ids.map((id) => worker(id))]);
    ids.forEach((id, at) => {
      team.negotiator(id, unwilling('BUSY', ids[at + 1] ?? 'a'));
    });
    const proposer = team.negotiator('sun');
    const asked = async (alternatives?: number) => {
      const options = { to: 'a', ...(alternatives === undefined ? {} : { alternatives }) };
      const { proposalId } = await proposer.propose(proposalOf(), options);
      return proposer.getRecord(proposalId)?.asked.join('');
    };
    expect([await asked(0), await asked(1), await asked()]).toEqual(['a', 'ab', 'abcd']);
  });
});

describe('Whoever does not speak the protocol', () => {
  it('has the task by accepting it in the words of the seed', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const proposer = team.negotiator('sun');
    const proposed = proposer.propose(proposalOf());
    await team.settle();
    const [asked] = team.inbox('mars', 'task-proposal');
    const { correlationId = '' } = asked ?? {};
    const payload = { estimatedCompletionMs: 40 };
    await team.say({ sender: 'mars', recipient: 'sun', type: 'task-accept', correlationId, payload });
    const record = await proposed;
    expect(record).toMatchObject({ status: 'accepted', acceptedBy: 'mars', estimatedCompletionMs: 40 });
    await team.clock.advanceAsync(1_000_000);
    expect(proposer.getProposal(record.proposalId)?.isHeld).toBe(true);
  });

  it('has it as soon as whoever was first turns out not to', async () => {
    const ends = { gives: () => undefined, lapses: (clock: FakeClock) => clock.advance(10_001) };
    for (const [how, end] of Object.entries(ends)) {
      const team = negotiatingTeam([sun, worker('mars'), worker('venus')]);
      const proposer = team.negotiator('sun');
      const proposed = proposer.propose(proposalOf({ deadlineMs: 60_000 }));
      await team.settle();
      const [{ proposalId } = { proposalId: '' }] = proposer.listPending();
      const { correlationId = '' } = team.inbox('venus', 'task-proposal')[0] ?? {};
      const say = (sender: string, type: 'task-accept' | 'task-reject', payload: object) =>
        team.say({ sender, recipient: 'sun', type, correlationId, payload });
      await say('mars', 'task-accept', {
        proposalId,
        acceptedBy: 'mars',
        estimatedCompletionMs: 1,
        round: 0,
      });
      await say('venus', 'task-accept', { estimatedCompletionMs: 40 });
      expect(proposer.getProposal(proposalId)?.status).toBe('pending');
      if (how === 'gives') await say('mars', 'task-reject', { proposalId });
      end(team.clock);
      expect(await proposed).toMatchObject({ acceptedBy: 'venus', epoch: 2, estimatedCompletionMs: 40 });
      expect(team.inbox('venus', 'task-accept')).toMatchObject([{ payload: { acceptedBy: 'venus' } }]);
      await team.clock.advanceAsync(1_000_000);
      expect(proposer.getProposal(proposalId)?.isHeld).toBe(true);
      expect(team.clock.pending).toBe(0);
    }
  });

  it('declines in them', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const proposed = team.negotiator('sun').propose(proposalOf());
    await team.settle();
    const { correlationId = '' } = team.inbox('mars', 'task-proposal')[0] ?? {};
    await team.say({ sender: 'mars', recipient: 'sun', type: 'task-reject', correlationId, payload: null });
    expect(await proposed).toMatchObject({ status: 'rejected', rejectionReason: 'REJECTED' });
  });

  it('is answered in them when it proposes', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const mars = team.negotiator('mars', willing);
    await team.say({
      id: 'raw',
      sender: 'sun',
      recipient: 'mars',
      type: 'task-proposal',
      payload: proposalOf(),
    });
    await team.settle();
    expect(team.inbox('sun', 'task-accept')).toMatchObject([
      { payload: { acceptedBy: 'mars', estimatedCompletionMs: 500 }, metadata: { inReplyTo: 'raw' } },
    ]);
    expect(mars.getProposal('raw')).toMatchObject({ status: 'accepted', acceptedBy: 'mars' });
    expect(team.clock.pending).toBe(0);
  });
});

describe('An agent without a word of its own', () => {
  it('takes on what its card has the capabilities for, and declines the rest', async () => {
    const team = negotiatingTeam([sun, worker('mars'), cardOf('pluto', { tier: 0 })]);
    for (const id of ['mars', 'pluto']) team.negotiator(id);
    const proposer = team.negotiator('sun');
    expect(await proposer.propose(proposalOf(), { to: 'mars' })).toMatchObject({
      acceptedBy: 'mars',
      estimatedCompletionMs: 1_000,
    });
    expect(await proposer.propose(proposalOf(), { to: 'pluto' })).toMatchObject({
      rejectionReason: 'NOT_CAPABLE',
    });
  });

  it('decides nothing where somebody is told of every proposal', async () => {
    const team = negotiatingTeam([sun, worker('mars')]);
    const mars = team.negotiator('mars');
    const heard: string[] = [];
    const stop = mars.onProposalReceived(({ taskDescription, status }) =>
      heard.push(`${taskDescription} ${status}`),
    );
    const proposer = team.negotiator('sun');
    const proposed = proposer.propose(proposalOf());
    await team.settle();
    expect(heard).toEqual(['Do the work pending']);
    const [{ proposalId } = { proposalId: '' }] = mars.listPending();
    await mars.reject(proposalId, 'NOT_NOW', 'venus');
    expect(await proposed).toMatchObject({ rejectionReason: 'NOT_NOW', alternativeSuggestion: 'venus' });
    stop();
    expect(await proposer.propose(proposalOf())).toMatchObject({ status: 'accepted' });
  });
});

describe('An agent that proposes without end', () => {
  it('has a thousand proposals open with another one: the next is declined, until one of them is over', async () => {
    const team = negotiatingTeam([sun, worker('mars'), worker('venus')]);
    team.negotiator('mars', silent);
    const propose = (sender: string, id: string) =>
      team.say({
        id,
        sender,
        recipient: 'mars',
        type: 'task-proposal',
        payload: { ...proposalOf({ deadlineMs: id === 'first' ? 1_000 : 60_000 }), proposalId: id },
      });
    await propose('sun', 'first');
    for (let at = 1; at < 1_000; at += 1) await propose('sun', `p${at}`);
    await team.settle();
    expect(team.inbox('sun', 'task-reject')).toEqual([]);
    await propose('sun', 'more');
    await propose('venus', 'another');
    await team.settle();
    const declined = { proposalId: 'more', rejectionReason: 'BUSY' };
    expect(team.inbox('sun', 'task-reject').map(({ payload }) => payload)).toEqual([declined]);
    expect(team.inbox('venus', 'task-reject')).toEqual([]);
    await team.clock.advanceAsync(1_001);
    await propose('sun', 'later');
    await team.settle();
    expect(team.inbox('sun', 'task-reject').map(({ payload }) => payload)).not.toContainEqual(
      expect.objectContaining({ proposalId: 'later' }),
    );
  });
});
