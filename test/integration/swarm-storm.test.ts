import { PLANETS } from 'orrery/planets';
import { startSystem } from 'orrery';
import type { SwarmSession } from 'orrery/swarm';
import { expect, it } from 'vitest';
import { deedOf, special, work } from '../fixtures/agents/crew.ts';
import { agent, until } from '../fixtures/until.ts';

const SEED = 20_261_122;
const SUB_TASKS = 200;
const LEASE_MS = 400;
/** Completed sub-tasks after which a thread is ended from outside. */
const KILL_AT = 60;

/** Agents that know nothing of each other, over three threads. */
const IDS = Object.keys(PLANETS);

it(`does ${SUB_TASKS} sub-tasks once each with ${IDS.length} agents that throw, stall, freeze, are late, leave and come back (N-8.5, N-8.6, F-02, F-11)`, async () => {
  expect(IDS).toHaveLength(21);
  const thirds = [0, 1, 2].map((third) => IDS.filter((_, at) => at % 3 === third));
  await using system = await startSystem({
    agents: thirds.map((instances) => agent('crew', { instances })),
    workers: 3,
    // Agents are to die often, and to come back.
    supervision: { intensity: { maxRestarts: 1_000, withinMs: 60_000 }, backOff: { firstMs: 1, maxMs: 20 } },
  });
  const plan = Array.from({ length: SUB_TASKS }, (_, at) => ({
    id: `part-${at}`,
    requiredCapabilities: at % 4 === 0 ? [special.id, work.id] : [work.id],
    input: { seed: SEED, leaseMs: LEASE_MS },
    ...(at >= 150 ? { dependsOn: [`part-${at - 150}`, `part-${at - 100}`] } : {}),
  }));

  const versions: number[] = [];
  const completed: number[] = [];
  const killed = Promise.withResolvers<void>();
  const stop = system.swarms.onChange(({ stateVersion, subTasks }) => {
    if (versions.at(-1) !== stateVersion) versions.push(stateVersion);
    completed.push(subTasks.filter(({ status }) => status === 'completed').length - stateVersion);
    if (stateVersion === KILL_AT) killed.resolve();
  });
  const { id } = await system.swarms.createSwarm('Weather the storm', [work.id, special.id], {
    plan,
    recruitMs: 20_000,
    leaseMs: LEASE_MS,
    // Whoever is late is heard, however busy the machine is; an agent that never answers gets nothing more.
    graceMs: 60_000,
    maxAssignments: 1_000,
  });
  const ended = system.swarms.outcome(id);
  await Promise.race([killed.promise, ended]);
  await system.terminate('worker-1');
  const outcome = await ended;

  expect(outcome.error).toBeUndefined();
  expect(outcome).toMatchObject({ status: 'completed', isEscalated: false });
  // Each was applied once, in some order.
  expect(new Set(completed)).toEqual(new Set([0]));
  expect(versions).toEqual(Array.from({ length: SUB_TASKS + 1 }, (_, at) => at));
  for (const { id: subTask, agentId, assignments, result } of outcome.subTasks) {
    const applied = assignments.filter(({ end }) => end === 'completed');
    expect(applied).toHaveLength(1);
    expect(applied[0]).toBe(assignments.at(-1));
    expect(result).toMatchObject({ agent: agentId, subTask, epoch: assignments.length });
    expect(assignments.map(({ epoch }) => epoch)).toEqual(assignments.map((_, at) => at + 1));
  }

  // Everything that the agents do was met with.
  const tried = outcome.subTasks.flatMap(({ assignments }) => assignments);
  const times = (end: string): number => tried.filter((one) => one.end === end).length;
  expect(tried.length).toBeGreaterThan(SUB_TASKS);
  for (const end of ['failed', 'stalled', 'left']) expect([end, times(end) > 0]).toEqual([end, true]);

  // Who is sure to answer late is recorded as late: it left with the work in hand, or overslept its lease.
  const owing = outcome.subTasks.flatMap(({ id: subTask, assignments }) =>
    assignments
      .filter(({ agentId, end }) => isOwed(deedOf(SEED, subTask, agentId), end))
      .map(({ agentId, epoch }) => `${subTask} ${agentId} ${epoch}`),
  );
  expect(owing.length).toBeGreaterThan(0);
  const latesOf = ({ subTasks }: SwarmSession): string[] =>
    subTasks.flatMap(({ id: subTask, lates }) =>
      lates.map(({ agentId, epoch }) => `${subTask} ${agentId} ${epoch}`),
    );
  const now = (): SwarmSession => system.swarms.getSwarm(id) as SwarmSession;
  await until('every late answer is recorded', () => owing.every((one) => latesOf(now()).includes(one)));
  stop();
  const lates = latesOf(now());
  expect(new Set(lates).size).toBe(lates.length);
  // Late results changed nothing.
  expect(now().result).toEqual(outcome.results);
  expect(now().sharedState).toEqual(outcome.results);
  const counted = new Set(
    outcome.subTasks.map(
      ({ id: subTask, agentId, assignments }) => `${subTask} ${agentId} ${assignments.length}`,
    ),
  );
  for (const one of lates) expect(counted.has(one)).toBe(false);
});

/** Whether an agent that does this, and whose assignment ended so, is going to answer it still. */
const isOwed = (deed: string, end: string | undefined): boolean =>
  (end === 'left' && deed.startsWith('leaves')) || (end === 'stalled' && deed === 'answers late');
