import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import type { SubTaskPlan } from '../../actors/swarm/swarm-plan.ts';
import type { SwarmSession } from '../../actors/swarm/swarm-session.ts';
import { InMemorySwarmStore } from '../../actors/swarm/swarm-store.ts';
import type { Deed, ScriptedAgent } from '../unit/actors/swarm/scripted-reach.ts';
import { checkOutcome, checkPicture, checkStep } from '../unit/actors/swarm/swarm-checks.ts';
import { SwarmWorld } from '../unit/actors/swarm/swarm-world.ts';

const CAPABILITIES = ['a', 'b', 'c'];
const LEASE_MS = 100;
const GRACE_MS = 150;

const arbMs = (max: number) => fc.integer({ min: 1, max });

/** Short of the lease and beyond it, within the grace and beyond that. */
const arbDeed = (): fc.Arbitrary<Deed> =>
  fc.oneof(
    { weight: 12, arbitrary: fc.record({ does: fc.constant('answers' as const), afterMs: arbMs(90) }) },
    { weight: 3, arbitrary: fc.record({ does: fc.constant('answers' as const), afterMs: arbMs(400) }) },
    fc.record({ does: fc.constant('plods' as const), everyMs: arbMs(140), times: fc.nat(5) }),
    fc.record({
      does: fc.constant('checkpoints' as const),
      afterMs: arbMs(120),
      next: fc.constantFrom('answers' as const, 'fails' as const, 'sleeps' as const),
    }),
    fc.record({
      does: fc.constant('fails' as const),
      afterMs: arbMs(300),
      code: fc.constantFrom(
        'ACTOR_DIED' as const,
        'THREAD_DIED' as const,
        'REFUSED' as const,
        'NOT_HERE' as const,
      ),
    }),
    fc.constant({ does: 'sleeps' as const }),
  );

const arbAgents = (): fc.Arbitrary<ScriptedAgent[]> =>
  fc
    .array(
      fc.record({
        capabilities: fc.subarray(CAPABILITIES, { minLength: 2 }),
        answers: fc.constantFrom(
          'willing' as const,
          'willing' as const,
          'willing' as const,
          'declined' as const,
          'never' as const,
        ),
        answersAfterMs: arbMs(60),
        deeds: fc.array(arbDeed(), { minLength: 1, maxLength: 4 }),
      }),
      { minLength: 1, maxLength: 7, size: 'max' },
    )
    .map((agents) => agents.map((agent, at) => ({ id: `agent-${at}`, ...agent })));

const arbPlan = (): fc.Arbitrary<SubTaskPlan[]> =>
  fc
    .array(
      fc.record({
        requiredCapabilities: fc.subarray(CAPABILITIES, { minLength: 1, maxLength: 2 }),
        after: fc.nat(12),
      }),
      {
        minLength: 1,
        maxLength: 10,
        size: 'max',
      },
    )
    .map((parts) =>
      parts.map(({ requiredCapabilities, after }, at) => ({
        id: `part-${at}`,
        requiredCapabilities,
        dependsOn: after < at ? [`part-${after}`] : [],
      })),
    );

/** At this time this agent leaves and perhaps comes back, joins, or reports on a sub-task by itself, whether it has it or not. */
const arbMove = () =>
  fc.record({
    atMs: arbMs(900),
    agent: fc.nat(6),
    does: fc.oneof(
      fc.record({
        what: fc.constant('leave' as const),
        backAfterMs: fc.option(arbMs(60), { nil: undefined }),
      }),
      fc.record({ what: fc.constant('join' as const) }),
      fc.record({ what: fc.constantFrom('complete' as const, 'fail' as const), part: fc.nat(9) }),
    ),
  });

const arbLimits = () =>
  fc.record({
    maxPerAgent: fc.integer({ min: 1, max: 3 }),
    onFailure: fc.constantFrom('finish' as const, 'finish' as const, 'stop' as const),
    timeoutMs: fc.option(fc.integer({ min: 50, max: 2_000 }), { nil: undefined }),
  });

type Does = { what: 'leave' | 'join' } | { what: 'complete' | 'fail'; part: number };

/** Does it; a refusal has to be one of those that are promised. */
function move({ owned, reach }: SwarmWorld, swarmId: string, agentId: string, does: Does): void {
  const subTaskId = 'part' in does ? `part-${does.part}` : '';
  const subTask = owned.get(swarmId)?.subTasks.find(({ id }) => id === subTaskId);
  const epoch = subTask?.assignments.findLast((one) => one.agentId === agentId)?.epoch ?? 0;
  const reports = (kind: 'result' | 'error') => reach.made.push({ subTaskId, agentId, epoch, kind });
  try {
    if (does.what === 'leave') owned.answer(agentId, { kind: 'swarm.leave', swarmId });
    if (does.what === 'join') owned.answer(agentId, { kind: 'swarm.join', swarmId });
    if (does.what === 'complete') {
      owned.answer(agentId, {
        kind: 'swarm.complete',
        swarmId,
        subTaskId,
        result: { subTaskId, agentId, epoch },
      });
      reports('result');
    }
    if (does.what === 'fail') {
      owned.answer(agentId, { kind: 'swarm.fail', swarmId, subTaskId, error: 'no' });
      reports('error');
    }
  } catch (refusal) {
    const { code } = refusal as { code: string };
    expect(['REFUSED', 'TAKEN']).toContain(code);
    if (code === 'TAKEN') reports(does.what === 'complete' ? 'result' : 'error');
  }
}

describe('A swarm under any schedule (N-8.2, N-8.4, N-8.5, N-8.6, F-02, F-11)', () => {
  it('completes every sub-task once or escalates; what is late is recorded as late, and nothing is applied twice', async () => {
    const ends = { completed: 0, failed: 0, lates: 0, stalled: 0, reassigned: 0 };
    await fc.assert(
      fc.asyncProperty(
        arbAgents(),
        arbPlan(),
        fc.array(arbMove(), { maxLength: 10, size: 'max' }),
        arbLimits(),
        fc.boolean(),
        async (agents, plan, moves, { timeoutMs, ...limits }, isSlowStore) => {
          const kept = new InMemorySwarmStore();
          const store = isSlowStore
            ? {
                put: async (record: Parameters<typeof kept.put>[0]) => kept.put(record),
                list: () => kept.list(),
              }
            : kept;
          const world = new SwarmWorld(agents, { store });
          const { clock, reach, seen } = world;
          const { id: swarmId } = await world.create(CAPABILITIES, {
            plan,
            ...limits,
            recruitMs: 50,
            leaseMs: LEASE_MS,
            graceMs: GRACE_MS,
            ...(timeoutMs === undefined ? {} : { timeoutMs }),
          });
          for (const { atMs, agent, does } of moves) {
            const agentId = `agent-${agent}`;
            clock.setTimer(atMs, () => move(world, swarmId, agentId, does));
            if (does.what === 'leave' && does.backAfterMs !== undefined)
              clock.setTimer(atMs + does.backAfterMs, () => move(world, swarmId, agentId, { what: 'join' }));
          }
          const outcome = await world.outcome(swarmId);
          checkOutcome(outcome);
          await clock.advanceAsync(LEASE_MS + GRACE_MS + 1_000);

          const session = world.session(swarmId);
          for (const [at, picture] of seen.entries()) {
            checkPicture(picture);
            if (at > 0) checkStep(seen[at - 1] as SwarmSession, picture);
          }
          // Whatever an agent reported while somebody listened either counted or is recorded as late.
          for (const kind of ['result', 'error'] as const) {
            const made = reach.made.filter((one) => one.kind === kind);
            const counted = session.subTasks
              .flatMap(({ assignments }) => assignments)
              .filter(({ end, error }) =>
                kind === 'result' ? end === 'completed' : end === 'failed' || (end === 'lost' && error),
              );
            const lates = session.subTasks.flatMap((one) => one.lates).filter((one) => one.kind === kind);
            expect(made.length).toBe(counted.length + lates.length);
          }
          // Only the able are proposed to, and get anything.
          for (const { agentId, requiredCapabilities } of reach.proposals) {
            const { capabilities } = agents.find(({ id }) => id === agentId) as ScriptedAgent;
            expect(capabilities).toEqual(expect.arrayContaining([...requiredCapabilities]));
          }
          for (const { agentId, requiredCapabilities } of reach.orders) {
            const { capabilities } = agents.find(({ id }) => id === agentId) as ScriptedAgent;
            expect(capabilities).toEqual(expect.arrayContaining([...requiredCapabilities]));
          }
          expect(
            reach.notices.filter(
              ({ notice }) => notice.kind === 'swarm.ended' && notice.outcome !== undefined,
            ),
          ).toHaveLength(1);
          // Nothing is left behind: no timer of the coordinator, no load.
          expect(kept.list()[0]?.session).toEqual(session);

          ends[outcome.status] += 1;
          ends.lates += session.subTasks.flatMap(({ lates }) => lates).length;
          const tried = session.subTasks.flatMap(({ assignments }) => assignments);
          ends.stalled += tried.filter(({ end }) => end === 'stalled').length;
          ends.reassigned += session.subTasks.filter(
            ({ assignments, status }) => status === 'completed' && assignments.length > 1,
          ).length;
        },
      ),
      { numRuns: 600 },
    );
    // The schedules have brought about what they are for.

    for (const [what, times] of Object.entries(ends)) expect([what, times > 20]).toEqual([what, true]);
  });
});
