import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { LeaseClock } from '../../actors/negotiator/incoming-proposal.ts';
import { TaskNegotiator } from '../../actors/negotiator/task-negotiator.ts';
import { EnvelopeFactory } from '../../runtime/protocol/envelope-factory.ts';
import { TaskProposalPayload } from '../../runtime/protocol/task-proposal.ts';
import { FakeClock } from '../fixtures/fake-clock.ts';
import { cardOf, offers } from '../unit/routing/standalone-team.ts';
import { negotiatingTeam } from '../unit/actors/negotiator/negotiating-team.ts';
import { CAPABILITY_IDS } from './arbitraries/capability-descriptor.ts';
import { arbLineEvent } from './arbitraries/line-event.ts';
import { arbDecision, arbNewProposal } from './arbitraries/task-proposal.ts';
import { FaultyLine } from './faulty-line.ts';

const sun = cardOf('sun', { tier: 0 });
const IDS = ['mars', 'venus', 'earth', 'pluto'];

/** Agents with some of the capabilities each, and what each says to every proposal. */
const arbTeam = () =>
  fc.tuple(
    ...IDS.map((id) =>
      fc.record({
        card: fc
          .subarray(CAPABILITY_IDS, { minLength: 1 })
          .map((ids) => cardOf(id, { tier: 0, ...offers(...ids) })),
        decision: arbDecision(IDS),
      }),
    ),
  );

describe('Task negotiation (N-P23, N-P24, N-7.1, N-7.2, N-7.3, N-7.5)', () => {
  it('Feature: a2a-mcp-protocols, Property 23: Task negotiation message structure', async () => {
    await fc.assert(
      fc.asyncProperty(arbTeam(), arbNewProposal(), async (members, proposal) => {
        const team = negotiatingTeam([sun, ...members.map(({ card }) => card)]);
        for (const { card, decision } of members) team.negotiator(card.id, { decide: () => decision });
        const record = await team.negotiator('sun').propose(proposal);
        await team.settle();
        const capable = members.filter(({ card }) =>
          proposal.requiredCapabilities.every((id) => card.capabilities.some((one) => one.id === id)),
        );
        const { proposalId } = record;
        for (const { card } of members) {
          for (const { payload } of team.inbox(card.id, 'task-proposal')) {
            expect(TaskProposalPayload.parse(payload)).toEqual(proposal);
            expect(payload).toMatchObject({ proposalId });
          }
        }
        for (const { card } of capable) expect(team.inbox(card.id, 'task-proposal')).toHaveLength(1);
        for (const { sender, payload } of team.inbox('sun', 'task-accept')) {
          const { decision } = members.find(({ card }) => card.id === sender) ?? {};
          if (decision?.isTakenOn !== true) throw new Error(`${sender} has not accepted`);
          const { estimatedCompletionMs } = decision;
          expect(payload).toMatchObject({ proposalId, acceptedBy: sender, estimatedCompletionMs });
        }
        for (const { sender, payload } of team.inbox('sun', 'task-reject')) {
          const { decision } = members.find(({ card }) => card.id === sender) ?? {};
          if (decision?.isTakenOn !== false) throw new Error(`${sender} has not declined`);
          const { reason: rejectionReason, alternative } = decision;
          const named = alternative === undefined ? {} : { alternativeSuggestion: alternative };
          expect(payload).toEqual({ proposalId, rejectionReason, ...named });
        }
        const accepting = capable.filter(({ decision }) => decision.isTakenOn);
        expect(record.status).toBe(accepting.length > 0 ? 'accepted' : 'rejected');
        if (record.status === 'accepted')
          expect(accepting.map(({ card }) => card.id)).toContain(record.acceptedBy);
        else expect(record.rejectionReason).not.toBe(undefined);
      }),
      { numRuns: 150 },
    );
  });

  it('Feature: a2a-mcp-protocols, Property 24: Task acceptance creates correlation thread', async () => {
    const given = fc.option(fc.uuid(), { nil: undefined });
    const estimate = fc.integer({ min: 1, max: 60_000 });
    await fc.assert(
      fc.asyncProperty(
        arbNewProposal(),
        given,
        estimate,
        fc.nat(60_000),
        async (proposal, given, estimate, ms) => {
          const team = negotiatingTeam([
            sun,
            ...IDS.map((id) => cardOf(id, { tier: 0, ...offers(...CAPABILITY_IDS) })),
          ]);
          const negotiators = IDS.map((id) =>
            team.negotiator(id, { decide: () => ({ isTakenOn: true, estimatedCompletionMs: estimate }) }),
          );
          const proposer = team.negotiator('sun');
          const options = given === undefined ? {} : { correlationId: given };
          const { proposalId, correlationId, acceptedBy } = await proposer.propose(proposal, options);
          if (given !== undefined) expect(correlationId).toBe(given);
          await team.clock.advanceAsync(ms);
          const winner = negotiators[IDS.indexOf(acceptedBy ?? '')];
          // What the winner sends while it handles the assignment belongs to it too.
          const factory = new EnvelopeFactory({
            seams: team.seams,
            cardOf: (id) => team.registry.getById(id),
          });
          const [assignment] = team.inbox(acceptedBy ?? '', 'task-accept');
          const work = {
            sender: acceptedBy ?? '',
            recipient: 'sun',
            type: 'notification' as const,
            payload: 'half done',
          };
          if (assignment !== undefined)
            await team.router.send(factory.create({ ...work, cause: assignment }));
          await winner?.release(proposalId);
          await team.settle();
          const all = ['sun', ...IDS].flatMap((id) => team.inbox(id));
          expect(new Set(all.map((envelope) => envelope.correlationId))).toEqual(new Set([correlationId]));
          const thread = team.router.thread(correlationId);
          expect(thread.map(({ id }) => id).sort()).toEqual(all.map(({ id }) => id).sort());
          expect(thread[0]?.type).toBe('task-proposal');
          expect(
            thread.filter(({ type, sender }) => type === 'task-accept' && sender === acceptedBy).length,
          ).toBeGreaterThan(1);
          expect(thread.some(({ type }) => type === 'notification')).toBe(true);
        },
      ),
      { numRuns: 100 },
    );
  });
});

describe('Negotiators over a line that loses, repeats, delays and reorders (F-07)', () => {
  const members = IDS.slice(0, 3);

  it('never believe that two of them have the task, agree in the end, and leave no timer', async () => {
    const ends = new Map<string, number>();
    await fc.assert(
      fc.asyncProperty(
        fc.array(arbLineEvent(), { minLength: 5, maxLength: 60, size: 'max' }),
        fc.boolean(),
        async (happening, isLost) => {
          const clock = new FakeClock();
          const line = new FaultyLine(
            clock,
            new Map<string, readonly string[]>([
              ['sun', []],
              ...members.map((id) => [id, ['work']] as const),
            ]),
          );
          let ids = 0;
          const newId = () => `id-${++ids}`;
          const knew = new Set<string>();
          const negotiators = members.map(
            (agentId) =>
              new TaskNegotiator({
                port: line.portOf(agentId, newId),
                decide: () => undefined,
                onEvent: ({ type }) => type === 'assigned' && knew.add(agentId),
              }),
          );
          const proposer = new TaskNegotiator({ port: line.portOf('sun', newId) });
          let isDecided = false;
          const proposed = proposer.propose(
            {
              taskDescription: '',
              requiredCapabilities: ['work'],
              estimatedComplexity: 'simple',
              deadlineMs: 5_000,
            },
            { leaseMs: 3_000 },
          );
          void proposed.then(() => {
            isDecided = true;
          });
          await clock.advanceAsync(0);
          const [{ proposalId } = { proposalId: '' }] = proposer.listPending();
          const check = (): void => {
            const holders = negotiators.filter((one) => one.getProposal(proposalId)?.isHeld === true);
            expect(holders.length).toBeLessThanOrEqual(1);
            const {
              status,
              acceptedBy = '',
              isHeld,
            } = proposer.getProposal(proposalId) as NonNullable<ReturnType<TaskNegotiator['getProposal']>>;
            if (status === 'accepted') expect(knew).toContain(acceptedBy);
            if (status === 'accepted') for (const { agentId } of holders) expect(agentId).toBe(acceptedBy);
            if (status === 'timed-out') expect(holders).toEqual([]);
            expect(isHeld && status !== 'accepted').toBe(false);
          };
          for (const { what, which } of happening) {
            const one = negotiators[which % members.length] as TaskNegotiator;
            if (what === 'deliver') line.deliver(which, false);
            else if (what === 'repeat') line.deliver(which, true);
            else if (what === 'lose') line.lose(which);
            else if (what === 'wait') await clock.advanceAsync(which);
            else if (what === 'accept') one.accept(proposalId, 1_000).catch(() => undefined);
            else if (what === 'decline') one.reject(proposalId, 'NO').catch(() => undefined);
            else if (what === 'release') await one.release(proposalId);
            else if (what === 'withdraw') await proposer.withdraw(proposalId);
            else await proposer.release(proposalId);
            await clock.advanceAsync(0);
            check();
          }
          // From here on everything arrives, or nothing does.
          for (let turn = 0; turn < 60; turn++) {
            if (isLost) line.loseAll();
            while (line.underWay > 0) line.deliver(0, false);
            await clock.advanceAsync(2_000);
            check();
          }
          expect(isDecided).toBe(true);
          const records = [proposer, ...negotiators].map((each) => each.getProposal(proposalId));
          for (const record of records)
            expect(record === undefined || (record.status !== 'pending' && !record.isHeld)).toBe(true);
          expect(clock.pending).toBe(0);
          const { status } = await proposed;
          ends.set(status, (ends.get(status) ?? 0) + 1);
        },
      ),
      { numRuns: 2_000 },
    );
    // The script is no good if everything ends alike.
    expect([...ends.keys()].sort()).toEqual(['accepted', 'rejected', 'timed-out']);
  }, 120_000);
});

describe('A lease', () => {
  it('ends at the agent before it ends at the proposer, whatever the messages take', () => {
    const delay = fc.nat(5_000);
    const arbRounds = fc.array(fc.record({ toProposer: delay, toAgent: delay, pause: delay }), {
      minLength: 1,
      maxLength: 8,
    });
    fc.assert(
      fc.property(arbRounds, fc.integer({ min: 1, max: 8_000 }), (rounds, leaseMs) => {
        const clock = new FakeClock();
        const lease = new LeaseClock(clock);
        let agentUntilMs = Number.NEGATIVE_INFINITY;
        let proposerUntilMs = Number.NEGATIVE_INFINITY;
        for (const { toProposer, toAgent, pause } of rounds) {
          const round = lease.sending();
          clock.advance(toProposer);
          proposerUntilMs = Math.max(proposerUntilMs, clock.monotonicMs() + leaseMs);
          clock.advance(toAgent);
          const leftMs = lease.leaseLeftMs(round, leaseMs);
          if (leftMs !== undefined) {
            expect(leftMs).toBeGreaterThan(0);
            agentUntilMs = clock.monotonicMs() + leftMs;
          }
          expect(agentUntilMs).toBeLessThanOrEqual(proposerUntilMs);
          clock.advance(pause);
        }
      }),
      { numRuns: 300 },
    );
  });

  it('is none where it answers nothing that was sent, or comes after its end; an older one shortens nothing', () => {
    const clock = new FakeClock();
    const lease = new LeaseClock(clock);
    expect(lease.leaseLeftMs(0, 100)).toBe(undefined);
    const first = lease.sending();
    clock.advance(40);
    const second = lease.sending();
    expect(lease.leaseLeftMs(second, 100)).toBe(100);
    expect(lease.leaseLeftMs(first, 100)).toBe(100);
    clock.advance(100);
    expect(lease.leaseLeftMs(second, 100)).toBe(undefined);
  });
});
