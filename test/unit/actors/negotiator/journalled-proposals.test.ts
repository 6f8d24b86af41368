import { describe, expect, it } from 'vitest';
import { OrreryError } from '../../../../runtime/protocol/errors.ts';
import { FakeClock } from '../../../fixtures/fake-clock.ts';
import { rejection } from '../../../fixtures/until.ts';
import { durableTeam, idOf } from './durable-team.ts';
import { proposalOf, silent, unwilling, willing } from './negotiating-team.ts';
import { KeptTexts } from './negotiator-lives.ts';

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
    const port = { ...team.portOf('sun'), seams: { ...team.seams, clock } };
    const after = team.lives('sun', { kept, port });
    expect(after.current.getProposal(proposalId)?.status).toBe('pending');
    await clock.advanceAsync(1_000);
    expect(after.current.getProposal(proposalId)?.status).toBe('timed-out');
  });
});

/** A proposal of sun to mars, as journals of former versions have it. */
const former = (proposalId: string, atMs: number) => ({
  proposal: {
    proposalId,
    ...proposalOf({ deadlineMs: 600_000 }),
    proposerAgentId: 'sun',
    status: 'accepted',
    acceptedBy: 'mars',
    correlationId: 'talk',
    estimatedCompletionMs: 100,
    epoch: 1,
    isHeld: true,
    proposedAtMs: atMs,
  },
  isOver: false,
});

describe('What a journal of a former version has of a proposal', () => {
  it('goes on at its agent, which gives it back when it has taken far too long', async () => {
    const team = durableTeam('mars');
    const nowMs = team.clock.now();
    const kept = new KeptTexts();
    const timer = (id: string, type: string, delayMs: number) => ({
      id,
      event: { type },
      atMs: nowMs + delayMs,
      delayMs,
    });
    const standing = {
      side: 'got',
      run: {
        value: 'assigned',
        context: { deadlineMs: 600_000, holdMs: 610_000, repeatMs: 1_000, epoch: 1, leaseLeftMs: 120_000 },
        timers: [timer('lease', 'lease.ended', 120_000), timer('renewal', 'renewal.due', 40_000)],
      },
      envelopeId: 'asked',
      isPlain: false,
      estimateMs: 100,
      reason: 'TIMED_OUT',
      round: 7,
      overdueAtMs: nowMs + 60_200,
    };
    const record = { ...former('one', nowMs), asked: [], answers: [] };
    kept.texts.set('proposal one', JSON.stringify({ record, standing }));
    const mars = team.lives('mars', { kept });
    expect(mars.unreadable).toEqual([]);
    expect(mars.current.getRecord('one')).toEqual(record);
    await team.clock.advanceAsync(60_199);
    expect(mars.current.getProposal('one')?.isHeld).toBe(true);
    await team.clock.advanceAsync(1);
    expect(mars.current.getProposal('one')).toMatchObject({ isHeld: false, rejectionReason: 'OVERDUE' });
    expect(team.inbox('sun', 'task-reject')).toMatchObject([{ payload: { rejectionReason: 'OVERDUE' } }]);
  });

  it.each([
    ['lapses where its agent speaks the protocol', { round: 0 }, 10_001],
    ['stays with an agent that does not speak it', {}, undefined],
  ])('%s', async (_, spoken, untilMs) => {
    const team = durableTeam('mars');
    const nowMs = team.clock.now();
    const kept = new KeptTexts();
    const context = { willing: [], out: [], isLate: false, alternativesLeft: 0, deadlineMs: 600_000 };
    const lease = { id: 'lease', event: { type: 'lease.ended' }, atMs: nowMs + 10_000, delayMs: 10_000 };
    const standing = {
      side: 'made',
      run: {
        value: 'assigned',
        context: { ...context, asked: [], holder: 'mars', epoch: 1, leaseMs: 10_000 },
        timers: untilMs === undefined ? [] : [lease],
      },
      acceptances: [{ agentId: 'mars', message: { estimatedCompletionMs: 100, ...spoken } }],
    };
    const answer = { agentId: 'mars', type: 'task-accept', effect: 'counted', atMs: nowMs };
    const record = { ...former('one', nowMs), asked: ['mars'], answers: [answer] };
    kept.texts.set('proposal one', JSON.stringify({ record, standing }));
    const sunny = team.lives('sun', { kept });
    expect(sunny.unreadable).toEqual([]);
    expect(sunny.current.getRecord('one')).toEqual(record);
    await team.clock.advanceAsync((untilMs ?? 1_000_000) - 1);
    expect(sunny.current.getProposal('one')?.isHeld).toBe(true);
    await team.clock.advanceAsync(1);
    expect(sunny.current.getProposal('one')?.isHeld).toBe(untilMs === undefined);
    expect(team.clock.pending).toBe(0);
  });
});
