import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { AgentCard } from '../../runtime/protocol/agent-card.ts';
import { times } from '../fixtures/effort.ts';
import { offers } from '../unit/routing/standalone-team.ts';
import { type Assigned, settle, swarmTeam } from '../unit/actors/swarm/swarm-team.ts';
import { arbTeam } from './arbitraries/agent-card.ts';
import { CAPABILITY_IDS } from './arbitraries/capability-descriptor.ts';

/** A tagged property has 100 at least. */
const RUNS = times(100, 200);

/** The seed's table, written out again: who may write to whom. */
const SEED_REACH: Record<number, readonly number[]> = {
  0: [0, 1, 2, 3],
  1: [0, 1],
  2: [0, 1, 2],
  3: [0, 1, 2, 3],
};

const arbCapabilities = fc.subarray(CAPABILITY_IDS).map((ids) => offers(...ids).capabilities);
const has = (card: AgentCard, id: string): boolean => card.capabilities.some((one) => one.id === id);

const arbWanted = fc.subarray(CAPABILITY_IDS, { minLength: 1 });

/** Some sub-tasks that take one or several capabilities each. */
const arbPlan = fc.array(
  fc.record({ requiredCapabilities: fc.subarray(CAPABILITY_IDS, { minLength: 1, maxLength: 3 }) }),
  { minLength: 1, maxLength: 6 },
);

describe('Swarm coordinator (N-P25, N-P26, N-8.1, N-8.2, N-8.3, N-8.4, N-8.6, C-29)', () => {
  it('Feature: a2a-mcp-protocols, Property 25: Swarm broadcast to capable agents', async () => {
    const arbCards = arbTeam(
      {
        origin: fc.constant('local'),
        capabilities: arbCapabilities,
        sandboxId: fc.constantFrom(undefined, undefined, 'box'),
      },
      { minLength: 1, maxLength: 8 },
    );
    let proposals = 0;
    await fc.assert(
      fc.asyncProperty(
        arbCards,
        fc.option(fc.nat(), { nil: undefined }),
        fc.oneof(
          arbWanted.map((requiredCapabilities) => ({ requiredCapabilities, plan: undefined })),
          arbPlan.map((plan) => ({
            requiredCapabilities: plan.flatMap((part) => part.requiredCapabilities),
            plan,
          })),
        ),
        async (cards, from, { requiredCapabilities, plan }) => {
          const owner = from === undefined ? undefined : (cards[from % cards.length] as AgentCard);
          const {
            owner: swarms,
            received,
            observability,
          } = swarmTeam(cards, owner === undefined ? {} : { owner: owner.id });
          const session = await swarms.createSwarm('T', requiredCapabilities, {
            ...(plan === undefined ? {} : { plan }),
            escalationJustification: 'it is needed',
          });
          await settle();

          const sent = received('task-proposal');
          proposals += sent.length;
          const subTasks = session.subTasks.map((one) => one.requiredCapabilities);
          for (const { recipient, payload, correlationId, sender } of sent) {
            const card = cards.find(({ id }) => id === recipient) as AgentCard;
            const wanted = (payload as { requiredCapabilities: string[] }).requiredCapabilities;
            // The card has all that it is proposed for, and that is all of some sub-task.
            expect(wanted.length).toBeGreaterThan(0);
            for (const id of wanted) expect(has(card, id)).toBe(true);
            expect(subTasks.some((required) => required.every((id) => wanted.includes(id)))).toBe(true);
            expect(correlationId).toBe(session.correlationId);
            expect(sender).toBe(session.ownerId);
          }
          const mayReach = (card: AgentCard): boolean =>
            owner === undefined ||
            (SEED_REACH[owner.tier]?.includes(card.tier) === true && owner.sandboxId === card.sandboxId);
          const expected = cards.filter(
            (card) =>
              card.id !== owner?.id &&
              mayReach(card) &&
              subTasks.some((required) => required.every((id) => has(card, id))),
          );
          expect(sent.map(({ recipient }) => recipient).toSorted()).toEqual(
            expected.map(({ id }) => id).toSorted(),
          );
          // Whom the rules keep apart is not even tried.
          expect(observability.getRecentEvents(100).filter(({ success }) => success === false)).toEqual([]);
        },
      ),
      { numRuns: RUNS },
    );
    expect(proposals).toBeGreaterThan(RUNS / 3);
  });

  it('Feature: a2a-mcp-protocols, Property 26: Swarm sub-task assignment and state consistency', async () => {
    const arbCards = arbTeam(
      {
        origin: fc.constant('local'),
        capabilities: fc
          .constantFrom(CAPABILITY_IDS, CAPABILITY_IDS.slice(1), CAPABILITY_IDS.slice(0, 3))
          .map((ids) => offers(...ids).capabilities),
        sandboxId: fc.constant(undefined),
      },
      { minLength: 1, maxLength: 8 },
    );
    let swarmsDone = 0;
    await fc.assert(
      fc.asyncProperty(
        arbCards,
        arbPlan,
        fc.integer({ min: 1, max: 3 }),
        fc.infiniteStream(
          fc.record({ which: fc.nat(), byCall: fc.boolean(), value: fc.jsonValue({ maxDepth: 1 }) }),
        ),
        async (cards, parts, maxPerAgent, moves) => {
          const arrived: Assigned[] = [];
          const { owner: swarms, member } = swarmTeam(cards, { onAssigned: (one) => arrived.push(one) });
          const plan = parts.map((part, at) => ({ id: `part-${at}`, ...part }));
          const { id: swarmId } = await swarms.createSwarm('T', [], { plan, maxPerAgent });
          await settle();
          const now = () => swarms.getSwarm(swarmId) as NonNullable<ReturnType<typeof swarms.getSwarm>>;
          const isCovered = plan.every(({ requiredCapabilities }) =>
            cards.some((card) => requiredCapabilities.every((id) => has(card, id))),
          );
          expect(now().status).toBe(isCovered ? 'active' : 'failed');
          if (!isCovered) return;

          const results = new Map<string, unknown>();
          while (arrived.length > 0) {
            const { participants, subTasks } = now();
            expect(participants.length).toBeGreaterThan(0);
            for (const agentId of participants)
              expect(subTasks.some((one) => one.assignedAgent === agentId)).toBe(true);
            for (const { assignedAgent, requiredCapabilities, status } of subTasks) {
              expect(assignedAgent === '').toBe(status === 'pending');
              if (assignedAgent === '') continue;
              const card = cards.find(({ id }) => id === assignedAgent) as AgentCard;
              for (const id of requiredCapabilities) expect(has(card, id)).toBe(true);
              const running = subTasks.filter(
                (one) => one.status === 'running' && one.assignedAgent === assignedAgent,
              );
              expect(running.length).toBeLessThanOrEqual(maxPerAgent);
            }
            const { which, byCall, value } = moves.next().value;
            const [one] = arrived.splice(which % arrived.length, 1) as [Assigned];
            const result = JSON.parse(JSON.stringify(value)) as unknown;
            results.set(one.subTaskId, result);
            if (byCall) await member(one.agentId).swarms.completeSubTask(swarmId, one.subTaskId, result);
            else await one.answer(result);
            await settle();
            const { sharedState, stateVersion } = now();
            expect(sharedState).toEqual(Object.fromEntries(results));
            expect(stateVersion).toBe(results.size);
            // Whoever takes part can read it, from the coordinator, by envelopes.
            if (now().status !== 'active') continue;
            for (const agentId of now().participants)
              expect((await member(agentId).swarms.readSwarm(swarmId)).sharedState).toEqual(sharedState);
          }
          const expected = Object.fromEntries(plan.map(({ id }) => [id, results.get(id)]));
          expect(now()).toMatchObject({ status: 'completed', result: expected });
          expect(await swarms.outcome(swarmId)).toMatchObject({ status: 'completed', results: expected });
          swarmsDone += 1;
        },
      ),
      { numRuns: RUNS },
    );
    expect(swarmsDone).toBeGreaterThan(RUNS / 3);
  });
});
