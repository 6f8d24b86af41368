import { describe, expect, it } from 'vitest';
import { takeOn } from '../../../../actors/negotiator/decision.ts';
import { routerMedium } from '../../../../actors/negotiator/router-medium.ts';
import type { TaskNegotiatorOptions } from '../../../../actors/negotiator/task-negotiator.ts';
import { OrreryError } from '../../../../runtime/protocol/errors.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { rejection } from '../../../fixtures/until.ts';
import { KeptTexts, NegotiatorLives } from './negotiator-lives.ts';
import { negotiatingTeam, proposalOf, silent, sun, unwilling, willing, worker } from './negotiating-team.ts';

/** Agents around one router; those that `lives` makes outlive their negotiators. */
function durableTeam(...ids: string[]) {
  const team = negotiatingTeam([sun, ...ids.map((id) => worker(id))]);
  const { router, registry, seams, line, events } = team;
  const mediumOf = (agentId: string) => {
    const medium = routerMedium({ agentId, router, registry, seams });
    const lost = {
      delivered: true,
      path: 'local',
      targetAgentId: '',
      latencyMs: 0,
      envelopeId: 'lost',
    } as const;
    return {
      ...medium,
      send: ((message, cause) =>
        line.isCut ? Promise.resolve(lost) : medium.send(message, cause)) as typeof medium.send,
    };
  };
  const lives = (
    agentId: string,
    options: Partial<TaskNegotiatorOptions> & { kept?: KeptTexts | undefined; capacity?: number } = {},
  ) =>
    new NegotiatorLives({
      agentId,
      seams,
      medium: mediumOf(agentId),
      onEvent: (event) => events.push(event),
      kept: new KeptTexts(),
      ...options,
    } as ConstructorParameters<typeof NegotiatorLives>[0]);
  return { ...team, lives };
}

/** The one proposal that is open. */
const idOf = ({ current }: NegotiatorLives): string => {
  const [{ proposalId } = { proposalId: '' }] = current.listPending();
  return proposalId;
};

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

describe('What is kept of proposals', () => {
  it('is dropped of those that are over, but for the newest', async () => {
    const team = durableTeam('mars');
    team.negotiator('mars', unwilling('NO'));
    const kept = new KeptTexts();
    const sunny = team.lives('sun', { kept, capacity: 3 });
    const ids: string[] = [];
    for (let times = 0; times < 5; times++) ids.push((await sunny.current.propose(proposalOf())).proposalId);
    expect([...kept.texts.keys()].sort()).toEqual(
      ids
        .slice(2)
        .map((id) => `proposal ${id}`)
        .sort(),
    );
    sunny.restart();
    expect(ids.map((id) => sunny.current.getProposal(id)?.rejectionReason)).toEqual([
      undefined,
      undefined,
      'NO',
      'NO',
      'NO',
    ]);
  });

  it.each([
    ['no record', '"nothing"'],
    ['a record of another shape', '{"record":{"proposal":{"proposalId":"broken"}}}'],
  ])('and cannot be read is told of, and left; everything else goes on: %s', async (_, text) => {
    const team = durableTeam('mars');
    team.negotiator('mars', silent);
    const kept = new KeptTexts();
    const sunny = team.lives('sun', { kept });
    void sunny.current.propose(proposalOf());
    await team.settle();
    const proposalId = idOf(sunny);
    kept.texts.set('proposal broken', text);
    sunny.restart();
    expect(sunny.unreadable).toEqual([expect.stringMatching(/^broken: /)]);
    expect(sunny.current.listPending().map((one) => one.proposalId)).toEqual([proposalId]);
    expect(kept.texts.get('proposal broken')).toBe(text);
  });

  it('is told to nobody before it is kept: neither who accepts, nor who proposed, nor who listens', async () => {
    const team = durableTeam('mars');
    const [suns, marss] = [new KeptTexts(), new KeptTexts()];
    const sunny = team.lives('sun', { kept: suns });
    const mars = team.lives('mars', { kept: marss, ...silent });
    const told: string[] = [];
    const proposed = sunny.current.propose(proposalOf()).then(() => told.push('proposer'));
    await team.settle();
    const gate = Promise.withResolvers<void>();
    for (const kept of [suns, marss]) kept.whenKept = () => gate.promise;
    const before = team.events.length;
    const accepted = mars.current.accept(idOf(mars), 1).then(() => told.push('agent'));
    await team.settle();
    expect(told).toEqual([]);
    expect(team.events).toHaveLength(before);
    gate.resolve();
    await Promise.all([proposed, accepted]);
    expect(
      team.events
        .slice(before)
        .map(({ type }) => type)
        .sort(),
    ).toEqual(['accepted', 'assigned']);
  });

  it('says what has ended by a crash of the agent: that does not go on', async () => {
    const team = durableTeam('mars', 'venus');
    const mars = team.lives('mars', willing);
    const venus = team.lives('venus', silent);
    const sunny = team.lives('sun');
    const { proposalId } = await sunny.current.propose(proposalOf(), { to: 'mars' });
    void sunny.current.propose(proposalOf(), { to: 'venus' });
    await team.settle();
    for (const one of [mars, venus, sunny]) {
      one.current.end();
      one.restart();
    }
    await team.settle();
    expect(sunny.current.listPending()).toEqual([]);
    expect(venus.current.listPending()).toEqual([]);
    expect(mars.current.getProposal(proposalId)).toMatchObject({
      isHeld: false,
      rejectionReason: 'AGENT_ENDED',
    });
    expect(team.clock.pending).toBe(0);
  });

  it('goes on after a stop, whose waiting calls reject', async () => {
    const team = durableTeam('mars');
    const mars = team.lives('mars', silent);
    const sunny = team.lives('sun');
    const proposed = rejection(sunny.current.propose(proposalOf()));
    await team.settle();
    const proposalId = idOf(sunny);
    team.line.isCut = true;
    const accepted = rejection(mars.current.accept(proposalId, 1));
    const why = new OrreryError('SYSTEM_STOPPED', 'It is stopped');
    for (const one of [sunny, mars]) one.current.leave(why);
    expect([(await proposed).code, (await accepted).code]).toEqual(['SYSTEM_STOPPED', 'SYSTEM_STOPPED']);
    expect(team.clock.pending).toBe(0);
    team.line.isCut = false;
    for (const one of [sunny, mars]) one.restart();
    await team.clock.advanceAsync(999);
    expect(sunny.current.getProposal(proposalId)?.status).toBe('pending');
    await team.clock.advanceAsync(1);
    expect(sunny.current.getProposal(proposalId)?.status).not.toBe('pending');
  });

  it('is prolonged by no clock that was set back, beyond the whole', async () => {
    const team = durableTeam('mars');
    const kept = new KeptTexts();
    const sunny = team.lives('sun', { kept });
    void sunny.current.propose(proposalOf({ deadlineMs: 1_000 }));
    await team.settle();
    const proposalId = idOf(sunny);
    const clock = new FakeClock(team.clock.now() - 3_600_000);
    const after = team.lives('sun', { kept, seams: { ...team.seams, clock } });
    expect(after.current.getProposal(proposalId)?.status).toBe('pending');
    await clock.advanceAsync(1_000);
    expect(after.current.getProposal(proposalId)?.status).toBe('timed-out');
  });
});
